r"""Entries of BibTeX: made from an item of CSL-JSON, or from a labelled reference by way of such an item.

A value stands in braces. Its own braces, backslashes and `% & # _ $ ~ ^` become commands of LaTeX, so that
braces balance for any text; `\{` would not work, because BibTeX counts its brace. Other characters stay in
UTF-8. A URL or DOI is verbatim: only its braces, backslashes and spaces are percent-encoded.

A variable without a name in BibTeX becomes a field under its own name without hyphens, which styles ignore.
If two variables need one field, the second goes to the note, and so does everything in `custom`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lcons_tasks.apps.references._csl import to_csl
from lcons_tasks.apps.references._names import OTHERS
from lcons_tasks.apps.references._pieces import Piece, tidied

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
    "accessed": "urldate",
    "collection-number": "volume",
    "collection-title": "series",
    "container-title": "booktitle",
    "genre": "type",
    "issue": "number",
    "number-of-pages": "pagetotal",
    "page": "pages",
    "publisher-place": "address",
}
_FIELDS_OF_ENTRIES = {
    ("article", "container-title"): "journal",
    ("mastersthesis", "publisher"): "school",
    ("phdthesis", "publisher"): "school",
    ("techreport", "publisher"): "institution",
}
_NAME_PARTS = ("literal", "given", "dropping-particle", "non-dropping-particle", "family", "suffix")
_NAMES = ("author", "editor", "translator")
_ELSEWHERE = ("type", "id", "custom", "year-suffix")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MACROS = {str(number): macro for number, macro in enumerate(_MONTHS, 1)}
_SEASONS = {"1": "Spring", "2": "Summer", "3": "Autumn", "4": "Winter"}

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

_UNSAFE_IN_KEYS = re.compile(r"[^A-Za-z0-9:._/+-]+")
_UNDECOMPOSED = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d"}
)
_COMMON_WORDS = frozenset(("a", "an", "and", "for", "from", "in", "of", "on", "the", "to", "with"))
_WORD = re.compile(r"[^\W_]+")
_LONGEST_IN_KEY = 30
NO_KEY = "ref"


def to_bibtex(reference: Mapping[str, Any] | Iterable[Piece], key: str | None = None) -> str:
    r"""The entry of an item of CSL-JSON, or of (field, text) pairs in the order of the text.

    >>> print(to_bibtex([("author", "A. Cau."), ("title", "Rock & Roll,"), ("date", "May 1992.")]))
    @misc{cau1992rock,
      author = {Cau, A.},
      title = {Rock \& Roll},
      year = {1992},
      month = may,
    }
    """
    item = reference if isinstance(reference, Mapping) else to_csl(reference)
    entry = _entry(item)
    fields: dict[str, str] = {}
    notes: list[str] = []
    for field, value in _fields(entry, item):
        if field == "note" or field in fields:
            notes.append(value)
        else:
            fields[field] = value
    if notes:
        fields["note"] = "; ".join(notes)
    lines = "".join(f"  {field} = {_delimited(field, value)},\n" for field, value in fields.items())
    return f"@{entry}{{{keys([item])[0] if key is None else _safe_key(key)},\n{lines}}}"


def keys(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """One distinct key per item: family name, year, a word of the title, and a letter if keys are equal.

    >>> item = {"author": [{"family": "Cau"}], "issued": {"date-parts": [[1992]]}, "title": "On formalising"}
    >>> keys([item, item, {}])
    ['cau1992formalising', 'cau1992formalisinga', 'ref']
    """
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    found = []
    for item in items:
        stem = key = _stem(item)
        while key in taken:
            key = stem + _letters(repeats.get(stem, 0))
            repeats[stem] = repeats.get(stem, 0) + 1
        taken.add(key)
        found.append(key)
    return found


def escaped(text: str) -> str:
    r"""The text as LaTeX source that prints exactly this text.

    >>> print(escaped("50% {of} AT&T"))
    50\% \textbraceleft{}of\textbraceright{} AT\&T
    """
    return tidied(text).translate(_ESCAPES)


def _entry(item: Mapping[str, Any]) -> str:
    entry = _ENTRIES.get(str(item.get("type")), "misc")
    masters = entry == "phdthesis" and "master" in str(item.get("genre", "")).lower()
    return "mastersthesis" if masters else entry


def _delimited(field: str, value: str) -> str:
    return value if field == "month" and value in _MONTHS else f"{{{value}}}"


def _fields(entry: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for variable in (*_NAMES, *(name for name in item if name not in _NAMES and name not in _ELSEWHERE)):
        value = item.get(variable)
        if variable == "issued":
            yield from _issued(value, str(item.get("year-suffix", "")))
        elif text := _value(variable, value):
            yield _FIELDS_OF_ENTRIES.get((entry, variable)) or _FIELDS.get(variable) or _own(variable), text
    for field, value in dict(item.get("custom") or {}).items():
        yield "note", escaped(f"{field}: {value}")


def _own(variable: str) -> str:
    return re.sub("[^a-z]", "", variable.lower()) or "note"


def _value(variable: str, value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(filter(None, map(_name, value)))
    if isinstance(value, Mapping):
        return escaped("/".join(map(_iso, _dates(value))) or _literal(value))
    text = "" if value is None else tidied(str(value))
    if variable in ("DOI", "URL"):
        return text.translate(_VERBATIM)
    return _RANGE.sub("--", escaped(text)) if variable == "page" else escaped(text)


def _name(name: Any) -> str:
    """`von Last, Jr, First`; a name without such parts in braces."""
    parts = name if isinstance(name, Mapping) else {"literal": str(name)}
    if parts.get("literal") == OTHERS.literal:
        return "others"
    if "literal" in parts or not parts.get("family") or not parts.get("given"):
        return _part(" ".join(str(parts[part]) for part in _NAME_PARTS if parts.get(part)), whole=True)
    von = [parts.get(part) for part in _NAME_PARTS if part.endswith("particle")]
    last = " ".join(filter(None, (*von, parts["family"])))
    return ", ".join(_part(str(part)) for part in (last, parts.get("suffix"), parts["given"]) if part)


def _part(text: str, whole: bool = False) -> str:
    """A part of a name, in braces if BibTeX would read it as several."""
    split = (whole and " " in text) or _UNSAFE_IN_NAMES.search(text)
    return f"{{{escaped(text)}}}" if split else escaped(text)


def _issued(value: Any, suffix: str) -> Iterator[tuple[str, str]]:
    """Year, month and day; a range also as `date`, which biblatex reads."""
    date = value if isinstance(value, Mapping) else {"literal": value}
    dates = _dates(date)
    years = "--".join(dict.fromkeys(parts[0] for parts in dates)) or _literal(date)
    season = str(date.get("season") or "")
    _, month, day = (*dates[0], "", "", "")[:3] if len(dates) == 1 else ("", "", "")
    fields = {
        "year": f"{'ca. ' if date.get('circa') else ''}{years}{suffix}" if years else suffix,
        "date": "/".join(map(_iso, dates)) if len(dates) > 1 else "",
        "month": _MACROS.get(month, month) or _SEASONS.get(season, season),
        "day": day,
    }
    yield from ((field, escaped(text)) for field, text in fields.items() if text)


def _dates(value: Mapping[str, Any]) -> list[list[str]]:
    """The parts of a date, or of the first and last of a range, without leading zeros."""
    dates = ([str(part).lstrip("0") for part in date] for date in value.get("date-parts") or ())
    return [date for date in dates if date]


def _iso(date: list[str]) -> str:
    return "-".join(part.zfill(2) for part in date)


def _literal(date: Mapping[str, Any]) -> str:
    return " ".join(str(date[name]) for name in ("literal", "raw", "edtf") if date.get(name))


def _stem(item: Mapping[str, Any]) -> str:
    names = item.get("author") or item.get("editor") or [{}]
    first = names[0] if isinstance(names[0], Mapping) else {"literal": str(names[0])}
    family = first.get("family") or str(first.get("literal", "")).split(" ", 1)[0]
    year = re.search("[0-9]{4}", dict(_issued(item.get("issued"), "")).get("year", ""))
    words = (word for word in _WORD.findall(str(item.get("title", ""))) if word.lower() not in _COMMON_WORDS)
    parts = (str(family), year.group() if year else "", next((word for word in words if _plain(word)), ""))
    stem = "".join(_plain(part) for part in parts)
    return stem if stem[:1].isalpha() else NO_KEY + stem


def _plain(text: str) -> str:
    """Lower-case ASCII letters and digits."""
    return re.sub("[^a-z0-9]", "", _ascii(text[: 2 * _LONGEST_IN_KEY]).lower())[:_LONGEST_IN_KEY]


def _ascii(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return decomposed.encode("ascii", "ignore").decode()


def _safe_key(key: str) -> str:
    return _UNSAFE_IN_KEYS.sub("", _ascii(key)) or NO_KEY


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters
