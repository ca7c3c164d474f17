"""One cell of the experiment, a split and its training data: learn, train and predict.

Constraint sets are `designed`, `learned` (from combinations that at least two pairs of candidates show),
`learned-all` (from all combinations that occur), `none`, and baselines without networks: `table` allows the
same combinations as they were seen, and `penalties` gives each combination a weight that is learned with the
model. The model is trained under each set; models of `designed`, `learned` and `none` predict under each of
these three sets, the others under their own. `sentence` adds a learned global constraint to `learned`: a
passage has some relation.

Paper: Sec. 4, Table 1. Not in the paper: the baselines, the global constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint
from lcons_decode import RelationRules
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled, Pair, hash_passages
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.entity_relation._constraints import (
    certificates,
    designed,
    kept_constraints,
    seen_rules,
    sentence_constraint,
    wrong_combinations,
)
from lcons_tasks.experiments.entity_relation._corpus import ErCorpus, load_corpus, split, with_noise
from lcons_tasks.experiments.entity_relation._measures import (
    PARTS,
    Answer,
    by_label,
    counts,
    figures,
)
from lcons_tasks.experiments.entity_relation._model import predict, predict_some, score, trained, vectors
from lcons_tasks.models._relation_model import RelationModel, rules_of
from lcons_tasks.models._relation_svm import MISS, PASSES
from lcons_tasks.models._structured_svm import SvmSettings

DESIGNED, LEARNED, NONE, LEARNED_ALL = "designed", "learned", "none", "learned-all"
TABLE, PENALTIES, SENTENCE = "table", "penalties", "sentence"
SETS = (DESIGNED, LEARNED, NONE)
ALONE = (TABLE, PENALTIES, LEARNED_ALL)
SUPPORT = {LEARNED: 2, LEARNED_ALL: 1}
SEEDED = "seeded splits"
# The default C, and the duality gap at which training stops.
C, TOLERANCE = 2.0**-4, 0.02


def row_of(trained: str, tested: str) -> str:
    """The name of the row of a model that is trained under one set and tested under another."""
    return f"{trained} / {tested}"


WITHOUT, WITHIN = row_of(NONE, NONE), row_of(LEARNED, LEARNED)
SEEN, WEIGHED = row_of(TABLE, TABLE), row_of(PENALTIES, PENALTIES)
SOME = row_of(LEARNED, f"{LEARNED} + {SENTENCE}")


@dataclass(frozen=True)
class Cell:
    """A split of a corpus, the share of its training data, C, and settings of the training. The report shows
    the changes and constraints of the `first` cell. `size` is a number of training sentences in place of the
    share (0: all), and `noise` the share of wrong labels among them."""

    corpus: str
    split: str
    share: float = 1.0
    C: float = C
    miss: float = MISS
    passes: int = PASSES
    first: bool = False
    size: int = 0
    noise: float = 0.0

    def __str__(self) -> str:
        parts = [f"{self.size} sentences"] * bool(self.size) + [f"{100 * self.share:g}%"] * (self.share < 1)
        parts += [f"{100 * self.noise:g}% wrong"] * bool(self.noise)
        return ", ".join([f"split {self.split}", *parts])

    @property
    def seeded(self) -> bool:
        """Whether a seed draws the split; otherwise it is a published split."""
        return self.split.isdecimal()

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its files."""
        part = f"{self.size}sentences" if self.size else f"{100 * self.share:g}percent"
        return f"split-{self.split}-{part}{f'-{100 * self.noise:g}wrong' if self.noise else ''}"

    @property
    def settings(self) -> SvmSettings:
        """The settings of the SVM."""
        return SvmSettings(C=self.C, passes=self.passes, tolerance=TOLERANCE)


@dataclass(frozen=True, eq=False)
class Parts:
    """The passages of a cell: training, and test with its indices `units`."""

    train: list[Labelled]
    test: list[Labelled]
    units: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Answers:
    """A cell's record, and its answers on test passages by row."""

    record: Record
    answers: Mapping[str, list[Answer]]


@lru_cache(maxsize=2)
def loaded(name: str) -> ErCorpus:
    """The corpus, read once per process."""
    return load_corpus(name)


def parts(cell: Cell) -> Parts:
    """The passages of a cell."""
    passages = loaded(cell.corpus).passages
    whole = split(loaded(cell.corpus), cell.split)
    chosen = whole.first(cell.size) if cell.size else whole.part(cell.share)
    train, test = ([passages[i] for i in group] for group in (chosen.train, chosen.test))
    if cell.noise:
        train = with_noise(train, cell.noise, int(cell.split))
    return Parts(train, test, tuple(chosen.test))


