"""The names in an author or editor piece, for all orders of their parts that styles use.

Commas separate both names and the parts of a name, so the piece is cut at `and`, `&` and semicolons into
groups, and a group at its commas into chunks. A chunk before a chunk of initials alone is a family name, as
in `Cau, A.`. A single word before a given name is a family name, too, as in `Bic, Lubomir`; but if all chunks
are single words and a group has an odd number of them, they are a list of family names. Any other chunk is a
whole name, with its initials before (`A. Cau`) or after (`Cau A`).

An organisation, and a chunk that is not a name (digits, brackets, more than a few words), is kept literally.
`et al.` becomes a separate last name, OTHERS. `In`, `and`, `edited by`, `(Eds.)` and the like are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from lcons_tasks.apps.references._pieces import tidied, trimmed, unbracketed
from lcons_tasks.data.text._clues import LONGEST_KNOWN

_PARTICLE = re.compile(
    "a[fl]|auf|da|dal|de|del|della|den|der|des|di|dos?|du|el|la|le|los?|te[nr]|['\u2019]t|van|vo[mn]|zu[mr]?"
)
_CAPITAL_PARTICLE = re.compile(r"De|Del|Della|Des|Di|Du|El|La|Le|St\.|Van|Von")
_SUFFIX = re.compile(r"[JjSs]r\.?|I?II|IV|2nd|3rd")
_ABBREVIATED = frozenset(("Ch", "Chr", "Geo", "Jos", "Ph", "Th", "Wm", "Ya"))
_ORGANISATION = re.compile(
    r"\b(?:agency|association|board|bureau|cent(?:er|re)|collaboration|college|commission|committee|company"
    r"|consortium|corporation|council|department|dept|federation|forum|foundation|gmbh|group|inc|institute?"
    r"|laborator(?:y|ies)|labs|ltd|microsystems|ministry|office|organi[sz]ation|project|school|society|systems"
    r"|team|union|university)\b",
    re.IGNORECASE,
)
_LINKING = frozenset(("for", "of", "the"))
_MOST_WORDS = 6
_MOST_INITIALS = 3

_IN = re.compile(r"in(?: ?: ?| )(?=\S)", re.IGNORECASE)
_BY = re.compile(
    r"(?:edited(?: and translated)? by|ed\.(?: by)?|eds\.?(?: by)?|hrsg\.?)[: ]{1,3}(?=\S)", re.IGNORECASE
)
_ROLE = re.compile(r"[,(\[ ]{1,3}(?P<role>editors?|eds?|hrsg|compilers?)\.?[)\].,:; ]{0,6}$", re.IGNORECASE)
_OTHERS = re.compile(
    r"(?:^|[, ]{1,2})(?:et(?:\.? |\.)al|(?:and|&) (?:al|others))[.,;: ]{0,3}$", re.IGNORECASE
)
_BETWEEN_GROUPS = re.compile(r"(?<!\S)(?:[Aa]nd|AND|und|et|&)(?!\S)")
_BETWEEN_INITIALS = re.compile(r"[.\u2010\u2011-]")
_LETTERS = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f.'\u2019`\u00b4\u2010\u2011-])+")
_EMPTY = " .,;:&()[]"


@dataclass(frozen=True)
class Name:
    """The parts of a person's name, or a `literal` text instead of them."""

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""


OTHERS = Name(literal="et al.")


@dataclass(frozen=True)
class _Chunk:
    """The text between two commas, in words, and the suffix that followed it."""

    words: tuple[str, ...]
    suffix: str = ""

    @cached_property
    def literal(self) -> bool:
        """Whether the text is kept as it is: too long for a name, or not a person's."""
        return (
            len(self.words) > _MOST_WORDS
            or not all(map(_LETTERS.fullmatch, self.words))
            or (len(self.words) > 1 and any(map(_ORGANISATION.fullmatch, self.words)))
            or (len(self.words) > 2 and not _LINKING.isdisjoint(self.words))
        )


def parse_names(text: str) -> list[Name]:
    """The names of a piece, in its order.

    >>> for name in parse_names("A. Cau, R. Kuiper, and W.-P. de Roever."):
    ...     print(name)
    Name(family='Cau', given='A.', particle='', suffix='', literal='')
    Name(family='Kuiper', given='R.', particle='', suffix='', literal='')
    Name(family='Roever', given='W.-P.', particle='de', suffix='', literal='')
    >>> [(name.family, name.given) for name in parse_names("In Dale, R.; and Zock, M., eds.,")]
    [('Dale', 'R.'), ('Zock', 'M.')]
    """
    text = unbracketed(_without_roles(tidied(text)))
    others = _OTHERS.search(text)
    if others:
        text = text[: others.start()]
    names = list(_names(text))
    return [*names, OTHERS] if others else names


def _without_roles(text: str) -> str:
    for pattern in (_IN, _BY):
        if found := pattern.match(text):
            text = text[found.end() :]
    # Only the end is searched: a role is short.
    role = _ROLE.search(text, max(0, len(text) - 24))
    # `Smith, Ed` is a name.
    if role and (role.group("role").lower() != "ed" or "(" in role.group() or " " in text[: role.start()]):
        return text[: role.start()]
    return text


def _names(text: str) -> Iterator[Name]:
    groups: list[list[_Chunk]] = []
    for part in text.split(";"):
        if _is_organisation(part):
            groups.append([_Chunk((trimmed(part),))])
        else:
            groups.extend(map(_chunks, _BETWEEN_GROUPS.split(_without_last_stop(part))))
    single = all(len(chunk.words) == 1 for group in groups for chunk in group)
    families = single and any(len(group) % 2 for group in groups)
    cased = any(character.isupper() for character in text)
    for group in groups:
        yield from _names_of(group, pairs=cased and not families)


