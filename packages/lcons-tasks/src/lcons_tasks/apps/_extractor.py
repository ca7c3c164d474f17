"""A trained model of entities and relations with its constraints: a passage in, labels out.

    (e, r) = decode_relations(model.scores(passage), constraints)

On disk it is a folder (`lcons_tasks.apps._model_folder`) with

    extractor.json   {"format": 1, "constraints": [{"name", "file"}, ...]}

A long passage is cut into parts, so that time and memory do not grow with the square of its candidates. A
part ends after the last sentence that fits, else before the first candidate that does not. Relations between
candidates of different parts are not predicted.

Paper: Sec. 4. Not in the paper: cutting; its sentences have at most some thirty candidates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from lcons_core import LearnedConstraint, load
from lcons_decode import RelationDecoding, RelationRules, Status, decode_relations
from lcons_tasks.apps._model_folder import MODEL, Described, FolderKind
from lcons_tasks.data._passage import Passage
from lcons_tasks.models._relation_model import RelationModel, load_model, rules_of

MOST_CANDIDATES = 40
STOPS = frozenset(".!?")


def parts(passage: Passage) -> list[Passage]:
    """The parts of a passage, each with some candidates, at most `MOST_CANDIDATES`; at least one part."""
    ends, spans = [], passage.spans
    while len(spans) > MOST_CANDIDATES:
        # The next candidate is too many. No part is empty, and none ends within a candidate.
        last = spans[MOST_CANDIDATES][0]
        stops = (
            t
            for t in range(last, spans[0][1] - 1, -1)
            if passage.words[t - 1] in STOPS and not any(a < t < b for a, b in spans)
        )
        ends.append(next(stops, last))
        spans = tuple(span for span in spans if span[0] >= ends[-1])
    cuts = pairwise([0, *ends, len(passage.words)])
    return [_part(passage, begin, end) for begin, end in cuts] if ends else [passage]


def _part(passage: Passage, begin: int, end: int) -> Passage:
    spans = tuple((a - begin, b - begin) for a, b in passage.spans if begin <= a < end)
    return Passage(passage.words[begin:end], passage.pos[begin:end], spans)


EXTRACTOR = FolderKind(noun="extractor", made_by="make one with `lcons run er`")


@dataclass(frozen=True, eq=False)
class Extractor:
    """`model` with `constraints` by name, each on tuples of some of source, relation, target and reverse."""

    model: RelationModel
    constraints: Mapping[str, LearnedConstraint]
    _rules: tuple[RelationRules, RelationRules] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", dict(self.constraints))
        object.__setattr__(self, "_rules", (rules_of(self.constraints), rules_of({})))

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
        within, without = (decode_relations(scores, rules) for rules in self._rules)
        changed = (within.entities, within.relations) != (without.entities, without.relations)
        return replace(within, stats={**within.stats, "changed": changed})


def load_extractor(folder: str | os.PathLike[str]) -> Extractor:
    """The extractor that `Extractor.save` wrote; raises `DamagedFile` if it is missing or damaged."""
    path = Path(folder)
    entries = EXTRACTOR.read(path).constraints
    model = load_model(path / MODEL)
    constraints = {entry.name: load(path / entry.file) for entry in entries}
    with EXTRACTOR.explained(path):
        return Extractor(model, constraints)


def _joined(answers: Sequence[RelationDecoding]) -> RelationDecoding:
    """The answers for the parts of a passage, as one answer."""
    relations: dict[tuple[int, int], str] = {}
    first = 0
    for answer in answers:
        relations |= {(first + i, first + j): label for (i, j), label in answer.relations.items()}
        first += len(answer.entities)
    return RelationDecoding(
        tuple(label for answer in answers for label in answer.entities),
        relations,
        sum(answer.score for answer in answers),
        max((answer.status for answer in answers), key=list(Status).index),
        sum(answer.broken for answer in answers),
        {"changed": any(answer.stats["changed"] for answer in answers), "parts": len(answers)},
    )