def constraints(cell: Cell, name: str, kept: Stages) -> dict[str, LearnedConstraint]:
    """The constraints of a set, by feature; learned sets are learned now or read from their stage."""
    if name not in SUPPORT:
        return designed() if name == DESIGNED else {}
    return kept_constraints(parts(cell).train, SUPPORT[name], kept)


def rules(cell: Cell, name: str, kept: Stages) -> RelationRules:
    """The combinations that a set allows."""
    if name == TABLE:
        return seen_rules(parts(cell).train, SUPPORT[LEARNED])
    return rules_of(constraints(cell, name, kept))


def answers(cell: Cell, kept: Stages) -> Answers:
    """The cell's record and answers, computed now or read from their stage."""
    own, read = parts(cell), vectors()
    inputs = {
        "corpus": loaded(cell.corpus).sha256,
        "split": [hash_passages(group) for group in (own.train, own.test)],
        "share": cell.share,
        "name": cell.name,
        "settings": [cell.C, cell.miss, cell.passes, TOLERANCE],
        "vectors": None if read is None else read.sha256,
    }
    return kept.keep("er", inputs, partial(_answers, cell, own, kept))


def final_model(cell: Cell, name: str, kept: Stages) -> tuple[RelationModel, dict[str, Any]]:
    """The model that is trained under a set of constraints, and the figures of its training."""
    allowed = rules(cell, name, kept)
    model, figures = trained(parts(cell).train, allowed, cell.settings, cell.miss, kept, name == PENALTIES)
    return model, {**figures, "C": cell.C}


def _answers(cell: Cell, own: Parts, kept: Stages) -> Answers:
    """The answers of a cell."""
    names = (*SETS, *ALONE)
    allowed = {name: rules(cell, name, kept) for name in names}
    sentence = sentence_constraint(own.train)
    training: dict[str, Any] = {}
    found: dict[str, list[Answer]] = {}
    scored: dict[tuple[bytes, bool], Any] = {}
    for name in names:
        # Sets that allow the same combinations have the same model.
        key = np.packbits(allowed[name].allowed).tobytes(), name == PENALTIES
        if key not in scored:
            made = final_model(cell, name, kept)
            scored[key] = (*made, score(made[0], own.test))
        model, figures_of, scores = scored[key]
        training[name] = {**figures_of, "parameters": model.parameters}
        for other in SETS if name in SETS else (name,):
            found[row_of(name, other)] = predict(scores, allowed[other], model)
        if name == LEARNED and sentence is not None and not sentence.satisfied([("none",)]):
            found[SOME] = predict_some(scores, allowed[name])
    best = found[row_of(DESIGNED, DESIGNED)]
    facts = {
        "sentences": {"train": len(own.train), "test": len(own.test)},
        "training": training,
        "certificates": {
            name: {
                feature: one.to_dict() for feature, one in certificates(constraints(cell, name, kept)).items()
            }
            for name in SUPPORT
        },
        "otherwise": {name: wrong_combinations(allowed[name]) for name in (*SUPPORT, TABLE)},
        "broken": _broken(found[WITHOUT], rules_of(designed())),
        "differ": {
            name: sum(a != b for a, b in zip(best, found[row_of(name, name)], strict=True))
            for name in SUPPORT
        },
    }
    return Answers(_record(cell, own, facts, found), found)


def _record(cell: Cell, own: Parts, facts: Mapping[str, Any], found: Mapping[str, list[Answer]]) -> Record:
    tallies = {row: counts(own.test, answer) for row, answer in found.items()}
    rows = {
        row: {**figures(one), **{f"{label} f1": value for label, value in by_label(one).items()}}
        for row, one in tallies.items()
    }
    own_counts: dict[str, dict[str, Ints]] = {
        row: {f"{what} f1": one[:, part].sum(1) for what, part in PARTS.items()}
        for row, one in tallies.items()
    }
    at: dict[str, Coordinate] = {
        "group": SEEDED if cell.seeded else cell.split,
        "share": cell.share,
        "size": cell.size,
        "noise": cell.noise,
        "split": cell.split,
    }
    arrays = rows_with_counts(own_counts, list(rows))
    return Record((RecordCell(cell.name, at, rows, facts, arrays, own.units),))


def _broken(answers: Sequence[Answer], allowed: RelationRules) -> dict[str, int]:
    """The numbers of pairs of candidates and of sentences that break a constraint."""
    pairs = sentences = 0
    for entities, relations in answers:
        e = [ENTITIES.index(label) for label in entities]

        def relation(i: int, j: int, relations: Mapping[Pair, str] = relations) -> int:
            return RELATIONS.index(relations.get((i, j), RELATIONS[0]))

        broken = sum(
            bool(allowed.broken[e[i], e[j], relation(i, j), relation(j, i)])
            for i in range(len(e))
            for j in range(i + 1, len(e))
        )
        pairs += broken
        sentences += bool(broken)
    return {"pairs": pairs, "sentences": sentences}
