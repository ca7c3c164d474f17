"""A labelled reference as an item of CSL-JSON 1.0.

Each piece sets variables: `29(12):` of a volume sets volume and issue. If a later piece has the same
variable, its text is added to the `note`, together with the text outside any field. Adjacent pieces of a
field are joined. A field that is not one of Cora's is kept in `custom` under its own name.

The type is guessed from the fields that occur; the first line that applies decides:

journal                article-journal
booktitle              book without a title; else paper-conference where it names a meeting; else chapter
tech                   thesis, patent, personal_communication or manuscript by its words; else report
publisher              book
a URL or DOI alone     webpage, document
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from lcons_tasks.apps.references._dates import Date, accessed, parse_date
from lcons_tasks.apps.references._names import Name, parse_names
from lcons_tasks.apps.references._pieces import (
    Piece,
    citation_number,
    links,
    numbering,
    pages,
    report,
    tidied,
    trimmed,
)

CslItem = dict[str, Any]
Found = tuple[CslItem, Callable[[], str]]
"""Variables, and a function: the text that goes to the note if one of the variables is already set."""

_MEETING = re.compile(
    r"(?i:\b(?:proc|proceedings|conf|conference|symp|symposium|workshop|meeting|congress|colloquium|ws)\b)"
    r"|\b[A-Z]{3,8}[- ]?['\u2019]?[0-9]{2}|^[A-Z]{3,8}(?: [IVX]+)?$"
)
_TECH_TYPES = (
    (re.compile("thesis|thèse|dissertation|diplom|habilitation|diss\\.", re.IGNORECASE), "thesis"),
    (re.compile("patent", re.IGNORECASE), "patent"),
    (re.compile("personal communication", re.IGNORECASE), "personal_communication"),
    (re.compile("manuscript", re.IGNORECASE), "manuscript"),
)
_IN = re.compile(r"[Ii]n(?: ?: ?| (?=[^a-z]))(?=\S)")
_SERIES = re.compile(r"of (?=\S)", re.IGNORECASE)
_NOT_NUMBERED = ("date", "pages", "volume")
_BARELY_NUMBERED = ("author", "note")


def to_csl(pieces: Iterable[Piece], id: str | int = "ref") -> CslItem:
    """The item of a reference, from its (field, text) pairs in the order of the text.

    >>> item = to_csl([("author", "A. Cau and R. Kuiper."), ("date", "(1992)."), ("journal", "J. ACM"),
    ...                ("volume", "29(12):"), ("pages", "362-367."), (None, "in Dutch")], id="cau")
    >>> item["type"], item["author"][0], item["issued"]
    ('article-journal', {'family': 'Cau', 'given': 'A.'}, {'date-parts': [[1992]]})
    >>> item["container-title"], item["volume"], item["issue"], item["page"], item["note"]
    ('J. ACM', '29', '12', '362-367', 'in Dutch')
    """
    merged = _merged(pieces)
    values: CslItem = {}
    notes: list[str] = []
    if merged:
        merged[0], values = _without_number(merged[0])
    custom: dict[str, list[str]] = {}
    for field, text in merged:
        for found, otherwise in _READERS.get(field or "note", _links_first)(text):
            if found and values.keys().isdisjoint(found):
                values.update(found)
            elif not (words := otherwise()):
                continue
            elif found or field is None or field in _READERS:
                notes.append(words)
            else:
                custom.setdefault(field, []).append(words)
    if notes:
        values["note"] = "; ".join(notes)
    if custom:
        values["custom"] = {field: "; ".join(texts) for field, texts in custom.items()}
    return {"type": _settle_type({field for field, _ in merged}, values), "id": id, **values}


def csl_name(name: Name) -> dict[str, str]:
    """The name in CSL-JSON; particles sort with the family name.

    >>> csl_name(Name("Roever", "W.-P.", "de"))
    {'family': 'Roever', 'given': 'W.-P.', 'non-dropping-particle': 'de'}
    """
    parts = {
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
        "literal": name.literal,
    }
    return {part: text for part, text in parts.items() if text}


def csl_date(date: Date) -> CslItem:
    """The date in CSL-JSON, without the suffix of its year, which is a separate variable.

    >>> csl_date(Date(((1991, 4), (1991, 6))))
    {'date-parts': [[1991, 4], [1991, 6]]}
    """
    if not date.parts:
        return {"literal": date.literal}
    value: CslItem = {"date-parts": [list(parts) for parts in date.parts]}
    if date.season:
        value["season"] = date.season
    if date.circa:
        value["circa"] = True
    return value


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces that have text; adjacent pieces of a field are joined, pieces of names by a line break."""
    tidy = [(field, text) for field, raw in pieces if (text := tidied(raw))]
    merged: list[Piece] = []
    for field, run in groupby(tidy, key=lambda piece: piece[0]):
        between = "\n" if field in ("author", "editor") else " "
        merged.append((field, between.join(text for _, text in run)))
    return merged


