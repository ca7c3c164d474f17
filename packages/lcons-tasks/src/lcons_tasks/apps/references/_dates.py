"""Dates as references write them: years, months, days, seasons and ranges.

The words of a date have a shape, one letter each: Y a year, M the name of a month, D a day, S a season, - a
dash or a slash. `April 8-11, 1991` has the shape MD-DY. A table maps each known shape to the places of the
parts of the first and of the last date. A text of any other shape is kept unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lcons_tasks.apps.references._pieces import DASHES, around, tidied, trimmed

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
MONTHS = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
MONTHS["sept"] = 9
SEASONS = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}

# Year, month and day of the first date, and of the last one of a range, by their places in the shape.
_SHAPES = {
    "Y": ((0,),),
    "MY": ((1, 0),),
    "YM": ((0, 1),),
    "MDY": ((2, 0, 1),),
    "DMY": ((2, 1, 0),),
    "YMD": ((0, 1, 2),),
    "YDM": ((0, 2, 1),),
    "Y-D-D": ((0, 2, 4),),
    "Y-Y": ((0,), (2,)),
    "M-MY": ((3, 0), (3, 2)),
    "YM-M": ((0, 1), (0, 3)),
    "MY-MY": ((1, 0), (4, 3)),
    "MD-DY": ((4, 0, 1), (4, 0, 3)),
    "D-DMY": ((4, 3, 0), (4, 3, 2)),
    "YMD-D": ((0, 1, 2), (0, 1, 4)),
    "MD-MDY": ((5, 0, 1), (5, 3, 4)),
    "DM-DMY": ((5, 1, 0), (5, 4, 3)),
    "MDY-MDY": ((2, 0, 1), (6, 4, 5)),
    "DMY-DMY": ((2, 1, 0), (6, 5, 4)),
}
_LONGEST = 60
_LAST_MONTH = 12
_TOKEN = re.compile(
    r"(?P<Y>(?<![0-9])[12][0-9]{3}(?![0-9]))(?P<suffix>[a-rt-z](?!\w))?"
    r"|(?P<D>(?<![0-9])(?:0?[1-9]|[12][0-9]|3[01])(?![0-9]))(?:st|nd|rd|th)?(?!\w)"
    r"|(?P<word>[^\W\d_]+)\.?"
    r"|(?P<dash>[" + DASHES + r"/]{1,2})"
    r"|(?P<other>[^\s.,;:()\[\]])"
)
_CIRCA = re.compile(r"(?:circa|ca\.?|c\.) ?(?=[0-9])", re.IGNORECASE)
_SHORT_RANGE = re.compile(rf"([12][0-9])([0-9]{{2}}) ?[{DASHES}/]{{1,2}} ?([0-9]{{2}})")
_ACCESSED = re.compile(
    r"[(\[]?\b(?:last )?(?:accessed|retrieved|visited|viewed)(?: on)?:? "
    r"(?P<date>[0-9A-Za-z][0-9A-Za-z.,/ -]{3,30}?)"
    r"(?:[)\]]|,? from\b|(?<=[0-9])[;:.](?= |$)|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Date:
    """A date of (year, month, day), where month and day are optional, or the first and last of a range.

    `literal` is the text of a date that was not understood and has no `parts`.
    """

    parts: tuple[tuple[int, ...], ...] = ()
    season: int | None = None
    suffix: str = ""
    circa: bool = False
    literal: str = ""


class _Token(NamedTuple):
    shape: str
    number: int


def parse_date(text: str) -> Date:
    """The date that a piece states.

    >>> parse_date("(1971a).")
    Date(parts=((1971,),), season=None, suffix='a', circa=False, literal='')
    >>> parse_date("April 8-11, 1991,").parts, parse_date("to appear.").literal
    (((1991, 4, 8), (1991, 4, 11)), 'to appear')
    """
    text = trimmed(tidied(text))
    return (_understood(text) if len(text) <= _LONGEST else None) or Date(literal=text)


def accessed(text: str) -> tuple[Date | None, str, str]:
    """The date when a link was visited, the words that state it, and the text without them.

    >>> date, words, rest = accessed("Online (accessed on 2 July 2015).")
    >>> date.parts, words, rest
    (((2015, 7, 2),), '(accessed on 2 July 2015)', 'Online')
    """
    for found in _ACCESSED.finditer(text):
        date = parse_date(found.group("date"))
        if date.parts and date == Date(date.parts):
            return date, found.group(), around(text, *found.span())
    return None, "", text


@lru_cache(maxsize=2**12)
def _understood(text: str) -> Date | None:
    circa = _CIRCA.match(text)
    text = text[circa.end() :] if circa else text
    if short := _SHORT_RANGE.fullmatch(text):
        century, first, last = short.groups()
        # `2001-02` may be a month.
        if int(last) > max(int(first), _LAST_MONTH):
            return Date(((int(century + first),), (int(century + last),)), circa=circa is not None)
    found = list(_TOKEN.finditer(text))
    tokens = [_token(match) for match in found]
    seasons = [token.number for token in tokens if token.shape == "S"]
    suffixes = [match.group("suffix") for match in found if match.group("suffix")]
    parts = _parts([token for token in tokens if token.shape != "S"])
    if parts is None or len(seasons) > 1:
        return None
    # A suffix belongs to one date, a season to a year.
    if (suffixes and len(parts) > 1) or (seasons and parts != (parts[0][:1],)):
        return None
    return Date(parts, seasons[0] if seasons else None, "".join(suffixes), circa is not None)


def _token(found: re.Match[str]) -> _Token:
    kind = found.lastgroup if found.lastgroup != "suffix" else "Y"
    if kind in ("Y", "D"):
        return _Token(kind, int(found.group(kind)))
    if kind == "word":
        word = found.group("word").lower()
        for shape, numbers in (("M", MONTHS), ("S", SEASONS)):
            if word in numbers:
                return _Token(shape, numbers[word])
    return _Token("-" if kind == "dash" else "?", 0)


def _parts(tokens: list[_Token]) -> tuple[tuple[int, ...], ...] | None:
    """The dates of a known shape, if they are in order; else None."""
    shape = _SHAPES.get("".join(token.shape for token in tokens))
    if shape is None:
        return None
    parts = tuple(tuple(tokens[place].number for place in places) for places in shape)
    in_order = all(first < last for first, last in pairwise(parts))
    return parts if in_order and all(part[1:2] <= (_LAST_MONTH,) for part in parts) else None
