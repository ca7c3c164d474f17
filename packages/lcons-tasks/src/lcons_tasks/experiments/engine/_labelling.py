"""Experiments that label sequences: a tagger, constraints from the same sentences, answers on test sentences.

    accuracy = right labels / labels            F1 = 2 right spans / (predicted spans + gold spans)

Spans are those of conlleval. A cell trains, learns, chooses weights on dev and decodes the test sentences in
every row. Models, constraints and answers are stages (`_kept.py`).

With few dev sentences, the best of many settings is mostly luck. So the default is replaced only if the best
setting beats it by more than one standard error of the paired difference over dev sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from operator import eq
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lcons_core import Instance, LearnedConstraint, Recipe, save
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.engine._rows import (
    ACCURACY,
    CHOSEN,
    EXACT,
    TableRow,
    WindowTable,
    compile_kernels,
    decode_windows,
    predict,
    recipes_of,
    uses,
)
from lcons_tasks.experiments.engine._run import Experiment, O
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.report._change import reason
from lcons_tasks.report._predictions import write_predictions
from lcons_tasks.stats import count_right, f1

WHOLE = "whole"
# Examples of changes: shorter sentences show little, longer ones take long to read.
SHORTEST, LONGEST, EXAMPLES = 8, 25, 5

Parts = tuple[Sequence[Sentence], Sequence[Sentence], Sequence[Sentence]]
# A row and the weights of its soft constraints.
Weights = tuple[float, ...]
Setting = tuple[TableRow, Weights]
# The correct labels per dev sentence under a setting.
Right = Callable[[TableRow, Weights], Ints]

FACTORS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


class LabellingCell(Protocol):
    """A cell with a base model, rows to fill and a beam; subclasses are frozen dataclasses. The report shows
    the changes of the `first` cell. `spans` is the name of F1, `coordinates` those besides the base model."""

    base: Any
    rows: tuple[TableRow, ...]
    seed: int
    beam: int
    first: bool
    spans: ClassVar[str]
    coordinates: ClassVar[tuple[str, ...]] = ("seed",)

    @staticmethod
    def as_iob(labels: Sequence[str]) -> Sequence[str]:
        """The labels of a sentence as spans."""
        return labels

    @property
    def place(self) -> str:
        """The name of the folder of its constraints; equal for equal training data and seeds."""

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its file of predictions."""
        return f"{self.base.name}-{self.place}"

    @property
    def at(self) -> dict[str, Coordinate]:
        """Its coordinates in the record."""
        return {"base": self.base.name, **{name: getattr(self, name) for name in self.coordinates}}

    def parts(self, kept: Stages) -> Parts:
        """Training, dev and test sentences."""

    def units(self, kept: Stages) -> Sequence[int]:
        """The numbers of its test sentences."""
        return range(len(self.parts(kept)[2]))

    def model(self, kept: Stages) -> Tagger:
        """The cell's base model, trained now or read from its stage."""

    def choices(self, right: Right) -> dict[str, Setting]:
        """The setting of every row, and of the row `CHOSEN`, that is chosen on dev."""

    def facts(self, kept: Stages) -> dict[str, Any]:
        """Facts of the cell for the report."""

    def about(self, kept: Stages) -> dict[str, Any]:
        """Facts that all cells share, such as the corpus."""

    def constraints(self, recipes: Iterable[Recipe], kept: Stages) -> dict[str, LearnedConstraint]:
        """The constraints of recipes by name, learned now or read from their stages."""
        train = self.parts(kept)[0]
        constraints = {}
        for recipe in recipes:
            inputs = {"train": hash_sentences(train), "seed": self.seed, "recipe": recipe.to_dict()}
            learn = replace(recipe, seed=self.seed).learn
            make = partial(learn, [sentence.instance for sentence in train])
            constraints[recipe.name] = kept.keep("constraint", inputs, make)
        return constraints

    def answers(self, kept: Stages) -> Answers:
        """The cell's record and answers, computed now or read from their stage."""
        inputs = {
            "parts": [hash_sentences(part) for part in self.parts(kept)],
            "name": self.name,
            "seed": self.seed,
            "base": self.base.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
            "beam": self.beam,
            "first": self.first,
            "about": self.about(kept),
        }
        return kept.keep("answers", inputs, partial(_answers, self, kept))

    def tagger(self, setting: Setting, kept: Stages) -> ConstrainedTagger:
        """Its base model under the constraints of a row."""
        row, weights = setting
        chosen = uses(row, weights, self.constraints(row.recipes, kept))
        decoder = row.how if row.how in ("viterbi", "beam") else "exact"
        return ConstrainedTagger(self.model(kept), tuple(chosen), decoder, self.beam)