def _without_number(piece: Piece) -> tuple[Piece, CslItem]:
    field, text = piece
    if field in _NOT_NUMBERED:
        return piece, {}
    number, rest = citation_number(text, bare=field in _BARELY_NUMBERED or field not in _READERS)
    return (field, rest), {"citation-number": number} if number else {}


def _names(variable: str) -> Callable[[str], Iterator[Found]]:
    def read(text: str) -> Iterator[Found]:
        if names := [csl_name(name) for line in text.split("\n") for name in parse_names(line)]:
            yield {variable: names}, lambda: trimmed(tidied(text))

    return read


def _date(text: str) -> Iterator[Found]:
    date = parse_date(text)
    if date != Date():
        suffix = {"year-suffix": date.suffix} if date.suffix else {}
        yield {"issued": csl_date(date), **suffix}, lambda: trimmed(text)


def _booktitle(text: str) -> Iterator[Found]:
    series = _SERIES.match(text)
    return _plain("collection-title")(text[series.end() :]) if series else _container(text)


def _container(text: str) -> Iterator[Found]:
    inside = _IN.match(text)
    return _plain("container-title")(text[inside.end() :] if inside else text)


def _plain(variable: str) -> Callable[[str], Iterator[Found]]:
    def read(text: str) -> Iterator[Found]:
        if value := trimmed(text):
            yield {variable: value}, lambda: value

    return read


def _several(reader: Callable[[str], dict[str, str]]) -> Callable[[str], Iterator[Found]]:
    def read(text: str) -> Iterator[Found]:
        if found := reader(text):
            yield dict(found), lambda: trimmed(text)

    return read


def _links_first(text: str) -> Iterator[Found]:
    """The links and the date of access, then the rest of the text, which has no variable."""
    found, text = links(text)
    for variable, link in found.items():
        yield {variable: link}, partial(str, link)
    date, words, text = accessed(text)
    if date:
        yield {"accessed": csl_date(date)}, lambda: words
    if value := trimmed(text):
        yield {}, lambda: value


def _place(text: str) -> Iterator[Found]:
    for found, value in _links_first(text):
        yield found or {"publisher-place": value()}, value


_READERS: dict[str, Callable[[str], Iterator[Found]]] = {
    "author": _names("author"),
    "booktitle": _booktitle,
    "date": _date,
    "editor": _names("editor"),
    "institution": _plain("publisher"),
    "journal": _container,
    "location": _place,
    "note": _links_first,
    "pages": _several(pages),
    "publisher": _plain("publisher"),
    "tech": _several(report),
    "title": _plain("title"),
    "volume": _several(numbering),
}


def _settle_type(fields: set[str | None], values: CslItem) -> str:
    """The type of the item; renames the variables in `values` that depend on the type."""
    if "collection-title" in values and "volume" in values and "issue" not in values:
        values["collection-number"] = values.pop("volume")
    if "journal" in fields:
        return "article-journal"
    if "container-title" in values:
        if "title" not in values:
            values["title"] = values.pop("container-title")
            return "book"
        return "paper-conference" if _MEETING.search(values["container-title"]) else "chapter"
    if "tech" in fields:
        tech = values.get("genre", "")
        return next((kind for pattern, kind in _TECH_TYPES if pattern.search(tech)), "report")
    if "publisher" in fields:
        return "book"
    return "webpage" if "URL" in values else "document"
