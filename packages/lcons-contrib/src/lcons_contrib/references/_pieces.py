"""Pieces of a reference: their values without the punctuation and the labels around them.

A reader of a piece returns variables of CSL by name. Text of no known form is kept as the value: only
separators, quotes and brackets around it are dropped, and the labels `vol.`, `no.`, `pp.`, `doi:` and `URL:`.
"""

from __future__ import annotations

import re

Variables = dict[str, str]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SEPARATORS = " ,;:"
_QUOTES = (("``", "''"), ('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("\u2018", "\u2019"), ("'", "'"))
_ABBREVIATIONS = frozenset(("al", "co", "corp", "dept", "inc", "jr", "ltd", "soc", "sr", "univ"))
# The largest number of brackets and quotes to unwrap; `("A title.")` needs two.
_LAYERS = 3

_VOLUME = r"(?:(?:volumes?|vols?|v(?=\.))(?:\. ?| |(?=[0-9])))"
_ISSUE = r"(?:(?:numbers?|nos?|nrs?|issues?|n(?=\.))(?:\. ?| |(?=[0-9]))|n° ?|# ?)"
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
_PAGES = re.compile(r"(?:(?:pages?|pp|p)(?:\. ?| )|(?:pages?|pp)(?=[0-9]))(?=\S)", re.IGNORECASE)
_DASH = re.compile(r"(?<=\w) ?[\-\u2010-\u2015\u2212]{1,3} ?(?=\w)")
_REPORT = re.compile(
    r"(?P<genre>.*\b(?:report|rep|memo|note|patent)\b\.?),? ?"
    r"(?:(?:numbers?|nos?)\b\.? ?|# ?)?(?P<number>.*[0-9].*)",
    re.IGNORECASE,
)
_LONGEST_REPORT = 200
_LINKS = {
    "DOI": re.compile(
        r"(?:\bhttps?://(?:dx\.)?doi\.org/|\bdoi ?: ?)(10\.[0-9]{4,9}/[^\s<>\"]+)", re.IGNORECASE
    ),
    "URL": re.compile(
        r"(?:\bURL ?:? ?)?<?((?:\b(?:https?|ftp)://|(?<![\w@.])www\.)[^\s<>\"]+)>?", re.IGNORECASE
    ),
}
_AFTER_LINKS = ".,;:'\u2019\u201d"


def tidied(text: str) -> str:
    r"""The text with single spaces, without control characters and lone surrogates.

    >>> tidied(" A\x00 \n title")
    'A title'
    """
    return " ".join(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub(" ", text)).split())


def trimmed(text: str) -> str:
    """The text without separators, a full stop, quotes and brackets around it.

    >>> trimmed('"A title,"'), trimmed("(Submitted for publication),"), trimmed("John Wiley and Sons, Inc.,")
    ('A title', 'Submitted for publication', 'John Wiley and Sons, Inc.')
    """
    for _ in range(_LAYERS):
        outer = _without_separators(text)
        text = unbracketed(_unquoted(outer))
        if text == outer:
            break
    return text


def unbracketed(text: str) -> str:
    """The text without brackets around all of it, and without a bracket at an end that has no partner.

    >>> unbracketed("(Osaka, Japan)"), unbracketed("(Osaka"), unbracketed("(a) and (b)")
    ('Osaka, Japan', 'Osaka', '(a) and (b)')
    """
    for opening, closing in ("()", "[]"):
        if text.startswith(opening) and text.find(closing) in (-1, len(text) - 1):
            text = text[1:].removesuffix(closing).strip()
        elif text.endswith(closing) and opening not in text:
            text = text[:-1].strip()
    return text


def numbering(text: str) -> Variables:
    """The volume and issue of a piece, and the pages if the piece has them, too.

    >>> numbering("29(12):"), numbering("Vol. 12, No. 3,"), numbering("No. 3.")
    ({'volume': '29', 'issue': '12'}, {'volume': '12', 'issue': '3'}, {'issue': '3'})
    """
    value = trimmed(text)
    for pattern in _NUMBERINGS:
        if match := pattern.fullmatch(value):
            return {name: trimmed(part) for name, part in match.groupdict().items() if part and trimmed(part)}
    return {"volume": value} if value else {}


def pages(text: str) -> Variables:
    """The page or range of pages, with plain hyphens.

    >>> pages("(pp. 362--367),")
    {'page': '362-367'}
    """
    value = _DASH.sub("-", _PAGES.sub("", trimmed(text), count=1))
    return {"page": value} if value else {}


def report(text: str) -> Variables:
    """The kind of a report or thesis, and its number.

    >>> report("Technical Report No. TR-92-11,"), report("PhD thesis,")
    ({'genre': 'Technical Report', 'number': 'TR-92-11'}, {'genre': 'PhD thesis'})
    """
    value = trimmed(text)
    match = _REPORT.fullmatch(value) if len(value) <= _LONGEST_REPORT else None
    return match.groupdict() if match else {"genre": value} if value else {}


def links(text: str) -> tuple[Variables, str]:
    """The first DOI and the first URL, and the text without them.

    >>> links("Available from http://a.org/b. doi:10.1000/182.")
    ({'DOI': '10.1000/182', 'URL': 'http://a.org/b'}, 'Available from')
    """
    variables: Variables = {}
    for name, pattern in _LINKS.items():
        if match := pattern.search(text):
            link = match[1].rstrip(_AFTER_LINKS + ("" if "(" in match[1] else ")]"))
            variables[name] = link
            words = (*text[: match.start()].split(), *text[match.start(1) + len(link) :].split())
            text = " ".join(word for word in words if word.strip(".,;:()[]<>"))
    return variables, text


def _without_separators(text: str) -> str:
    text = text.lstrip(_SEPARATORS)
    shorter = text.rstrip(_SEPARATORS)
    last = text[:-1].rsplit(" ", 1)[-1]
    # In `Inc.,` the comma ends the piece and the full stop ends the word.
    initials = "." in last and last.replace(".", "").isalpha()
    if shorter == text and text.endswith(".") and not initials and last.lower() not in _ABBREVIATIONS:
        return text[:-1].rstrip(_SEPARATORS)
    return shorter


def _unquoted(text: str) -> str:
    for opening, closing in _QUOTES:
        if text.startswith(opening) and text.find(closing, len(opening)) in (-1, len(text) - len(closing)):
            return text.removeprefix(opening).removesuffix(closing)
        if text.endswith(closing) and text.find(opening) in (-1, len(text) - len(closing)):
            return text.removesuffix(closing)
    return text
