"""One cell of the experiment: a split and a share of its training data; learn, choose C, train and predict.

Constraint sets are `designed`, `learned` (combinations that at least two pairs of candidates show),
`learned-all` (all that are shown) and `none`. The model is trained under each, with constraints in its
loss-augmented inference, and predicts under each. It sees constraints only as the set of combinations that
they allow, so a model is kept by that set: where `learned` and `designed` allow the same, they share it.

C is chosen for each on the last fifth of the training data, the default standing unless another is clearly
better (`experiment.choice`), and the model is then trained on all of it. With less than all training data C
is the default.

Paper: Sec. 4, Table 1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, load, save
from lcons_decode import RelationRules, decode_relations
from lcons_decode._scores import Ints
from lcons_decode.ilp import Form, decode_relations_ilp
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled, Pair, hash_passages
from lcons_tasks.experiments.engine._choice import choose
from lcons_tasks.experiments.engine._jobs import Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.entity_relation._constraints import (
    Constraints,
    certificates,
    designed,
    learned,
    rules_of,
)
from lcons_tasks.experiments.entity_relation._corpus import ErCorpus, Split, load_corpus, split
from lcons_tasks.experiments.entity_relation._measures import Answer, by_label, counts, figures, gains_over
from lcons_tasks.models._relation_model import RelationModel, load_model
from lcons_tasks.models._relation_svm import MISS, PASSES, train_relations
from lcons_tasks.models._structured_svm import Checked, SvmSettings

DESIGNED, LEARNED, NONE, LEARNED_ALL = "designed", "learned", "none", "learned-all"
SETS = (DESIGNED, LEARNED, NONE)
SUPPORT = {LEARNED: 2, LEARNED_ALL: 1}
# Which C stands where none is chosen, and by how small a gap training stops.
C, TOLERANCE = 2.0**-5, 0.02
# How many test sentences are solved by integer program in every form, and how large they may be.
CHECKED, LARGEST_CHECKED = 10, 5

_CONSTRAINT_CODE = (
    "lcons_core",
    "lcons_tasks.experiments.entity_relation._constraints",
    "lcons_tasks.data._passage",
)
_MODEL_CODE = (
    "lcons_decode.kernels",
    "lcons_decode._relations",
    "lcons_tasks.models.phi._candidates",
    "lcons_tasks.data._passage",
    "lcons_tasks.models._relation_model",
    "lcons_tasks.data._passage",
    "lcons_tasks.models._relation_svm",
    "lcons_tasks.models._model_file",
    "lcons_tasks.models._structured_svm",
    "lcons_tasks.models.phi._tokens",
)
_ANSWER_CODE = (
    *_CONSTRAINT_CODE,
    *_MODEL_CODE,
    "lcons_decode.ilp",
    "lcons_tasks.experiments.entity_relation._cell",
    "lcons_tasks.experiments.entity_relation._corpus",
    "lcons_tasks.experiments.entity_relation._measures",
    "lcons_tasks.experiments.engine._choice",
    "lcons_tasks.stats",
)


@dataclass(frozen=True)
class Cell:
    """A split of a corpus, how much of its training data, which C to choose from, and how to train."""

    corpus: str
    split: str
    share: float = 1.0
    grid: tuple[float, ...] = (C,)
    miss: float = MISS
    passes: int = PASSES

    @property
    def seeded(self) -> bool:
        """Whether the split was drawn by a seed, not published."""
        return self.split.isdecimal()

    def settings(self, C: float) -> SvmSettings:
        """How the model is trained."""
        return SvmSettings(C=C, passes=self.passes, tolerance=TOLERANCE)


@dataclass(frozen=True, eq=False)
class Filled:
    """A cell's figures (plain data); the counts (test passages, rows, 3) and answers of (trained, tested)
    sets; `test` are the indices of the test passages in the corpus."""

    cell: Cell
    figures: Mapping[str, Any]
    counts: Mapping[tuple[str, str], Ints]
    answers: Mapping[tuple[str, str], list[Answer]]
    test: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Parts:
    """The passages of a cell: training, its two inner parts, and test."""

    train: list[Labelled]
    inner: list[Labelled]
    dev: list[Labelled]
    test: list[Labelled]


@lru_cache(maxsize=2)
def shared(name: str) -> ErCorpus:
    """The corpus, read once a process."""
    return load_corpus(name)


def cut(cell: Cell) -> Split:
    """The split of a cell."""
    return split(shared(cell.corpus), cell.split).part(cell.share)


def parts(cell: Cell) -> Parts:
    """The passages of a cell."""
    chosen, passages = cut(cell), shared(cell.corpus).passages
    groups = (chosen.train, *chosen.inner, chosen.test)
    return Parts(*([passages[i] for i in group] for group in groups))


def constraints(cell: Cell, name: str, stages: Stages) -> dict[str, LearnedConstraint]:
    """A set of constraints by name, learned or read."""
    if name not in SUPPORT:
        return designed() if name == DESIGNED else {}
    train = parts(cell).train
    inputs = {"train": hash_passages(train), "support": SUPPORT[name]}

    def make(folder: Path) -> None:
        for feature, constraint in learned(train, SUPPORT[name]).items():
            save(constraint, folder / f"{feature}.json")

    def read(folder: Path) -> dict[str, LearnedConstraint]:
        return {feature: load(folder / f"{feature}.json") for feature in designed()}

    return stages.keep("er-constraints", inputs, _CONSTRAINT_CODE, make, read)


def rules(cell: Cell, name: str, stages: Stages) -> RelationRules:
    """A set of constraints by name, as the set of what it allows."""
    return rules_of(constraints(cell, name, stages))


def trained(
    cell: Cell, train: Sequence[Labelled], allowed: RelationRules, C: float, stages: Stages, tell: Tell
) -> tuple[RelationModel, dict[str, Any]]:
    """A model, trained or read, and how its training went."""
    settings = cell.settings(C)
    inputs = {
        "train": hash_passages(train),
        "allowed": hashlib.sha256(np.packbits(allowed.allowed).tobytes()).hexdigest(),
        "settings": [C, cell.passes, TOLERANCE, cell.miss],
    }

    def progress(at: Checked) -> None:
        tell(at.passes / cell.passes, f"training, C = {C:g}: gap {at.gap:.3f}")

    def make(folder: Path) -> None:
        model, done = train_relations(train, allowed, settings, cell.miss, progress)
        model.save(folder / "model.npz")
        last = done.history[-1]
        told = {"passes": last.passes, "objective": last.objective, "gap": last.gap}
        (folder / "training.json").write_text(json.dumps(told), encoding="utf-8")

    def read(folder: Path) -> tuple[RelationModel, dict[str, Any]]:
        told = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return load_model(folder / "model.npz"), told

    return stages.keep("er-svm", inputs, _MODEL_CODE, make, read)


def fill(cell: Cell, stages: Stages, tell: Tell) -> Filled:
    """The cell's figures, from the stages that are kept or computed now."""
    settings = [cell.grid, cell.miss, cell.passes, TOLERANCE]
    inputs = {
        "corpus": shared(cell.corpus).sha256,
        "split": [hash_passages(group) for group in (parts(cell).train, parts(cell).test)],
        "share": cell.share,
        "settings": settings,
    }

    def make(folder: Path) -> None:
        _answer(cell, stages, folder, tell)

    return stages.keep("er", inputs, _ANSWER_CODE, make, lambda folder: _read(cell, folder))


