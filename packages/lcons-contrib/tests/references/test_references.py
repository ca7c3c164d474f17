"""Labelled references as CSL-JSON and BibTeX: what is read and guessed, that nothing is lost."""

import json
import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lcons_contrib.references import parse_date, parse_names, to_bibtex, to_csl, write_bibtex, write_csl
from lcons_tasks.apps.references import ParsedReference, Span
from lcons_tasks.data._references import CORA_FIELDS

# What references are made of, sound and broken, between white space.
FRAGMENTS = r"""
A. AB Cau Family O'Neill de Jr. III et al. and & In (Eds.) editors Hrsg. University May Sept. 12 3rd 7. 1992
1992a 1992-93 2015-07-02 vol. Vol v. no. Nos. n° Issue 29(12): pp. pages 362-367 # of [12] Technical Report
TR-92-11 thesis Proceedings http://a.org/b www.c.org. URL: doi:10.1000/182 https://doi.org/10.1000/x(1) , ; :
. - / ( ) [ ] < > " `` '' ' ... { } \ % $ _ ~ ^ é straße العربية 中文 🙂
"""
ODD = ("B. C.", "van der", "edited by", "2 July 2015", "\u2013", "\u201c", "\u2019", "\x00", "\n", "\ud800")
FIELDS = st.sampled_from((*CORA_FIELDS, None, "url", "citation-number", "")) | st.text(max_size=12)
PLAUSIBLE = st.lists(st.sampled_from((*FRAGMENTS.split(), *ODD)), max_size=12).map(" ".join)
TEXTS = PLAUSIBLE | st.text(max_size=80)
PIECES = st.lists(st.tuples(FIELDS, TEXTS), max_size=8)

MONTHS = "january february march april may june july august september october november december"
LABELS = """
in and und et others edited by editor editors ed eds hrsg volume volumes vol vols v number numbers no nos nr
nrs n issue issues pages page pp p of url http https doi dx org st nd rd th sept
"""
# Labels, words between names and names of months are read, not kept.
DROPPED = {*LABELS.split(), *MONTHS.split(), *(month[:3] for month in MONTHS.split())}
VARIABLES = """
author editor issued title container-title collection-title collection-number volume issue page publisher
publisher-place genre number note URL DOI citation-number year-suffix
"""


def runs(text):
    """How often each run of letters or of digits occurs; leading zeros do not count."""
    return Counter(re.sub("^0+(?=[0-9])", "", run) for run in re.findall(r"[^\W\d_]+|\d+", text))


