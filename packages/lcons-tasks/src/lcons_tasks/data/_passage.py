"""Sentences with entity candidates; the labels of the candidates and of their ordered pairs.

`ENTITIES` and `RELATIONS` are the labels in the paper's order; the first of each is "none". The labels of
Roth and Yih's corpus are mapped to them.

Paper: Sec. 4 and Appendix C.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lcons_core import InvalidInput

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
NO_ENTITY, NO_RELATION = ENTITIES[0], RELATIONS[0]

# `Other` is the label of a candidate that is neither person, place nor organisation.
ENTITY_NAMES = {"Peop": "Person", "Loc": "Location", "Org": "Organization", "Other": NO_ENTITY}
RELATION_NAMES = {
    "Kill": "Kill",
    "Live_In": "LiveIn",
    "Work_For": "WorkFor",
    "Located_In": "LocatedAt",
    "OrgBased_In": "OrgBasedIn",
}


Pair = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """Words with POS tags, and candidates as ordered spans (first, after the last) that do not overlap.

    >>> passage = Passage(("Ann", "lives", "in", "Oslo"), ("NNP", "VBZ", "IN", "NNP"), ((0, 1), (3, 4)))
    >>> passage.pairs
    ((0, 1), (1, 0))
    """

    words: tuple[str, ...]
    pos: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if len(self.words) != len(self.pos):
            raise InvalidInput(f"`pos` needs one tag per word: got {len(self.pos)} for {len(self.words)}.")
        edges = [(0, 0), *self.spans, (len(self.words), len(self.words))]
        if any(a >= b for a, b in self.spans) or any(x[1] > y[0] for x, y in pairwise(edges)):
            raise InvalidInput(f"`spans` must be in order, within the words and apart: got {self.spans}.")

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The ordered pairs of different candidates, in order."""
        n = len(self.spans)
        return tuple((i, j) for i in range(n) for j in range(n) if i != j)


@dataclass(frozen=True)
class Labelled:
    """A passage with one entity label per candidate, and its relations by (source, target)."""

    id: str
    passage: Passage
    entities: tuple[str, ...]
    relations: Mapping[Pair, str] = field(default_factory=dict, hash=False)

    def relation(self, source: int, target: int) -> str:
        """The label of an ordered pair."""
        return self.relations.get((source, target), NO_RELATION)


def members(
    entities: Sequence[str], relations: Mapping[Pair, str], source: int, target: int
) -> dict[str, str]:
    """The labels of two candidates and of the relations between them, by the member of a tuple."""
    return {
        "source": entities[source],
        "relation": relations.get((source, target), NO_RELATION),
        "target": entities[target],
        "reverse": relations.get((target, source), NO_RELATION),
    }


def hash_passages(passages: Iterable[Labelled]) -> str:
    """The sha256 of words, tags, spans and labels."""
    digest = hashlib.sha256()
    for labelled in passages:
        relations = sorted((*pair, label) for pair, label in labelled.relations.items())
        passage = labelled.passage
        text = [passage.words, passage.pos, passage.spans, labelled.entities, relations]
        digest.update((json.dumps(text, ensure_ascii=False) + "\n").encode())
    return digest.hexdigest()
