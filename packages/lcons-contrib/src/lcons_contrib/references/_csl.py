"""A labelled reference as an item of CSL-JSON 1.0.

Each piece sets variables: `29(12):` of a volume sets volume and issue. If one of them is already set, the
text of the piece is added to the `note`, together with the text outside any field, and with fields that are
not Cora's (`isbn: 0-123`). Adjacent pieces of a field are joined. So every word is in some value, except for
labels such as `vol.` and `Eds.`

The type is guessed from the fields that occur; the first line that applies decides:

journal         article-journal
booktitle       book without a title; else paper-conference where it names a meeting; else chapter
tech            thesis, patent or manuscript by its words; else report
publisher       book
a URL           webpage; else document
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from lcons_contrib.references._dates import parse_date
from lcons_contrib.references._names import parse_names
from lcons_contrib.references._pieces import links, numbering, pages, report, tidied, trimmed
from lcons_tasks.apps.references import ParsedReference, Piece

CslItem = dict[str, Any]

_MEETING = re.compile(
    r"(?i:\b(?:proc|proceedings|conf|conference|symp|symposium|workshop|meeting|congress|colloquium|ws)\b)"
    r"|\b[A-Z]{3,8}[- ]?['\u2019]?[0-9]{2}|^[A-Z]{3,8}$"
)
_TECH_TYPES = {
    "thesis": re.compile("thesis|dissertation|diplom|habilitation|diss\\.", re.IGNORECASE),
    "patent": re.compile("patent", re.IGNORECASE),
    "manuscript": re.compile("manuscript", re.IGNORECASE),
}
_IN = re.compile(r"[Ii]n(?: ?: ?| (?=[^a-z]))(?=\S)")
_SERIES = re.compile(r"of (?=\S)", re.IGNORECASE)
_NUMBER = re.compile(r"\[([0-9]{1,4})\][.:,]? ?")


def to_csl(pieces: Iterable[Piece], id: str = "ref") -> CslItem:
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
    if merged and (number := _NUMBER.match(merged[0][1])):
        values["citation-number"] = number[1]
        merged[0] = merged[0][0], merged[0][1][number.end() :]
    for field, text in merged:
        variables, rest = _read(field, text)
        if variables.keys() & values.keys():
            variables, rest = {}, trimmed(tidied(text))
        values |= variables
        if rest:
            notes.append(rest if field in (None, "note", "location", *_READERS) else f"{field}: {rest}")
    if notes:
        values["note"] = "; ".join(notes)
    return {"type": _settle_type({field for field, _ in merged}, values), "id": id, **values}


def write_csl(references: Iterable[tuple[int, ParsedReference]]) -> Iterator[str]:
    """The items of numbered references as one array, item by item."""
    before = "[\n"
    for number, reference in references:
        if reference.pieces:
            yield before + json.dumps(to_csl(reference.pieces, id=f"ref-{number}"), ensure_ascii=False)
            before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces that have text; adjacent pieces of a field are joined, pieces of names by a line break."""
    tidy = [(field, text) for field, raw in pieces if (text := tidied(raw))]
    return [
        (field, ("\n" if field in ("author", "editor") else " ").join(text for _, text in run))
        for field, run in groupby(tidy, key=lambda piece: piece[0])
    ]


def _read(field: str | None, text: str) -> tuple[CslItem, str]:
    """The variables of a piece, and the text that has none."""
    if field in _READERS:
        return {name: value for name, value in _READERS[field](text).items() if value}, ""
    variables, rest = links(text)
    rest = trimmed(rest)
    return (variables | {"publisher-place": rest}, "") if field == "location" and rest else (variables, rest)


def _names(text: str) -> list[dict[str, str]]:
    """The names in CSL-JSON; particles sort with the family name."""
    return [
        {
            part.replace("particle", "non-dropping-particle"): value
            for part, value in asdict(name).items()
            if value
        }
        for line in text.split("\n")
        for name in parse_names(line)
    ]


def _date(text: str) -> CslItem:
    date = parse_date(text)
    literal = {"literal": date.literal} if date.literal else {}
    issued = {"date-parts": [list(parts) for parts in date.parts]} if date.parts else literal
    return {"issued": issued, "year-suffix": date.suffix}


def _container(text: str) -> CslItem:
    if series := _SERIES.match(text):
        return {"collection-title": trimmed(text[series.end() :])}
    return {"container-title": trimmed(_IN.sub("", text, count=1) if _IN.match(text) else text)}


_READERS: dict[str, Callable[[str], CslItem]] = {
    "author": lambda text: {"author": _names(text)},
    "booktitle": _container,
    "date": _date,
    "editor": lambda text: {"editor": _names(text)},
    "institution": lambda text: {"publisher": trimmed(text)},
    "journal": _container,
    "pages": lambda text: dict(pages(text)),
    "publisher": lambda text: {"publisher": trimmed(text)},
    "tech": lambda text: dict(report(text)),
    "title": lambda text: {"title": trimmed(text)},
    "volume": lambda text: dict(numbering(text)),
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
        genre = values.get("genre", "")
        return next((kind for kind, pattern in _TECH_TYPES.items() if pattern.search(genre)), "report")
    if "publisher" in fields:
        return "book"
    return "webpage" if "URL" in values else "document"