def final_model(
    cell: Cell, name: str, stages: Stages, tell: Tell
) -> tuple[RelationModel, dict[str, Any], list[dict[str, float]]]:
    """The model trained under a set of constraints with the C that dev chooses, how training went, and the
    dev figures of every C."""
    own = parts(cell)
    allowed = rules(cell, name, stages)
    default = cell.grid.index(C) if C in cell.grid else 0
    chosen, found = default, []
    if len(cell.grid) > 1:
        for k, value in enumerate(cell.grid):
            tell(k / (len(cell.grid) + 1), "choosing C")
            model, _ = trained(cell, own.inner, allowed, value, stages, lambda _, what: None)
            found.append(counts(own.dev, predict(model, own.dev, allowed)))
        chosen = choose([gains_over(one, found[default]) for one in found], default)
    model, told = trained(cell, own.train, allowed, cell.grid[chosen], stages, tell)
    tried = [{"C": value, **figures(one)} for value, one in zip(cell.grid, found, strict=False)]
    return model, {**told, "C": cell.grid[chosen]}, tried


def predict(model: RelationModel, passages: Sequence[Labelled], allowed: RelationRules) -> list[Answer]:
    """The best labels of every passage under constraints."""
    found = (decode_relations(model.scores(one.passage), allowed) for one in passages)
    return [(one.entities, one.relations) for one in found]


