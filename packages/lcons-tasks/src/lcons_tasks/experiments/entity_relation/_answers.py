"""One cell of the experiment, a split and its training data: learn, train and predict.

Constraint sets are `designed`, `learned` (from combinations that at least two pairs of candidates show),
`learned-all` (from all combinations that occur), `none`, and a baseline without learning: `table` allows the
same combinations as they were seen. The model is trained under each set; models of `designed`, `learned` and
`none` predict under each of these three sets, the others under their own.

Paper: Sec. 4, Table 1. Not in the paper: the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from lcons_core import LearnedConstraint, explain, simplify, to_inequalities
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.entity_relation._constraints import (
    Constraints,
    certificates,
    designed,
    learned,
    table,
)
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.experiments.entity_relation._measures import broken_pairs, changed, counts
from lcons_tasks.experiments.entity_relation._model import (
    PASSES,
    TOLERANCE,
    Answer,
    C,
    clusters,
    predict,
    vectors,
)
from lcons_tasks.models._relation_model import RelationModel, rules_of
from lcons_tasks.models._relation_svm import encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.stats import f1

SETS = DESIGNED, LEARNED, NONE = "designed", "learned", "none"
TABLE, LEARNED_ALL = "table", "learned-all"
SUPPORT = {LEARNED: 2, LEARNED_ALL: 1}


def row_of(trained: str, tested: str) -> str:
    """The name of the row of a model that is trained under one set and tested under another."""
    return f"{trained} / {tested}"


WITHOUT, WITHIN, SEEN = row_of(NONE, NONE), row_of(LEARNED, LEARNED), row_of(TABLE, TABLE)


@dataclass(frozen=True)
class Cell:
    """A seeded split of a corpus, the number of its training sentences (0: all), and settings of the
    training. The report shows the changes and constraints of the `first` cell."""

    corpus: str
    split: int
    size: int = 0
    C: float = C
    passes: int = PASSES
    first: bool = False

    def __str__(self) -> str:
        return f"split {self.split}" + f", {self.size} sentences" * bool(self.size)

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its files."""
        return f"split-{self.split}-" + (f"{self.size}sentences" if self.size else "100percent")

    @property
    def settings(self) -> SvmSettings:
        """The settings of the SVM."""
        return SvmSettings(C=self.C, passes=self.passes, tolerance=TOLERANCE)

    def parts(self) -> tuple[list[Labelled], list[Labelled]]:
        """The training and the test passages."""
        corpus = load_corpus(self.corpus)
        train, test = corpus.split(self.split, self.size)
        return [corpus.passages[i] for i in train], [corpus.passages[i] for i in test]

    def answers(self, kept: Stages) -> Answers:
        """The record and the answers, computed now or read from their stage."""
        words = vectors()
        inputs = {
            "cell": asdict(self),
            "corpus": load_corpus(self.corpus).sha256,
            "vectors": None if words is None else words.sha256,
        }
        return kept.keep("er", inputs, partial(_answers, self, kept))


@dataclass(frozen=True, eq=False)
class Answers:
    """A cell's record, its answers on test passages without and within learned constraints, the learned
    constraints by set, and in the first cell the model that is trained under them."""

    record: Record
    without: list[Answer]
    within: list[Answer]
    learned: Mapping[str, Constraints]
    model: RelationModel | None


def _answers(cell: Cell, kept: Stages) -> Answers:
    """The answers of a cell."""
    train, test = cell.parts()
    of_support = {name: learned(train, support) for name, support in SUPPORT.items()}
    sets = {DESIGNED: designed(), LEARNED: of_support[LEARNED], NONE: {}, TABLE: table(train)}
    allowed = {name: rules_of(constraints) for name, constraints in (sets | of_support).items()}
    encoding = encode_passages(train, clusters(kept))
    training: dict[str, Any] = {}
    answers: dict[str, list[Answer]] = {}
    models: dict[bytes, Any] = {}
    for name, rules in allowed.items():
        # Sets that allow the same combinations have the same model.
        key = rules.allowed.tobytes()
        if key not in models:
            model, trained = train_relations(encoding, rules, cell.settings)
            scores = [model.scores(passage.passage) for passage in test]
            models[key] = model, {**asdict(trained.history[-1]), "C": cell.C}, scores
        _, training[name], scores = models[key]
        for tested in SETS if name in SETS else (name,):
            answers[row_of(name, tested)] = predict(scores, allowed[tested])
    broken = [broken_pairs(answer, allowed[DESIGNED]) for answer in answers[WITHOUT]]
    best = answers[row_of(DESIGNED, DESIGNED)]
    facts: dict[str, Any] = {
        "sentences": {"train": len(train), "test": len(test)},
        "training": training,
        "certificates": {
            name: {feature: comparison.to_dict() for feature, comparison in certificates(constraints).items()}
            for name, constraints in of_support.items()
        },
        "broken": {"pairs": sum(broken), "sentences": sum(map(bool, broken))},
        "differ": {
            name: sum(a != b for a, b in zip(best, answers[row_of(name, name)], strict=True))
            for name in SUPPORT
        },
    }
    without, within, constraints = answers[WITHOUT], answers[WITHIN], of_support[LEARNED]
    if cell.first:
        facts["examples"] = changed(test, without, within, constraints)
        facts["learned"] = {name: _in_rows(constraint) for name, constraint in constraints.items()}
    final = models[allowed[LEARNED].allowed.tobytes()][0] if cell.first else None
    return Answers(_record(cell, facts, test, answers), without, within, of_support, final)


def _record(
    cell: Cell, facts: Mapping[str, Any], test: Sequence[Labelled], answers: Mapping[str, list[Answer]]
) -> Record:
    corpus = load_corpus(cell.corpus)
    counted = {row: counts(test, answer) for row, answer in answers.items()}
    rows = {
        row: {measure: float(f1(array.sum(0))) for measure, array in by_measure.items()}
        for row, by_measure in counted.items()
    }
    at = {"split": cell.split, "size": facts["sentences"]["train"]}
    units = tuple(corpus.split(cell.split)[1])
    about = {
        "name": corpus.name,
        "what": corpus.what,
        "sha256": corpus.sha256,
        "sentences": len(corpus.passages),
    }
    filled = RecordCell(cell.name, at, rows, facts, rows_with_counts(counted, list(rows)), units)
    return Record((filled,), {"corpus": about})


def _in_rows(constraint: LearnedConstraint) -> dict[str, Any]:
    """The rows of Theorem 1 as in the paper's tables, the rows that `simplify` keeps, and the rules in
    words."""
    rows = to_inequalities(constraint.network)
    return {
        "columns": [" ".join(column) for column in constraint.space.columns],
        "rows": [
            [*row, bias] for row, bias in zip(rows.coefficients.tolist(), rows.bias.tolist(), strict=True)
        ],
        "kept": [k + 1 for k in simplify(constraint).kept.tolist()],
        "rules": [str(rule) for rule in explain(constraint).rules],
    }
