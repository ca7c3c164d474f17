"""Pieces of a reference: their values without punctuation and labels around them, and pieces as tagged text.

A reader of a piece returns variables of CSL by name. Text of no known form is kept as the value: only
separators, quotes and brackets around it are dropped, and the labels `vol.`, `no.`, `pp.`, `doi:` and `URL:`.
No pattern passes over a text more than a few times, so the time is linear.

`to_tagged` writes a labelled reference on one line: `<author> ... </author> <title> ... </title>`.
`lcons_tasks.data.read_references` reads the same pieces from that line, with single spaces and without empty
pieces; adjacent pieces outside any field are joined. The format has no escapes, so a text that contains a tag
gets a space: `<b>` becomes `< b>`, which is text. Characters of a field's name that cannot be in a tag become
hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lcons_tasks.data._references import squeezed
from lcons_tasks.data.text._tokens import encodable

Piece = tuple[str | None, str]
Variables = dict[str, str]

# For use within the brackets of a pattern: the hyphens, dashes and minus of Unicode.
DASHES = r"\-\u2010-\u2015\u2212"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SEPARATORS = " ,;:"
_ALONE = ".,;:()[]<>"
_BRACKETS = {"(": ")", "[": "]"}
_QUOTES = (
    ("``", "''"),
    ('"', '"'),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("\u2018", "\u2019"),
    ("`", "'"),
    ("'", "'"),
)
_LONE_QUOTES = ('"', "“", "”", "„", "``")
# A text with quotes around it begins or ends with one of these.
_OUTER_QUOTES = frozenset(quote[0] for quote in (*(opening for opening, _ in _QUOTES), *_LONE_QUOTES))
_OUTER_BRACKETS = frozenset((*_BRACKETS, *_BRACKETS.values()))
_ABBREVIATIONS = frozenset(("al", "co", "corp", "dept", "inc", "jr", "ltd", "soc", "sr", "univ"))
# The largest number of brackets and quotes to unwrap; `("A title.")` needs two.
_LAYERS = 3

_VOLUME = r"(?:(?:volumes?|vols?|v(?=\.))(?:\. ?| |(?=[0-9])))"
_ISSUE = r"(?:(?:numbers?|nos?|nrs?|issues?|iss|n(?=\.))(?:\. ?| |(?=[0-9]))|n° ?|№ ?|# ?)"
_NUMBERINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_VOLUME}?(?P<volume>[^\s(),:;#]+) ?,? ?\({_ISSUE}?(?P<issue>[^()]+)\)(?: ?: ?(?P<page>[0-9].*))?",
        rf"{_VOLUME}?(?P<volume>[^\s(),:;#]+)(?: ?[,;:] ?| ){_ISSUE}(?P<issue>[^\s(),:;#].*)",
        r"(?P<volume>[0-9]+) ?, ?(?P<issue>[0-9]+)",
        rf"{_ISSUE}(?P<issue>.+)",
        rf"{_VOLUME}(?P<volume>.+)",
    )
)
_PAGES = re.compile(r"(?:(?:pages?|pp|pgs?|p)(?:\. ?| )|(?:pages?|pp)(?=[0-9]))(?=\S)", re.IGNORECASE)
_PAGE_COUNT = re.compile(r"([0-9]+) ?(?:pages|pp?)\.?", re.IGNORECASE)
_DASH = re.compile(rf"(?<=\w) ?[{DASHES}]{{1,3}} ?(?=\w)")

_URL = re.compile(
    r"(?:\bURL ?[:=]? ?)?<?(?P<url>(?:\b(?:https?|ftp)://|(?<![\w@.])www\.)[^\s<>\"]+)>?", re.IGNORECASE
)
_DOI = re.compile(
    r"(?:\bhttps?://(?:dx\.|www\.)?doi\.org/|(?<![\w/])doi ?[:>]? ?|(?<![\w./=]))"
    r"(?P<doi>10\.[0-9]{4,9}/[^\s<>\"]+)",
    re.IGNORECASE,
)
_AFTER_LINKS = ".,;:'\u2019\u201d"
_BRACKETED_NUMBER = re.compile(r"\[([0-9]{1,4})\](?:[.:,]?(?: |$))?")
_BARE_NUMBER = re.compile(r"\(?([0-9]{1,3})[.)](?: |$)")

_REPORT_WORDS = frozenset(("report", "rep", "rpt", "memo", "memorandum", "note", "patent", "techreport"))
_NUMBER_LABEL = re.compile(r"(?:(?:numbers?|nos?|nr)(?:\. ?| )|# ?)(?=\S)", re.IGNORECASE)
_LONGEST_NUMBER = 5


def tidied(text: str) -> str:
    r"""The text with single spaces, without control characters and lone surrogates.

    >>> tidied(" A\x00 \n title")
    'A title'
    """
    # A text that can be printed has neither.
    return squeezed(text if text.isprintable() else _CONTROL.sub(" ", encodable(text)))


def trimmed(text: str) -> str:
    """The text without separators, a full stop, quotes and brackets around it.

    >>> trimmed('"A title,"'), trimmed("(Submitted for publication),"), trimmed("John Wiley and Sons, Inc.,")
    ('A title', 'Submitted for publication', 'John Wiley and Sons, Inc.')
    """
    for _ in range(_LAYERS):
        text = _without_separators(text)
        inner = unbracketed(_unquoted(text))
        if inner == text:
            break
        text = inner
    return text


def unbracketed(text: str) -> str:
    """The text without brackets around all of it, and without a bracket at an end that has no partner.

    >>> unbracketed("(Osaka, Japan)"), unbracketed("(Osaka"), unbracketed("(a) and (b)")
    ('Osaka, Japan', 'Osaka', '(a) and (b)')
    """
    if text[:1] not in _OUTER_BRACKETS and text[-1:] not in _OUTER_BRACKETS:
        return text
    for opening, closing in _BRACKETS.items():
        if text.startswith(opening):
            partner = _partner(text, opening, closing)
            if partner is None:
                return text[1:].lstrip()
            if partner == len(text) - 1:
                return text[1:-1].strip()
        if text.endswith(closing) and _partner(text[::-1], closing, opening) is None:
            return text[:-1].rstrip()
    return text


def numbering(text: str) -> Variables:
    """The volume and issue of a piece, and the pages if the piece has them, too.

    >>> numbering("29(12):"), numbering("Vol. 12, No. 3,"), numbering("No. 3.")
    ({'volume': '29', 'issue': '12'}, {'volume': '12', 'issue': '3'}, {'issue': '3'})
    """
    value = trimmed(text)
    for pattern in _NUMBERINGS:
        if found := pattern.fullmatch(value):
            return {name: trimmed(part) for name, part in found.groupdict().items() if part and trimmed(part)}
    return {"volume": value} if value else {}


def pages(text: str) -> Variables:
    """The page or range of pages, with plain hyphens, or the number of pages.

    >>> pages("(pp. 362--367),"), pages("406 p.")
    ({'page': '362-367'}, {'number-of-pages': '406'})
    """
    value = trimmed(text)
    if count := _PAGE_COUNT.fullmatch(value):
        return {"number-of-pages": count.group(1)}
    label = _PAGES.match(value)
    value = _DASH.sub("-", value[label.end() :] if label else value)
    return {"page": value} if value else {}


def report(text: str) -> Variables:
    """The kind of a report or thesis, and its number.

    >>> report("Technical Report No. TR-92-11,"), report("PhD thesis,"), report("TR 1069")
    ({'genre': 'Technical Report', 'number': 'TR-92-11'}, {'genre': 'PhD thesis'}, {'number': 'TR 1069'})
    """
    words = trimmed(text).split()
    kinds = [position for position, word in enumerate(words, 1) if word.strip(".,").lower() in _REPORT_WORDS]
    after = kinds[-1] if kinds else 0
    number = " ".join(words[after:])
    labelled = _NUMBER_LABEL.match(number)
    if not re.search("[0-9]", number) or (len(words) - after > _LONGEST_NUMBER and not labelled):
        return {"genre": " ".join(words)} if words else {}
    number = number[labelled.end() :] if labelled else number
    return {"genre": " ".join(words[:after]), "number": number} if after else {"number": number}


def links(text: str) -> tuple[Variables, str]:
    """The first DOI and the first URL, and the text without them.

    >>> links("Available from http://a.org/b. doi:10.1000/182.")
    ({'DOI': '10.1000/182', 'URL': 'http://a.org/b'}, 'Available from')
    """
    found: Variables = {}
    for name, pattern in (("DOI", _DOI), ("URL", _URL)):
        if match := pattern.search(text):
            group = name.lower()
            found[name] = _link(match.group(group))
            end = match.start(group) + len(found[name])
            text = around(text, match.start(), end)
    return found, text


def around(text: str, start: int, end: int) -> str:
    """The words before and after a part of the text, without separate punctuation.

    >>> around("Online (accessed today).", 8, 22)
    'Online'
    """
    words = (*text[:start].split(), *text[end:].split())
    return " ".join(word for word in words if word.strip(_ALONE))


def citation_number(text: str, bare: bool = False) -> tuple[str, str]:
    """The number `[12]` at the start of a reference, or "", and the rest; with `bare`, also `12.`

    >>> citation_number("[12] A. Cau,"), citation_number("12. A. Cau,", bare=True), citation_number("A. Cau,")
    (('12', 'A. Cau,'), ('12', 'A. Cau,'), ('', 'A. Cau,'))
    """
    found = _BRACKETED_NUMBER.match(text) or (_BARE_NUMBER.match(text) if bare else None)
    return (found.group(1), text[found.end() :]) if found else ("", text)


def _without_separators(text: str) -> str:
    text = text.lstrip(_SEPARATORS)
    shorter = text.rstrip(_SEPARATORS)
    # In `Inc.,` the comma ends the piece and the full stop ends the word.
    if shorter == text and text.endswith(".") and not text.endswith("..") and not _ends_abbreviated(text):
        return text[:-1].rstrip(_SEPARATORS)
    return shorter


def _ends_abbreviated(text: str) -> bool:
    *before, last = text[:-1].rsplit(" ", 2)
    initials = len(last) == 1 and bool(before) and len(before[-1]) == 2 and before[-1].endswith(".")
    return initials or ("." in last and last.replace(".", "").isalpha()) or last.lower() in _ABBREVIATIONS


def _unquoted(text: str) -> str:
    if text[:1] not in _OUTER_QUOTES and text[-1:] not in _OUTER_QUOTES:
        return text
    for opening, closing in _QUOTES:
        if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) + len(closing):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and closing not in inner:
                return inner
    for quote in _LONE_QUOTES:
        if text.count(quote) == 1 and (text.startswith(quote) or text.endswith(quote)):
            return text.removeprefix(quote).removesuffix(quote)
    return text


def _partner(text: str, opening: str, closing: str) -> int | None:
    """The place of the bracket that closes the first one of the text."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return position
    return None


