"""Cells of labelled sequences: a tagger, constraints from the same sentences, and answers on test sentences.

    accuracy = right labels / labels            F1 = 2 right spans / (predicted spans + gold spans)

Spans are those of conlleval, and for strict F1 those of seqeval's strict mode for IOB2.

Shared by the tasks that label sequences: the protocol of a cell, the work that cells share, the record of
answers, and the files of a run. Each part is a separate stage (`_kept.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lcons_core import LearnedConstraint, Recipe, save
from lcons_core._types import Bools
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._jobs import Piece, Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._learned import learned
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.engine._rows import ACCURACY as ACCURACY
from lcons_tasks.experiments.engine._rows import CHOSEN as CHOSEN
from lcons_tasks.experiments.engine._rows import CRF, SEEN, UNSEEN, TableRow, compile_kernels, recipes_of
from lcons_tasks.experiments.engine._rows import EXACT as EXACT
from lcons_tasks.experiments.engine._window_crf import train_window_crf
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.report._answer_columns import write_predictions
from lcons_tasks.stats import chunks, counted_spans, f1, strict_chunks

# Before the name of F1 where a span needs a B at its start.
STRICT = "strict"


class LabellingCell(Protocol):
    """A cell with a base model and rows to fill; `sample` is equal for equal training data, and `place` is
    the name of the folder of its constraints."""

    @property
    def base(self) -> Any: ...
    @property
    def rows(self) -> tuple[TableRow, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def sample(self) -> Hashable: ...
    @property
    def name(self) -> str: ...
    @property
    def place(self) -> str: ...
    def cost(self, recipe: Recipe | None) -> float: ...
    def train(self, kept: Stages) -> tuple[Sentence, ...]: ...
    def test(self, kept: Stages) -> tuple[Sentence, ...]: ...
    def model(self, kept: Stages, tell: Tell) -> Tagger: ...


def constraint(cell: LabellingCell, recipe: Recipe, kept: Stages) -> LearnedConstraint:
    """The constraint of a recipe in a cell, learned now or read from its stage."""
    return learned(recipe, cell.train(kept), cell.seed, kept)


def constraints(
    cell: LabellingCell, recipes: Sequence[Recipe], kept: Stages, tell: Tell | None = None
) -> dict[str, LearnedConstraint]:
    """The constraints of recipes in a cell, by name."""
    found = {}
    for i, recipe in enumerate(recipes):
        if tell is not None:
            tell(i / len(recipes), f"learning {recipe.name}")
        found[recipe.name] = constraint(cell, recipe, kept)
    return found


def shared_work(cells: Sequence[LabellingCell]) -> list[Piece]:
    """Every base model, constraint and CRF of windows that the cells need, once each, the longest first.
    Before them, the kernels of the decoders are compiled, so that several processes do not compile the same
    kernels."""
    made: dict[Hashable, tuple[float, Piece]] = {}
    for cell in cells:
        train = partial(_train, cell)
        made[cell.sample, cell.seed, cell.base] = cell.cost(None), Piece(f"{cell.base.name} ({cell})", train)
    for cell in cells:
        for recipe in recipes_of(cell.rows):
            learn = partial(_learn, cell, recipe)
            piece = Piece(f"{recipe.name} ({cell})", learn)
            made[cell.sample, cell.seed, recipe] = cell.cost(recipe), piece
        for row in cell.rows:
            if row.how == CRF:
                piece = Piece(f"{row.name} ({cell})", partial(_train_crf, cell, row))
                made[cell.sample, row] = 2 * sum(map(cell.cost, row.recipes)), piece
    longest_first = sorted(made.values(), key=lambda work: -work[0])
    return [Piece("compiling decoders", _compile), *(piece for _, piece in longest_first)]


def _compile(kept: Stages, tell: Tell) -> None:
    compile_kernels()


def _train(cell: LabellingCell, kept: Stages, tell: Tell) -> None:
    cell.model(kept, tell)


def _learn(cell: LabellingCell, recipe: Recipe, kept: Stages, tell: Tell) -> None:
    constraint(cell, recipe, kept)


def _train_crf(cell: LabellingCell, row: TableRow, kept: Stages, tell: Tell) -> None:
    train_window_crf(row.recipes, cell.train(kept), kept)


@dataclass(frozen=True, eq=False)
class Part:
    """Sentences with the model's scores, and their gold labels as indices of the model's labels (-1: unknown
    to the model)."""

    sentences: Sequence[Sentence]
    labels: tuple[str, ...]
    batch: ChainBatch
    xs: list[dict[str, tuple[str, ...]]]
    gold: Ints

    @classmethod
    def of(cls, model: Tagger, sentences: Sequence[Sentence]) -> Part:
        xs = [sentence.x for sentence in sentences]
        index = {label: i for i, label in enumerate(model.labels)}
        gold = [index.get(label, -1) for sentence in sentences for label in sentence.labels]
        return cls(sentences, tuple(model.labels), model.scores(xs), xs, np.array(gold, dtype=np.int64))

    @property
    def lengths(self) -> Ints:
        """(sentences,) the number of tokens."""
        return np.diff(self.batch.offsets)

    def right(self, found: Ints) -> Ints:
        """(sentences,) the number of correct labels."""
        return self.summed(found == self.gold)

    def summed(self, tokens: Bools) -> Ints:
        """(sentences,) the number of tokens for which a statement is true."""
        sums = np.concatenate([[0], np.cumsum(tokens)])
        counts: Ints = sums[self.batch.offsets[1:]] - sums[self.batch.offsets[:-1]]
        return counts

    def texts(self, found: Ints) -> list[tuple[str, ...]]:
        """The labels of each sentence."""
        names = [self.labels[i] for i in found]
        return [tuple(names[a:b]) for a, b in pairwise(self.batch.offsets)]


def percent_of(right: Ints, total: Ints) -> float:
    """The percentage of correct ones."""
    return float(100 * right.sum() / total.sum())


@dataclass(frozen=True, eq=False)
class Answers:
    """A cell's record, and the predicted labels of the test sentences by row."""

    record: Record
    texts: Mapping[str, list[tuple[str, ...]]]