def leaves(value):
    """The texts and numbers in a value of JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list) else [str(value)]


def texts_of(item):
    return " ".join(leaves({name: value for name, value in item.items() if name not in ("type", "id")}))


def read_bibtex(text):
    """(type, key, fields) of an entry, read as BibTeX does: by counting braces."""
    kind, key, rest = re.fullmatch(r"@([a-z]+)\{([a-z0-9-]+),\n(.*)\}", text, re.DOTALL).groups()
    fields = {}
    while rest:
        name, rest = rest.removeprefix("  ").split(" = ", 1)
        depths = [0]
        for character in rest:
            depths.append(depths[-1] + {"{": 1, "}": -1}.get(character, 0))
            if not depths[-1] and character in "},":
                break
        end = len(depths) - 1 if rest[0] == "{" else rest.index(",")
        assert name not in fields
        fields[name] = rest[1 : end - 1] if rest[0] == "{" else rest[:end]
        assert rest[end : end + 2] == ",\n"
        rest = rest[end + 2 :]
    return kind, key, fields


COMMANDS = {
    r"\textbackslash{}": "\\",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
} | {f"\\{character}": character for character in "%&#_$"}
COMMAND = re.compile("|".join(map(re.escape, COMMANDS)) + "|[{}]")


def printed(value):
    """The value as LaTeX prints it: commands stand for characters, braces for nothing."""
    return COMMAND.sub(lambda command: COMMANDS.get(command.group(), ""), value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. B. Cau, C. Kuiper, and D. Roe.", "Cau|A. B. Kuiper|C. Roe|D."),
        ("Cau, A. B., & Kuiper, C.", "Cau|A. B. Kuiper|C."),
        ("Cau A, Kuiper BC", "Cau|A Kuiper|BC"),
        ("Cau A.B., Kuiper C. and Roe D.,", "Cau|A.B. Kuiper|C. Roe|D."),
        ("Ada Byron and Mary Ann Evans", "Byron|Ada Evans|Mary Ann"),
        ("Byron, Ada, Evans, Mary A., and Roe, Jo", "Byron|Ada Evans|Mary A. Roe|Jo"),
        ("Byron, Evans, and Roe", "Byron| Evans| Roe|"),
        ("J.-P. Cau-Roe, K. O'Neill", "Cau-Roe|J.-P. O'Neill|K."),
        ("In C. Jones and T. Denvir, editors,", "Jones|C. Denvir|T."),
        ("Edited by C. Jones & T. Denvir.", "Jones|C. Denvir|T."),
        (".,;", ""),
    ],
)
def test_each_order_gives_family_and_given_names(text, expected):
    assert " ".join(f"{name.family}|{name.given}" for name in parse_names(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("W.-P. de Roever", ("de", "Roever", "W.-P.", "", "")),
        ("van der Berg L", ("van der", "Berg", "L", "", "")),
        ("Smith, J., Jr.", ("", "Smith", "J.", "Jr.", "")),
        ("John Smith III", ("", "Smith", "John", "III", "")),
        ("Department of Health and Care", ("", "", "", "", "Department of Health and Care")),
    ],
)
def test_particles_suffixes_and_organisations(text, expected):
    [name] = parse_names(text)
    assert (name.particle, name.family, name.given, name.suffix, name.literal) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(1992).", ((1992,),)),
        ("Sept. 1995.", ((1995, 9),)),
        ("18th October 1977", ((1977, 10, 18),)),
        ("2010-06-07", ((2010, 6, 7),)),
        ("July / August 1992", ((1992, 7), (1992, 8))),
        ("01/02/1993", ()),
        ("April 8-11, 1991", ((1991, 4, 8), (1991, 4, 11))),
        ("30 June \u2013 2 July 1992", ((1992, 6, 30), (1992, 7, 2))),
    ],
)
def test_days_months_years_and_ranges(text, parts):
    assert parse_date(text).parts == parts


ARTICLE = (
    "author: A. Cau, R. Kuiper, and W.-P. de Roever.; date: (May 1992a).; journal: J. ACM,"
    '; title: "Rock & roll {100%},"; volume: vol. 29, no. 12,; pages: pp. 362-367; note: doi:10.1000/182'
)
IN_BIBTEX = {
    "author": "Cau, A. and Kuiper, R. and de Roever, W.-P.",
    "title": r"Rock \& roll \textbraceleft{}100\%\textbraceright{}",
    "month": "may",
} | {"year": "1992a", "volume": "29", "number": "12", "pages": "362--367", "doi": "10.1000/182"}


@pytest.mark.parametrize(
    ("pieces", "kind", "entry", "fields"),
    [
        (ARTICLE, "article-journal", "article", IN_BIBTEX),
        ("booktitle: In Proc. A; title: T", "paper-conference", "inproceedings", {"booktitle": "Proc. A"}),
        ("title: T; booktitle: A", "chapter", "incollection", {"booktitle": "A"}),
        ("title: T; publisher: A", "book", "book", {"publisher": "A"}),
        ("tech: PhD thesis; institution: A", "thesis", "phdthesis", {"school": "A", "type": "PhD thesis"}),
        ("tech: Tech. Rep. No. 5; institution: A", "report", "techreport", {"number": "5"}),
        ("location: http://a.org/~b_c?d=1%20e", "webpage", "misc", {"url": "http://a.org/~b_c?d=1%20e"}),
        ("date: July-August 1992", "document", "misc", {"year": "1992", "date": "1992-07/1992-08"}),
        ("date: to appear", "document", "misc", {"year": "to appear"}),
        ("author: A. Cau et al.", "document", "misc", {"author": "Cau, A. and others"}),
        ("author: Group of Arts and Crafts", "document", "misc", {"author": "{Group of Arts and Crafts}"}),
        ("title: T; volume: 7; booktitle: of Notes", "document", "misc", {"series": "Notes", "volume": "7"}),
        ("title: One.; date: 1990; title: Two.", "document", "misc", {"title": "One", "note": "Two"}),
    ],
)
def test_the_type_is_guessed_from_the_fields(pieces, kind, entry, fields):
    item = to_csl([tuple(piece.split(": ", 1)) for piece in pieces.split("; ")])
    found, _, values = read_bibtex(to_bibtex(item))
    assert (item["type"], found) == (kind, entry)
    assert fields.items() <= values.items()


@given(PIECES)
@example([("author", "1" * 10_000)])
@example([("date", "1992-93"), ("note", "a<http://b>c")])
def test_every_word_is_in_an_item_of_the_schema_or_is_a_label(pieces):
    item = to_csl(pieces)
    assert json.loads(json.dumps(item)) == item
    assert item.keys() - {"type", "id"} <= set(VARIABLES.split())
    assert all(leaves(item))
    lost = runs(" \0 ".join(text for _, text in pieces)) - runs(texts_of(item))
    assert {run for run in lost if run.lower() not in DROPPED} == set()


@given(PIECES)
@example([("title", "{{{}\\"), ("author", "{ and }"), ("note", "http://a{b}\\")])
def test_any_reference_gives_an_entry_that_reads_back(pieces):
    item = to_csl(pieces)
    text = to_bibtex(item)
    text.encode()
    _, _, fields = read_bibtex(text)
    links = [fields.pop(name) for name in ("url", "doi") if name in fields]
    assert not set("{}\\ ") & set("".join(links))
    shown = " \0 ".join(
        [*(re.sub("%(?:7B|7D|5C)", " ", link) for link in links), *map(printed, fields.values())]
    )
    months = {str(number) for number in range(1, 13)} if "month" in fields else set()
    assert (runs(texts_of(item)) - runs(shown)).keys() <= {"et", "al"} | months


def test_the_writers_number_items_and_keep_keys_apart():
    text = "Cau 1992"
    parsed = ParsedReference(text, (Span("author", 0, 3), Span("date", 4, 8)))
    references = [(1, parsed), (2, ParsedReference("", ())), (3, parsed)]
    assert [item["id"] for item in json.loads("".join(write_csl(references)))] == ["ref-1", "ref-3"]
    entries = "".join(write_bibtex(references)).split("\n\n")
    assert [read_bibtex(entry.rstrip("\n"))[1] for entry in entries] == ["cau1992", "cau1992-2"]
    assert ("".join(write_csl([])), "".join(write_bibtex([]))) == ("[]\n", "")