def _link(text: str) -> str:
    """The link without the punctuation after it; its last bracket stays if the link contains its partner."""
    unopened = {closing: text.count(closing) - text.count(opening) for opening, closing in _BRACKETS.items()}
    end = len(text)
    while end and (text[end - 1] in _AFTER_LINKS or unopened.get(text[end - 1], 0) > 0):
        end -= 1
        if text[end] in unopened:
            unopened[text[end]] -= 1
    return text[:end]


_TAG = re.compile(r"<(?=/?[A-Za-z][A-Za-z0-9_-]*>)")
_NOT_IN_TAGS = re.compile(r"[^A-Za-z0-9_-]+")
_MARK = "NEWREFERENCE"


def to_tagged(pieces: Iterable[Piece]) -> str:
    """The pieces on one line, each in the tags of its field; text outside any field has no tags.

    >>> to_tagged([("author", "A. Cau."), (None, "see"), ("title", "The <b> tag,")])
    '<author> A. Cau. </author> see <title> The < b> tag, </title>'
    """
    return " ".join(_tagged(field, text) for field, raw in pieces if (text := _untagged(raw)))


def _tagged(field: str | None, text: str) -> str:
    if field is None:
        return text
    tag = _tag(field)
    return f"<{tag}> {text} </{tag}>"


def _untagged(text: str) -> str:
    return _TAG.sub("< ", squeezed(encodable(text)))


def _tag(field: str) -> str:
    """The field as the name of a tag, never the mark of a new reference.

    >>> _tag("container-title"), _tag("run in"), _tag("1")
    ('container-title', 'run-in', 'field-1')
    """
    name = _NOT_IN_TAGS.sub("-", field)
    if not name[:1].isalpha():
        return f"field-{name}"
    return name.lower() if name == _MARK else name