def write_answers(
    folder: Path,
    cell: LabellingCell,
    at: Mapping[str, Coordinate],
    facts: Mapping[str, Any],
    test: Part,
    found: Mapping[str, Ints],
    more: Mapping[str, Mapping[str, float]],
    spans: str,
    as_iob: Callable[[Sequence[str]], Sequence[str]],
    units: Sequence[int],
    unseen: Bools,
) -> None:
    """Writes the answers and their record: accuracy, also of the tokens that are `unseen` and of the others,
    F1 of `spans` and `more` measures by row."""
    spans_of: dict[str, Callable[[Sequence[str]], set[Any]]] = {
        spans: lambda y: set(chunks(as_iob(y))),
        f"{STRICT} {spans}": lambda y: strict_chunks(as_iob(y)),
    }
    gold = {name: [of(sentence.labels) for sentence in test.sentences] for name, of in spans_of.items()}
    rows: dict[str, dict[str, float]] = {}
    counts: dict[str, dict[str, Ints]] = {}
    for row, answer in found.items():
        right, texts = test.right(answer), test.texts(answer)
        rows[row] = {ACCURACY: percent_of(right, test.lengths)}
        counts[row] = {ACCURACY: np.stack([right, test.lengths], axis=1)}
        for name, of in spans_of.items():
            pairs = zip(gold[name], map(of, texts), strict=True)
            tally = np.array([counted_spans(*pair) for pair in pairs], dtype=np.int64).reshape(-1, 3)
            rows[row][name] = float(f1(tally.sum(0)))
            counts[row][name] = tally
        rows[row] |= more.get(row, {})
        for measure, mask in ((UNSEEN, unseen), (SEEN, ~unseen)):
            split = np.stack([test.summed((answer == test.gold) & mask), test.summed(mask)], axis=1)
            if split[:, 1].any():
                rows[row][measure], counts[row][measure] = percent_of(split[:, 0], split[:, 1]), split
    own = RecordCell(cell.name, at, rows, facts, rows_with_counts(counts, list(rows)), tuple(units))
    Record((own,)).save(folder)
    arrays: dict[str, Any] = {row: answer.astype(np.int16) for row, answer in found.items()}
    np.savez_compressed(folder / "predictions.npz", labels=np.array(test.labels), **arrays)


def read_answers(folder: Path, lengths: Sequence[int]) -> Answers:
    """The answers that `write_answers` wrote for test sentences of these lengths."""
    offsets = np.cumsum([0, *lengths]).tolist()
    with np.load(folder / "predictions.npz", allow_pickle=False) as arrays:
        labels = arrays["labels"].tolist()
        found = {row: [labels[i] for i in arrays[row]] for row in arrays.files if row != "labels"}
    texts = {row: [tuple(names[a:b]) for a, b in pairwise(offsets)] for row, names in found.items()}
    return Answers(Record.load(folder), texts)


def facts_of(learnt: Mapping[str, LearnedConstraint], held_out: Sequence[Sentence]) -> dict[str, Any]:
    """The size of each constraint, and the percentage of held-out gold that it rejects."""
    return {
        name: {"parameters": size_of(one), "rejected gold": rejected_gold(one, held_out)}
        for name, one in learnt.items()
    }


def rejected_gold(constraint: LearnedConstraint, sentences: Sequence[Sentence]) -> dict[str, float]:
    """The percentages of parts and of sentences of held-out gold that a constraint rejects. `unknown` is the
    number of sentences that are left out because the constraint does not know one of their labels."""
    known = set(constraint.labels)
    parts = broken = sentences_broken = kept = 0
    feature = constraint.feature
    assert feature is not None
    for sentence in sentences:
        if not known.issuperset(sentence.labels):
            continue
        verdicts = constraint.network.accepts(feature.psi(sentence.instance))
        kept += 1
        parts += len(verdicts)
        broken += int((~verdicts).sum())
        sentences_broken += bool((~verdicts).any())
    return {
        "parts": 100 * broken / max(parts, 1),
        "sentences": 100 * sentences_broken / max(kept, 1),
        "unknown": len(sentences) - kept,
    }


def size_of(learned: LearnedConstraint) -> int:
    """The number of parameters of a constraint's networks."""
    return sum(part.W.size + part.b.size for part in learned.network.parts)


def leave_files(
    folder: Path, cells: Sequence[LabellingCell], answers: Callable[[Any], Answers], kept: Stages
) -> None:
    """Writes the constraints and the predictions of all cells."""
    with replacing_folder(folder / "constraints") as made:
        for cell in cells:
            (made / cell.place).mkdir(parents=True, exist_ok=True)
            for name, one in constraints(cell, recipes_of(cell.rows), kept).items():
                save(one, made / cell.place / f"{name}.json")
    with replacing_folder(folder / "predictions") as made:
        for cell in cells:
            texts = answers(cell).texts
            write_predictions(made / f"{cell.name}.txt", cell.test(kept), texts[EXACT], texts[CHOSEN])
