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

from lcons_contrib.references._pieces import tidied, trimmed, unbracketed

_PARTICLE = re.compile(
    "a[fl]|auf|da|dal|de|del|della|den|der|des|di|dos?|du|el|la|le|los?|te[nr]|['\u2019]t|van|vo[mn]|zu[mr]?"
)
_SUFFIX = re.compile(r"[JjSs]r\.?|I?II|IV|2nd|3rd")
_ORGANISATION = re.compile(
    r"\b(?:agency|association|board|cent(?:er|re)|collaboration|college|commission|committee|company|consortium"
    r"|corporation|council|department|foundation|group|inc|institute?|laborator(?:y|ies)|ministry|office"
    r"|organi[sz]ation|project|society|team|union|university)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 6
_MOST_INITIALS = 3

_BEFORE = re.compile(
    r"(?:in(?: ?: ?| ))?(?:(?:edited by|ed\.(?: by)?|eds\.?)[: ]{1,3})?(?=\S)", re.IGNORECASE
)
_ROLE = re.compile(r"[,(\[ ]{1,3}(?:editors?|eds|ed\.|hrsg)\.?[)\].,:; ]{0,6}$", re.IGNORECASE)
_OTHERS = re.compile(r"(?:^|[, ]{1,2})(?:et\.? al|(?:and|&) (?:al|others))[.,;: ]{0,3}$", re.IGNORECASE)
_BETWEEN_GROUPS = re.compile(r"(?<!\S)(?:[Aa]nd|AND|und|et|&)(?!\S)")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[\u2010\u2011-]?)+")
_LETTERS = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f.'\u2019`\u00b4\u2010\u2011-])+")


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

    @property
    def literal(self) -> bool:
        """Whether the text is kept as it is: too long for a name, or not a person's."""
        organisation = len(self.words) > 1 and any(map(_ORGANISATION.fullmatch, self.words))
        return organisation or len(self.words) > _MOST_WORDS or not all(map(_LETTERS.fullmatch, self.words))

    @property
    def is_family(self) -> bool:
        """Whether the text may be a family name before a given name."""
        last_is_initial = len(self.words) > 1 and _is_initial(self.words[-1])
        return not self.literal and not last_is_initial and not any(map(_is_dotted, self.words))

    @property
    def is_given(self) -> bool:
        """Whether the text can only be the given name of the chunk before: initials, perhaps a particle."""
        first, *others = self.words
        return _is_initial(first) and all(_is_initial(word) or _PARTICLE.fullmatch(word) for word in others)


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
    text = unbracketed(_ROLE.sub("", _BEFORE.sub("", tidied(text), count=1)))
    others = [OTHERS] if _OTHERS.search(text) else []
    groups: list[list[_Chunk]] = []
    for part in _OTHERS.sub("", text).split(";"):
        if _is_organisation(part):
            groups.append([_Chunk((trimmed(part),))])  # literal, because of its spaces
        else:
            groups.extend(map(_chunks, _BETWEEN_GROUPS.split(_without_last_stop(part))))
    single = all(len(chunk.words) == 1 for group in groups for chunk in group)
    families = single and any(len(group) % 2 for group in groups)
    return [name for group in groups for name in _names_of(group, pairs=not families)] + others


def _names_of(group: list[_Chunk], pairs: bool) -> Iterator[Name]:
    """The names of a group; with `pairs`, a family name may stand before a full given name."""
    position = 0
    while position < len(group):
        here, after = group[position], group[position + 1 : position + 2]
        if after and here.is_family and (after[0].is_given or (pairs and _may_follow(after[0], here))):
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
        words = [word for word in part.split() if word.strip(".…&()[]")]
        suffix = words.pop() if words and _SUFFIX.fullmatch(words[-1]) else ""
        if suffix and not words and chunks and not chunks[-1].suffix:
            chunks[-1] = replace(chunks[-1], suffix=suffix)
        elif words or suffix:
            chunks.append(_Chunk(tuple(words), suffix) if words else _Chunk((suffix,)))
    return chunks


def _is_organisation(text: str) -> bool:
    """Whether the whole text names an organisation: it has a word of organisations and no initials."""
    words = text.split()
    return len(words) > 1 and _ORGANISATION.search(text) is not None and not any(map(_is_dotted, words))


def _is_initial(word: str) -> bool:
    """Whether a word consists of initials: `A.`, `J.-P.`, `BC`.

    >>> [_is_initial(word) for word in ("A.", "J.-P.", "F.C.", "BC", "Li.", "Cau", "NATO")]
    [True, True, True, True, False, False, False]
    """
    few = "." in word or len(word) <= _MOST_INITIALS
    return few and word.isupper() and _INITIALS.fullmatch(word) is not None


def _is_dotted(word: str) -> bool:
    return "." in word and _is_initial(word.rstrip(","))


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
    particles = (place for place, word in enumerate(words[:-1]) if _PARTICLE.fullmatch(word))
    first = next(particles, len(words) - 1)
    particle, family = _split_particle(words[first:])
    return Name(" ".join(family), " ".join(words[:first]), " ".join(particle), chunk.suffix)


def _split_particle(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first = 0
    while first < len(words) - 1 and _PARTICLE.fullmatch(words[first]):
        first += 1
    return words[:first], words[first:]


def _without_last_stop(text: str) -> str:
    """The text without its last full stop, unless that belongs to an initial or `Jr.`"""
    text = text.rstrip(" ,;:")
    last = text.rsplit(" ", 1)[-1]
    keeps = _is_initial(last) or _SUFFIX.fullmatch(last) is not None
    return text if keeps else text.rstrip(". ")
