"""A trained model of entities and relations with its constraints: a passage in, labels out.

    (e, r) = decode_relations(model.scores(passage), constraints)

On disk it is a folder (`lcons_tasks.apps._model_folder`) with

    extractor.json   {"format": 1, "constraints": [{"name", "file"}, ...]}

A long passage is cut into parts, so that time and memory do not grow with the square of its candidates. A
part ends after the last sentence that fits, else after the last word that fits, never within a candidate. A
passage that fits in one part is not cut. Relations between candidates of different parts are not predicted.

Paper: Sec. 4. Not in the paper: cutting; its sentences have at most some thirty candidates.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from lcons_core import InvalidInput, LearnedConstraint, load
from lcons_decode import RelationDecoding, RelationRules, Status, decode_relations
from lcons_tasks.apps._model_folder import MODEL, Described, FolderKind, expect
from lcons_tasks.data._passage import Passage
from lcons_tasks.models._relation_model import RelationModel, load_model, rules_of

MOST_CANDIDATES = 40
MOST_WORDS = 300
# How many words a tagger or recogniser reads at a time: its memory grows with the length of the text.
MOST_READ = 2**11
STOPS = frozenset(".!?")

Span = tuple[int, int]


def cut(
    words: Sequence[str],
    spans: Sequence[Span] = (),
    most_words: int = MOST_WORDS,
    most_candidates: int = MOST_CANDIDATES,
) -> Iterator[Span]:
    """(first, after the last) of each part, in order; the parts cover all words, and there is at least one.

    >>> list(cut("Ann left . Bo came in .".split(), most_words=5))
    [(0, 3), (3, 7)]
    """
    n = len(words)
    begun, within = [0] * (n + 1), [False] * (n + 1)
    for first, after in spans:
        begun[first + 1] = 1
        within[first + 1 : after] = [True] * (after - first - 1)
    begun = list(accumulate(begun))
    start = 0
    while start < n:
        reach = []
        for end in range(start + 1, min(start + most_words, n) + 1):
            if begun[end] - begun[start] > most_candidates:
                break
            if not within[end]:
                reach.append(end)
        if not reach:
            # A candidate that is longer than a part is a part of its own.
            reach = [next(end for end in range(start + 1, n + 1) if not within[end])]
        stops = [end for end in reach if words[end - 1] in STOPS]
        end = n if reach[-1] == n else (stops or reach)[-1]
        yield start, end
        start = end
    if not n:
        yield 0, 0


def parts(passage: Passage) -> list[Passage]:
    """The parts of a passage, each with its candidates; parts without candidates are left out."""
    found = []
    for start, end in cut(passage.words, passage.spans):
        spans = tuple((a - start, b - start) for a, b in passage.spans if start <= a < end)
        if spans:
            found.append(Passage(passage.words[start:end], passage.pos[start:end], spans))
    return found or [passage]


EXTRACTOR = FolderKind(noun="extractor", made_by="make one with `lcons run er`")


@dataclass(frozen=True, eq=False)
class Extractor:
    """`model` with `constraints` by name, each on tuples of some of source, relation, target and reverse."""

    model: RelationModel
    constraints: Mapping[str, LearnedConstraint]
    _rules: RelationRules = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.constraints:
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"each of `constraints` needs a name: got {name!r:.40}; pass a text.")
        object.__setattr__(self, "constraints", dict(self.constraints))
        object.__setattr__(self, "_rules", rules_of(self.constraints))

    @property
    def alone(self) -> Extractor:
        """The model without its constraints."""
        return replace(self, constraints={})

    def extract(self, passage: Passage) -> RelationDecoding:
        """The best labels of candidates and pairs. In the stats, `changed` is true if the model alone gives
        other labels, and `parts` is the number of parts of the passage."""
        return _joined([self._extract(part) for part in parts(passage)])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a folder, which replaces an existing extractor; if that fails, the old one stays."""
        described = [Described(name, constraint, {}) for name, constraint in self.constraints.items()]
        EXTRACTOR.write(folder, self.model, described)

    def _extract(self, passage: Passage) -> RelationDecoding:
        scores = self.model.scores(passage)
        found = decode_relations(scores, self._rules)
        free = decode_relations(scores, self._no_rules) if self.constraints else found
        changed = (found.entities, found.relations) != (free.entities, free.relations)
        return replace(found, stats={**found.stats, "changed": changed})

    @cached_property
    def _no_rules(self) -> RelationRules:
        return rules_of({})


def load_extractor(folder: str | os.PathLike[str]) -> Extractor:
    """The extractor that `Extractor.save` wrote; raises `DamagedFile` if it is missing or damaged."""
    path = Path(folder)
    entries = EXTRACTOR.read(path)["constraints"]
    names = [entry["name"] for entry in entries]
    with EXTRACTOR.explained(path):
        expect(len(set(names)) == len(names), "two of its constraints have the same name")
    model = load_model(path / MODEL)
    constraints = {entry["name"]: load(path / entry["file"]) for entry in entries}
    with EXTRACTOR.explained(path):
        return Extractor(model, constraints)


def _joined(answers: Sequence[RelationDecoding]) -> RelationDecoding:
    """The answers for the parts of a passage, as one answer."""
    entities: list[str] = []
    relations: dict[tuple[int, int], str] = {}
    for answer in answers:
        first = len(entities)
        entities += answer.entities
        relations |= {(first + i, first + j): label for (i, j), label in answer.relations.items()}
    broken = sum(answer.broken for answer in answers)
    stats = [answer.stats for answer in answers]
    ilp = any(own["ilp"] for own in stats)
    return RelationDecoding(
        tuple(entities),
        relations,
        sum(answer.score for answer in answers),
        max((answer.status for answer in answers), key=list(Status).index),
        broken,
        {
            "nodes": -1 if ilp else sum(own["nodes"] for own in stats),
            "ilp": ilp,
            "changed": any(own["changed"] for own in stats),
            "parts": len(answers),
        },
    )