Cell = TypeVar("Cell", bound=LabellingCell)


class LabellingExperiment(Experiment[O, Cell]):
    """An experiment of labelled sequences."""

    def shared(self, options: O, kept: Stages) -> Sequence[tuple[str, Callable[[], object]]]:
        """Every base model and constraint that the cells need, once each. The kernels of the decoders are
        compiled here, so that several processes do not compile the same ones."""
        compile_kernels()
        cells = self.cells(options)
        work: dict[Hashable, tuple[str, Callable[[], object]]] = {}
        for cell in cells:
            work[cell.name] = f"{cell.base.name} ({cell})", partial(cell.model, kept)
        for cell in cells:
            for recipe in recipes_of(cell.rows):
                learn_one = partial(cell.constraints, (recipe,), kept)
                work[cell.place, recipe] = f"{recipe.name} ({cell})", learn_one
        return list(work.values())

    def fill(self, cell: Cell, kept: Stages) -> Record:
        return Record(cell.answers(kept).record.cells, cell.about(kept))

    def leave(self, folder: Path, options: O, record: Record, kept: Stages) -> None:
        """Writes the constraints and the predictions of all cells."""
        cells = self.cells(options)
        with replacing_folder(folder / "constraints") as constraints:
            for cell in cells:
                (constraints / cell.place).mkdir(parents=True, exist_ok=True)
                for name, constraint in cell.constraints(recipes_of(cell.rows), kept).items():
                    save(constraint, constraints / cell.place / f"{name}.json")
        with replacing_folder(folder / "predictions") as predictions:
            for cell in cells:
                texts, path = cell.answers(kept).texts, predictions / f"{cell.name}.txt"
                write_predictions(path, cell.parts(kept)[2], texts[EXACT], texts[CHOSEN])


@dataclass(frozen=True, eq=False)
class Part:
    """The model's scores of sentences, their columns, and their gold labels as indices of the model's labels
    (-1: unknown to the model)."""

    batch: ChainBatch
    xs: list[dict[str, tuple[str, ...]]]
    gold: Ints

    @classmethod
    def of(cls, model: Tagger, sentences: Sequence[Sentence]) -> Part:
        xs = [sentence.x for sentence in sentences]
        index = {label: i for i, label in enumerate(model.labels)}
        gold = [index.get(label, -1) for sentence in sentences for label in sentence.labels]
        return cls(model.scores(xs), xs, np.array(gold, dtype=np.int64))

    def right(self, answer: Ints) -> Ints:
        """(sentences,) the number of correct labels."""
        sums = np.concatenate([[0], np.cumsum(answer == self.gold)])
        return np.asarray(np.diff(sums[self.batch.offsets]))

    def texts(self, answer: Ints) -> list[tuple[str, ...]]:
        """The labels of each sentence."""
        names = [self.batch.labels[i] for i in answer]
        return [tuple(names[a:b]) for a, b in pairwise(self.batch.offsets)]


@dataclass(frozen=True, eq=False)
class Answers:
    """A cell's record, the predicted labels of the test sentences by row, and the setting `CHOSEN`."""

    record: Record
    texts: Mapping[str, list[tuple[str, ...]]]
    chosen: Setting


