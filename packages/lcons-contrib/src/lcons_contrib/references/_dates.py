"""Dates as references write them: years, months, days and ranges.

The words of a date have a shape, one letter each: Y a year, M the name of a month, D a day, - a dash or a
slash. `April 8-11, 1991` has the shape MD-DY. A table maps each known shape to the places of the parts of the
first and of the last date. A text of any other shape is kept unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from lcons_contrib.references._pieces import tidied, trimmed

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"

# Year, month and day of the first date, and of the last one of a range, by their places in the shape.
_SHAPES = {
    "Y": ((0,),),
    "MY": ((1, 0),),
    "YM": ((0, 1),),
    "MDY": ((2, 0, 1),),
    "DMY": ((2, 1, 0),),
    "YMD": ((0, 1, 2),),
    "Y-D-D": ((0, 2, 4),),
    "Y-Y": ((0,), (2,)),
    "M-MY": ((3, 0), (3, 2)),
    "MY-MY": ((1, 0), (4, 3)),
    "MD-DY": ((4, 0, 1), (4, 0, 3)),
    "D-DMY": ((4, 3, 0), (4, 3, 2)),
    "MD-MDY": ((5, 0, 1), (5, 3, 4)),
    "DM-DMY": ((5, 1, 0), (5, 4, 3)),
}
_LONGEST = 60
_TOKEN = re.compile(
    r"(?P<Y>(?<![0-9])[12][0-9]{3}(?![0-9]))(?P<suffix>[a-rt-z](?!\w))?"
    r"|(?P<D>(?<![0-9])(?:0?[1-9]|[12][0-9]|3[01])(?![0-9]))(?:st|nd|rd|th)?(?!\w)"
    rf"|(?P<M>{_MONTH}|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
    r"|(?P<dash>[\-\u2010-\u2015\u2212/]{1,2})"
    r"|(?P<other>[^\s.,;:()\[\]])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Date:
    """A date of (year, month, day), where month and day are optional, or the first and last of a range.

    `suffix` is the letter of `1992a`; `literal` the text of a date that was not understood, without `parts`.
    """

    parts: tuple[tuple[int, ...], ...] = ()
    suffix: str = ""
    literal: str = ""


def parse_date(text: str) -> Date:
    """The date that a piece states.

    >>> parse_date("(1971a).")
    Date(parts=((1971,),), suffix='a', literal='')
    >>> parse_date("April 8-11, 1991,").parts, parse_date("to appear.").literal
    (((1991, 4, 8), (1991, 4, 11)), 'to appear')
    """
    text = trimmed(tidied(text))
    tokens = list(_TOKEN.finditer(text[:_LONGEST]))
    suffix = "".join(token["suffix"] or "" for token in tokens)
    places = _SHAPES.get("".join(map(_letter, tokens)), ())
    parts = tuple(tuple(_number(tokens[place]) for place in date) for date in places)
    in_order = all(first < last for first, last in pairwise(parts))
    real = all(part[1:2] <= (len(MONTHS),) for part in parts)
    if not parts or not in_order or not real or len(text) > _LONGEST or (suffix and len(parts) > 1):
        return Date(literal=text)
    return Date(parts, suffix)


def _letter(token: re.Match[str]) -> str:
    return next((letter for letter in "YMD" if token[letter]), "-" if token["dash"] else "?")


def _number(token: re.Match[str]) -> int:
    return MONTHS.index(token["M"][:3].lower()) + 1 if token["M"] else int(token["Y"] or token["D"])