def _answer(cell: Cell, stages: Stages, folder: Path, tell: Tell) -> None:
    """Fills the stage's folder."""
    own = parts(cell)
    sets = {name: constraints(cell, name, stages) for name in (*SETS, LEARNED_ALL)}
    allowed = {name: rules_of(one) for name, one in sets.items()}
    training: dict[str, Any] = {}
    answers: dict[tuple[str, str], list[Answer]] = {}
    checked: dict[str, Any] = {}
    names = (*SETS, LEARNED_ALL)
    for k, name in enumerate(names):

        def told(share: float, what: str, k: int = k, name: str = name) -> None:
            tell((k + share) / len(names), f"{name}: {what}")

        model, went, tried = final_model(cell, name, stages, told)
        training[name] = {**went, "tried": tried, "parameters": model.parameters}
        for other in SETS if name in SETS else (name,):
            answers[name, other] = predict(model, own.test, allowed[other])
        if name == LEARNED and cell.share == 1:
            checked = _check_by_ilp(model, own.test, sets[name], allowed[name])
    found = {pair: counts(own.test, answer) for pair, answer in answers.items()}
    result = {
        "sentences": {"train": len(own.train), "test": len(own.test)},
        "training": training,
        "certificates": {
            name: {feature: one.to_dict() for feature, one in certificates(sets[name]).items()}
            for name in (LEARNED, LEARNED_ALL)
        },
        "grid": {"|".join(pair): {**figures(one), "labels": by_label(one)} for pair, one in found.items()},
        "broken": _broken(answers[NONE, NONE], rules_of(designed())),
        "differ": {
            name: sum(a != b for a, b in zip(answers[DESIGNED, DESIGNED], answers[name, name], strict=True))
            for name in (LEARNED, LEARNED_ALL)
        },
        "ilp": checked,
    }
    tallies: dict[str, Any] = {"|".join(pair): one.astype(np.int16) for pair, one in found.items()}
    np.savez_compressed(folder / "counts.npz", **tallies)
    told_answers = {"|".join(pair): list(map(_plain, answer)) for pair, answer in answers.items()}
    (folder / "answers.json").write_text(json.dumps(told_answers), encoding="utf-8")
    (folder / "figures.json").write_text(json.dumps(result), encoding="utf-8")


def _check_by_ilp(
    model: RelationModel, test: Sequence[Labelled], own: Constraints, allowed: RelationRules
) -> dict[str, Any]:
    """Whether python-mip finds the same best scores with Theorem-1 rows, the lifted form and cuts."""
    small = [one for one in test if len(one.passage.spans) <= LARGEST_CHECKED][:CHECKED]
    agree = dict.fromkeys(map(str, Form), 0)
    for one in small:
        scores = model.scores(one.passage)
        best = decode_relations(scores, allowed).score
        for form in Form:
            found = decode_relations_ilp(scores, own.values(), form=form)
            agree[str(form)] += bool(abs(found.score - best) <= 1e-6 * (1 + abs(best)))
    return {"sentences": len(small), "agree": agree}


def _broken(answers: Sequence[Answer], allowed: RelationRules) -> dict[str, int]:
    """How many pairs of candidates, and sentences, break a constraint."""
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


def _plain(answer: Answer) -> list[Any]:
    entities, relations = answer
    return [list(entities), [[i, j, label] for (i, j), label in sorted(relations.items())]]


def _read(cell: Cell, folder: Path) -> Filled:
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    with np.load(folder / "counts.npz", allow_pickle=False) as arrays:
        tallies = {_pair(name): arrays[name].astype(np.int64) for name in arrays.files}
    told = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    answers: dict[tuple[str, str], list[Answer]] = {
        _pair(name): [(tuple(e), {(i, j): label for i, j, label in r}) for e, r in answer]
        for name, answer in told.items()
    }
    return Filled(cell, found, tallies, answers, cut(cell).test)


def _pair(name: str) -> tuple[str, str]:
    first, _, second = name.partition("|")
    return first, second