def _answers(cell: LabellingCell, kept: Stages) -> Answers:
    """The answers in all rows, under the settings that are chosen on dev, and their record."""
    train, dev_sentences, test_sentences = cell.parts(kept)
    model = cell.model(kept)
    constraints = cell.constraints(recipes_of(cell.rows), kept)
    tables = {
        row.name: [WindowTable.of(row.how, recipe, train) for recipe in row.recipes]
        for row in cell.rows
        if row.is_baseline
    }
    dev, test = Part.of(model, dev_sentences), Part.of(model, test_sentences)

    @cache
    def windows(row: TableRow, part: Part) -> list[tuple[WindowTable, Ints]]:
        return [(table, table.rows(part.xs)) for table in tables[row.name]]

    @cache
    def predicted(row: TableRow, weights: Weights, part: Part) -> Ints:
        if row.is_baseline:
            return decode_windows(part.batch, windows(row, part), weights)
        chosen = uses(row, weights, constraints, model.labels)
        return predict(row, chosen, part.batch, part.xs, cell.beam)

    choices = cell.choices(lambda row, weights: dev.right(predicted(row, weights, dev)))
    lengths = np.diff(test.batch.offsets)
    gold = [cell.as_iob(sentence.labels) for sentence in test_sentences]
    rows: dict[str, dict[str, float]] = {}
    counts: dict[str, dict[str, Ints]] = {}
    texts = {}
    for name, setting in choices.items():
        answer = predicted(*setting, test)
        right, texts[name] = test.right(answer), test.texts(answer)
        spans = count_right(gold, [cell.as_iob(labels) for labels in texts[name]])
        counts[name] = {ACCURACY: np.stack([right, lengths], axis=1), cell.spans: spans}
        rows[name] = {
            ACCURACY: float(100 * right.sum() / lengths.sum()),
            cell.spans: float(f1(spans.sum(0))),
            WHOLE: float(100 * (right == lengths).mean()),
        }
    facts = {
        "model": cell.base.to_dict(),
        "constraints": list(constraints),
        "choices": {name: {"row": row.name, "weights": weights} for name, (row, weights) in choices.items()},
        **cell.facts(kept),
    }
    if cell.first:
        used = {recipe.name: constraints[recipe.name] for recipe in choices[CHOSEN][0].recipes}
        facts["examples"] = examples(cell, test_sentences, texts[EXACT], texts[CHOSEN], used)
    arrays = rows_with_counts(counts, list(rows))
    record = RecordCell(cell.name, cell.at, rows, facts, arrays, tuple(cell.units(kept)))
    return Answers(Record((record,)), texts, choices[CHOSEN])


def choose(right: Sequence[ArrayLike], default: int) -> int:
    """The index of the chosen setting; `right` has one array per setting: correct labels per dev sentence.

    >>> choose([[3, 4], [3, 3]], default=1), choose([[5, 5, 4], [3, 3, 3]], default=1)
    (1, 0)
    """
    counts = [np.asarray(labels, dtype=np.float64) for labels in right]
    best = int(np.argmax([labels.sum() for labels in counts]))
    gain = counts[best] - counts[default]
    error = np.sqrt(len(gain)) * gain.std(ddof=1) if len(gain) > 1 else np.inf
    return best if gain.sum() > error else default


def choose_weights(right: Callable[[Weights], ArrayLike], default: Weights) -> Weights:
    """The default weights times chosen factors: first one factor for all weights, then one per weight;
    `right(weights)` returns the number of correct labels per dev sentence.

    >>> choose_weights(lambda weights: [10 - abs(weights[0] - 2)] * 3, (1.0, 1.0))
    (2.0, 2.0)
    """
    chosen = default
    for i in (None, *range(len(default) if len(default) > 1 else 0)):
        moves = [
            tuple(factor * w if i in (None, k) else chosen[k] for k, w in enumerate(default))
            for factor in FACTORS
        ]
        settings = list(dict.fromkeys((chosen, *moves)))
        chosen = settings[choose([right(weights) for weights in settings], 0)]
    return chosen


def examples(
    cell: LabellingCell,
    sentences: Sequence[Sentence],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    constraints: Mapping[str, LearnedConstraint],
) -> list[dict[str, Any]]:
    """The clearest corrections, each by a different rule, and last a sentence with more errors, if there is
    one: sentence, words, labels (gold, before, after), and the rule in words and as a sum."""

    def example(i: int) -> dict[str, Any]:
        words, old, new = sentences[i].words, tuple(before[i]), tuple(after[i])
        rule, why = reason(Instance(sentences[i].x, old), Instance(sentences[i].x, new), constraints)
        sides = {"gold": sentences[i].labels, "before": old, "after": new}
        spans = {side: list(cell.as_iob(labels)) for side, labels in sides.items()}
        return {"sentence": i, "words": words, **spans, "rule": rule, "why": why}

    gains = {
        i: sum(map(eq, new, sentence.labels)) - sum(map(eq, old, sentence.labels))
        for i, (sentence, old, new) in enumerate(zip(sentences, before, after, strict=True))
        if SHORTEST <= len(sentence) <= LONGEST
    }
    # Few words per correction are quick to read; ties go to the earlier sentence.
    better = sorted((i for i in gains if gains[i] > 0), key=lambda i: (-gains[i] / len(before[i]), i))
    worse = sorted((i for i in gains if gains[i] < 0), key=lambda i: (gains[i], i))[:1]
    shown: dict[str, dict[str, Any]] = {}
    for corrected in map(example, better):
        if len(shown) == EXAMPLES - len(worse):
            break
        shown.setdefault(corrected["rule"], corrected)
    return [*shown.values(), *map(example, worse)]