def _names_of(group: list[_Chunk], pairs: bool) -> Iterator[Name]:
    """The names of a group; with `pairs`, a family name may stand before a full given name."""
    position = 0
    while position < len(group):
        here, after = group[position], group[position + 1 : position + 2]
        if after and _is_family(here) and (_follows(after[0]) or (pairs and _may_follow(after[0], here))):
            yield _inverted(here, after[0])
            position += 2
        else:
            # After `Jeffrey Kuskin` a single word is a name, not half of one.
            pairs = False
            yield _direct(here)
            position += 1


def _chunks(text: str) -> list[_Chunk]:
    """The chunks of a group; `Jr.` and the like belong to the chunk before them."""
    chunks: list[_Chunk] = []
    for part in text.split(","):
        words = [word for word in part.split() if word.strip(".…")]
        suffix = words.pop() if words and _SUFFIX.fullmatch(words[-1]) else ""
        if words and part.strip(_EMPTY):
            chunks.append(_Chunk(tuple(words), suffix))
        elif suffix and chunks and not chunks[-1].suffix:
            chunks[-1] = replace(chunks[-1], suffix=suffix)
        elif suffix:
            chunks.append(_Chunk((suffix,)))
    return chunks


def _is_organisation(text: str) -> bool:
    """Whether the whole text names an organisation: it has a word of organisations and no initials."""
    if " " not in text.strip() or not _ORGANISATION.search(text):
        return False
    parts = [part.split() for part in text.split(",")]
    dotted = any("." in word and _is_initial(word) for words in parts for word in words)
    return not dotted and not any(len(words) > 1 and _is_initial(words[-1]) for words in parts)


def _is_initial(word: str) -> bool:
    """Whether a word consists of initials: `A.`, `J.-P.`, `BC`.

    >>> [_is_initial(word) for word in ("A.", "J.-P.", "F.C.", "BC", "Th.", "Li.", "Cau")]
    [True, True, True, True, True, False, False]
    """
    return _known_initials(word) if len(word) <= LONGEST_KNOWN else _initials(word)


def _initials(word: str) -> bool:
    letters = [part for part in _BETWEEN_INITIALS.split(word) if part]
    if not letters or not all(part.isalpha() and part[0].isupper() for part in letters):
        return False
    bare = "." not in word and len("".join(letters)) <= _MOST_INITIALS and word.isupper()
    return bare or all(len(part) == 1 or part in _ABBREVIATED for part in letters)


_known_initials = lru_cache(maxsize=2**14)(_initials)


def _is_family(chunk: _Chunk) -> bool:
    *words, last = chunk.words
    dotted = any("." in word and _is_initial(word) for word in chunk.words)
    return not chunk.literal and not dotted and not (words and _is_initial(last))


def _follows(chunk: _Chunk) -> bool:
    """Whether a chunk can only be the given name of the chunk before: initials, perhaps with a particle."""
    words = chunk.words[:-1] if len(chunk.words) > 1 and _PARTICLE.fullmatch(chunk.words[-1]) else chunk.words
    return all(map(_is_initial, words))


def _may_follow(chunk: _Chunk, family: _Chunk) -> bool:
    """Whether a chunk may be a given name: `Lubomir`, `Wesley M.`, or any words after a single one."""
    if chunk.literal or _is_initial(chunk.words[0]):
        return False
    _, names = _split_particle(family.words)
    return len(names) == 1 or len(chunk.words) == 1 or _is_initial(chunk.words[-1])


def _inverted(family: _Chunk, given: _Chunk) -> Name:
    before, names = _split_particle(family.words)
    last = len(given.words)
    while last > 1 and _PARTICLE.fullmatch(given.words[last - 1]):
        last -= 1
    return Name(
        family=" ".join(names),
        given=" ".join(given.words[:last]),
        particle=" ".join((*given.words[last:], *before)),
        suffix=" ".join(filter(None, (family.suffix, given.suffix))),
    )


def _direct(chunk: _Chunk) -> Name:
    words = chunk.words
    if chunk.literal:
        return Name(literal=" ".join(filter(None, (*words, chunk.suffix))))
    last = len(words)
    while last > 0 and _is_initial(words[last - 1]):
        last -= 1
    if 0 < last < len(words) and not any(map(_is_initial, words[:last])):
        return _inverted(_Chunk(words[:last], chunk.suffix), _Chunk(words[last:]))
    first = _family_starts(words)
    particle, family = _split_particle(words[first:])
    return Name(" ".join(family), " ".join(words[:first]), " ".join(particle), chunk.suffix)


def _family_starts(words: tuple[str, ...]) -> int:
    """The place where particles and family name begin, in a name that begins with the given name."""
    for position, word in enumerate(words[:-1]):
        if _PARTICLE.fullmatch(word) or (position and _CAPITAL_PARTICLE.fullmatch(word)):
            return position
    return len(words) - 1


def _split_particle(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first = 0
    while first < len(words) - 1 and _PARTICLE.fullmatch(words[first]):
        first += 1
    return words[:first], words[first:]


def _without_last_stop(text: str) -> str:
    """The text without its last full stop, unless that belongs to an initial or `Jr.`"""
    text = text.rstrip(" ,;:")
    last = text.rsplit(" ", 1)[-1]
    keeps = not text.endswith(".") or _is_initial(last) or _SUFFIX.fullmatch(last) is not None
    return text if keeps else text.rstrip(". ")
