r"""Entries of BibTeX, made from items of CSL-JSON.

A value stands in braces. Its own braces, backslashes and `% & # _ $ ~ ^` become commands of LaTeX, so that
braces balance for any text; `\{` would not work, because BibTeX counts its brace. Other characters stay in
UTF-8. A URL or DOI is verbatim: only its braces, backslashes and spaces are percent-encoded.

A variable without a name in BibTeX becomes a field under its own name without hyphens, which styles ignore.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lcons_contrib.references._csl import to_csl
from lcons_contrib.references._dates import MONTHS
from lcons_contrib.references._names import OTHERS
from lcons_tasks.apps.references import ParsedReference

_ENTRIES = {
    "article-journal": "article",
    "book": "book",
    "chapter": "incollection",
    "paper-conference": "inproceedings",
    "report": "techreport",
    "thesis": "phdthesis",
}
_FIELDS = {
    "DOI": "doi",
    "URL": "url",
    "citation-number": "citationnumber",
    "collection-number": "volume",
    "collection-title": "series",
    "container-title": "booktitle",
    "genre": "type",
    "issue": "number",
    "page": "pages",
    "publisher-place": "address",
}
_FIELDS_OF_ENTRIES = {
    ("article", "container-title"): "journal",
    ("mastersthesis", "publisher"): "school",
    ("phdthesis", "publisher"): "school",
    ("techreport", "publisher"): "institution",
}
_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "%&#_$"}
    | {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
_VERBATIM = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
_UNSAFE_IN_NAMES = re.compile(r",|(?<!\S)(?:and|others)(?!\S)", re.IGNORECASE)
_RANGE = re.compile(r"(?<=\w)-(?=\w)")
_COMMON_WORDS = frozenset(("a", "an", "and", "for", "from", "in", "of", "on", "the", "to", "with"))
_LONGEST_IN_KEY = 30


def to_bibtex(item: Mapping[str, Any], key: str | None = None) -> str:
    r"""The entry of an item that `to_csl` made; `key_of` makes the key by default.

    >>> print(to_bibtex(to_csl([("author", "A. Cau."), ("title", "Rock & Roll,"), ("date", "May 1992.")])))
    @misc{cau1992rock,
      author = {Cau, A.},
      title = {Rock \& Roll},
      year = {1992},
      month = may,
    }
    """
    entry = _ENTRIES.get(item["type"], "misc")
    if entry == "phdthesis" and "master" in item.get("genre", "").lower():
        entry = "mastersthesis"
    fields = dict(_fields(entry, item))
    months = {"month": MONTHS[int(fields["month"]) - 1]} if "month" in fields else {}
    values = {field: f"{{{value}}}" for field, value in fields.items()} | months
    lines = "".join(f"  {field} = {value},\n" for field, value in values.items())
    return f"@{entry}{{{key or key_of(item)},\n{lines}}}"


def write_bibtex(references: Iterable[tuple[int, ParsedReference]]) -> Iterator[str]:
    """The entries of numbered references; a key that was used gets a hyphen and a number."""
    times: Counter[str] = Counter()
    for _, reference in references:
        if reference.pieces:
            item = to_csl(reference.pieces)
            key = key_of(item)
            times[key] += 1
            numbered = f"{key}-{times[key]}" if times[key] > 1 else key
            yield ("\n" if len(times) > 1 or times[key] > 1 else "") + to_bibtex(item, numbered) + "\n"


def key_of(item: Mapping[str, Any]) -> str:
    """The family name, year and first word of the title, in lower-case ASCII letters and digits.

    >>> key_of({"author": [{"family": "Gödel"}], "issued": {"date-parts": [[1931]]}, "title": "On it"})
    'godel1931it'
    """
    first = (item.get("author") or item.get("editor") or [{}])[0]
    family = first.get("family") or first.get("literal", "").partition(" ")[0]
    year = re.search("[0-9]{4}", str(item.get("issued", "")))
    words = (_plain(word) for word in item.get("title", "").split() if word.lower() not in _COMMON_WORDS)
    key = _plain(family) + (year[0] if year else "") + next(filter(None, words), "")
    return key if key[:1].isalpha() else f"ref{key}"


def escaped(text: str) -> str:
    r"""The text as LaTeX source that prints exactly this text.

    >>> print(escaped("50% {of} AT&T"))
    50\% \textbraceleft{}of\textbraceright{} AT\&T
    """
    return text.translate(_ESCAPES)


def _fields(entry: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for variable, value in item.items():
        field = _FIELDS_OF_ENTRIES.get((entry, variable)) or _FIELDS.get(variable, variable)
        if variable in ("author", "editor"):
            yield field, " and ".join(map(_name, value))
        elif variable == "issued":
            yield from _issued(value, item.get("year-suffix", ""))
        elif variable in ("DOI", "URL"):
            yield field, value.translate(_VERBATIM)
        elif variable == "page":
            yield field, _RANGE.sub("--", escaped(value))
        elif variable not in ("type", "id", "year-suffix"):
            yield field, escaped(value)


def _name(name: Mapping[str, str]) -> str:
    """`von Last, Jr, First`; a name without such parts as a whole."""
    if name == {"literal": OTHERS.literal}:
        return "others"
    last = " ".join(filter(None, (name.get("non-dropping-particle"), name.get("family"))))
    if "given" in name:
        return ", ".join(_part(part) for part in (last, name.get("suffix"), name["given"]) if part)
    return _part(" ".join(filter(None, (last, name.get("suffix"), name.get("literal")))), whole=True)


def _part(text: str, whole: bool = False) -> str:
    """A part of a name, in braces if BibTeX would read it as several."""
    several = (whole and " " in text) or _UNSAFE_IN_NAMES.search(text)
    return f"{{{escaped(text)}}}" if several else escaped(text)


def _issued(date: Mapping[str, Any], suffix: str) -> Iterator[tuple[str, str]]:
    """Year, month and day; a range also as `date`, which biblatex reads."""
    dates = date.get("date-parts", [])
    years = "--".join(dict.fromkeys(str(parts[0]) for parts in dates)) or date["literal"]
    yield "year", escaped(years + suffix)
    if len(dates) > 1:
        yield "date", "/".join("-".join(f"{part:02}" for part in parts) for parts in dates)
    elif dates:
        yield from zip(("month", "day"), map(str, dates[0][1:]), strict=False)


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text[: 2 * _LONGEST_IN_KEY]).lower()
    return re.sub("[^a-z0-9]", "", decomposed)[:_LONGEST_IN_KEY]
