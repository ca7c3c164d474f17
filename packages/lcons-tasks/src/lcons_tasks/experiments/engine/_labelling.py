"""Cells of labelled sequences: a tagger, constraints from the same sentences, and answers on test sentences.

    accuracy = right labels / labels            F1 = 2 right spans / (predicted spans + gold spans)

Spans are those of conlleval, and for strict F1 those of seqeval's strict mode for IOB2.

Shared by the tasks that label sequences: a cell, the work that cells share, the record of answers, examples
of changed sentences, and the files of a run. Models, constraints and answers are stages (`_kept.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lcons_core import Instance, LearnedConstraint, Recipe, save
from lcons_core._types import Bools
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._baselines import (
    WindowScores,
    baseline_scores,
    predict_baseline,
    unseen_tokens,
    window_crf,
)
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._recipes import learn
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.engine._rows import (
    ACCURACY,
    CHOSEN,
    CRF,
    EXACT,
    SEEN,
    UNSEEN,
    TableRow,
    compile_kernels,
    predict,
    recipes_of,
    uses,
)
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.report._predictions import write_predictions
from lcons_tasks.report._reasons import reason
from lcons_tasks.stats import chunks, counted_spans, f1, strict_chunks

# Before the name of F1 where a span needs a B at its start.
STRICT = "strict"
# Examples of changes: shorter sentences show little, longer ones take long to read.
SHORTEST, LONGEST, EXAMPLES = 8, 25, 5


class LabellingCell:
    """A cell with a base model, rows to fill and a beam; subclasses are frozen dataclasses.

    `sample` is equal for equal training data, `place` is the name of the folder of its constraints, `spans`
    the name of F1, and `split_by` the window by which tokens are told apart that training shows and that it
    does not.
    """

    base: Any
    rows: tuple[TableRow, ...]
    seed: int
    beam: int
    spans: ClassVar[str]
    split_by: ClassVar[Recipe]

    @staticmethod
    def as_iob(labels: Sequence[str]) -> Sequence[str]:
        """The labels of a sentence as spans."""
        return labels

    @property
    def sample(self) -> Hashable:
        raise NotImplementedError

    @property
    def place(self) -> str:
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name of the cell in the record and of its file of predictions."""
        return f"{self.base.name}-{self.place}"

    @property
    def vectors(self) -> str | None:
        """The hash of the word vectors that its model reads."""
        return None

    def parts(self, kept: Stages) -> tuple[Sequence[Sentence], Sequence[Sentence], Sequence[Sentence]]:
        """Training, dev and test sentences."""
        raise NotImplementedError

    def model(self, kept: Stages) -> Tagger:
        """The cell's base model, trained now or read from its stage."""
        raise NotImplementedError

    def fill(self, kept: Stages) -> Answers:
        """The cell's record and answers."""
        raise NotImplementedError

    def answers(self, kept: Stages) -> Answers:
        """The cell's record and answers, computed now or read from their stage."""
        inputs = {
            "parts": [hash_sentences(part) for part in self.parts(kept)],
            "name": self.name,
            "seed": self.seed,
            "base": self.base.to_dict(),
            "vectors": self.vectors,
            "rows": [row.to_dict() for row in self.rows],
            "beam": self.beam,
        }
        return kept.keep("answers", inputs, partial(self.fill, kept))

    def constraints(self, recipes: Iterable[Recipe], kept: Stages) -> dict[str, LearnedConstraint]:
        """The constraints of recipes by name, learned now or read from their stages."""
        train = self.parts(kept)[0]
        return {recipe.name: learned(recipe, train, self.seed, kept) for recipe in recipes}


def learned(recipe: Recipe, train: Sequence[Sentence], seed: int, kept: Stages) -> LearnedConstraint:
    """The constraint of a recipe, learned now or read from its stage."""
    inputs = {"train": hash_sentences(train), "seed": seed, "recipe": recipe.to_dict()}
    return kept.keep("constraint", inputs, partial(learn, recipe, train, seed))


def shared_work(cells: Sequence[LabellingCell], kept: Stages) -> list[tuple[str, Callable[[], object]]]:
    """Every base model, constraint and CRF of windows that the cells need, once each.
    The kernels of the decoders are compiled here, so that several processes do not compile the same ones."""
    compile_kernels()
    work: dict[Hashable, tuple[str, Callable[[], object]]] = {}
    for cell in cells:
        work[cell.sample, cell.seed, cell.base] = f"{cell.base.name} ({cell})", partial(cell.model, kept)
    for cell in cells:
        for recipe in recipes_of(cell.rows):
            learn_one = partial(cell.constraints, (recipe,), kept)
            work[cell.sample, cell.seed, recipe] = f"{recipe.name} ({cell})", learn_one
        for row in cell.rows:
            if row.how == CRF:
                work[cell.sample, row] = f"{row.name} ({cell})", partial(_train_crf, cell, row, kept)
    return list(work.values())


def _train_crf(cell: LabellingCell, row: TableRow, kept: Stages) -> None:
    window_crf(row.recipes, cell.parts(kept)[0], kept)


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

    def right(self, answer: Ints) -> Ints:
        """(sentences,) the number of correct labels."""
        return self.summed(answer == self.gold)

    def summed(self, tokens: Bools) -> Ints:
        """(sentences,) the number of tokens for which a statement is true."""
        sums = np.concatenate([[0], np.cumsum(tokens)])
        counts: Ints = sums[self.batch.offsets[1:]] - sums[self.batch.offsets[:-1]]
        return counts

    def texts(self, answer: Ints) -> list[tuple[str, ...]]:
        """The labels of each sentence."""
        names = [self.labels[i] for i in answer]
        return [tuple(names[a:b]) for a, b in pairwise(self.batch.offsets)]


def percent_of(right: Ints, total: Ints) -> float:
    """The percentage of correct ones."""
    return float(100 * right.sum() / total.sum())


class Decoding:
    """The model, the constraints and the baselines of a cell, on its parts."""

    def __init__(self, cell: LabellingCell, kept: Stages) -> None:
        train, dev, test = cell.parts(kept)
        self.cell, self.train, self.model = cell, train, cell.model(kept)
        self.learned = cell.constraints(recipes_of(cell.rows), kept)
        self.dev, self.test = Part.of(self.model, dev), Part.of(self.model, test)
        self.baselines: dict[str, list[WindowScores]] = {
            row.name: baseline_scores(row, train, self.dev, kept) for row in cell.rows if row.is_baseline
        }

    def predict(self, row: TableRow, weights: Sequence[float], part: Part) -> Ints:
        """(N,) the label indices of all sentences of a part in a row with these weights."""
        if row.is_baseline:
            return predict_baseline(self.baselines[row.name], weights, part)
        chosen = uses(row, weights, self.learned, self.model.labels)
        return predict(row, chosen, part.batch, part.xs, self.cell.beam)

    def answers(
        self,
        at: Mapping[str, Coordinate],
        facts: Mapping[str, Any],
        found: Mapping[str, Ints],
        more: Mapping[str, Mapping[str, float]],
        units: Sequence[int],
    ) -> Answers:
        """The answers by row and their record: accuracy, also of the tokens that are in unseen windows and of
        the others, F1 of spans, and `more` measures. `units` are the numbers of test sentences."""
        cell, test = self.cell, self.test
        spans_of: dict[str, Callable[[Sequence[str]], set[Any]]] = {
            cell.spans: lambda y: set(chunks(cell.as_iob(y))),
            f"{STRICT} {cell.spans}": lambda y: strict_chunks(cell.as_iob(y)),
        }
        unseen = unseen_tokens(cell.split_by, self.train, test.sentences)
        gold = {name: [of(one.labels) for one in test.sentences] for name, of in spans_of.items()}
        rows: dict[str, dict[str, float]] = {}
        counts: dict[str, dict[str, Ints]] = {}
        for row, answer in found.items():
            right, texts = test.right(answer), test.texts(answer)
            rows[row] = {ACCURACY: percent_of(right, test.lengths)}
            counts[row] = {ACCURACY: np.stack([right, test.lengths], axis=1)}
            for name, of in spans_of.items():
                pairs = zip(gold[name], map(of, texts), strict=True)
                tally = np.array([counted_spans(*pair) for pair in pairs], dtype=np.int64).reshape(-1, 3)
                rows[row][name], counts[row][name] = float(f1(tally.sum(0))), tally
            rows[row] |= more.get(row, {})
            for measure, mask in ((UNSEEN, unseen), (SEEN, ~unseen)):
                split = np.stack([test.summed((answer == test.gold) & mask), test.summed(mask)], axis=1)
                if split[:, 1].any():
                    rows[row][measure], counts[row][measure] = percent_of(split[:, 0], split[:, 1]), split
        of_models = {
            "model": cell.base.to_dict(),
            "parameters": self.model.parameters,
            "constraints": {name: {"parameters": size_of(one)} for name, one in self.learned.items()},
            "rows of": {row.name: [recipe.name for recipe in row.recipes] for row in cell.rows},
            "baselines": {
                name: sum(one.parameters for one in scores) for name, scores in self.baselines.items()
            },
        }
        arrays = rows_with_counts(counts, list(rows))
        record = RecordCell(cell.name, at, rows, {**of_models, **facts}, arrays, tuple(units))
        return Answers(Record((record,)), {row: test.texts(answer) for row, answer in found.items()})


@dataclass(frozen=True, eq=False)
class Answers:
    """A cell's record, and the predicted labels of the test sentences by row."""

    record: Record
    texts: Mapping[str, list[tuple[str, ...]]]


def size_of(learned: LearnedConstraint) -> int:
    """The number of parameters of a constraint's networks."""
    return sum(part.W.size + part.b.size for part in learned.network.parts)


def leave_files(folder: Path, cells: Sequence[LabellingCell], kept: Stages) -> None:
    """Writes the constraints and the predictions of all cells."""
    with replacing_folder(folder / "constraints") as made:
        for cell in cells:
            (made / cell.place).mkdir(parents=True, exist_ok=True)
            for name, one in cell.constraints(recipes_of(cell.rows), kept).items():
                save(one, made / cell.place / f"{name}.json")
    with replacing_folder(folder / "predictions") as made:
        for cell in cells:
            texts = cell.answers(kept).texts
            write_predictions(made / f"{cell.name}.txt", cell.parts(kept)[2], texts[EXACT], texts[CHOSEN])


def changes(cell: LabellingCell, row: str, kept: Stages) -> list[dict[str, Any]]:
    """Test sentences that the chosen row changed, with the rule behind each change, as plain data."""
    texts, sentences = cell.answers(kept).texts, cell.parts(kept)[2]
    recipes = next(one.recipes for one in cell.rows if one.name == row)
    found = examples(sentences, texts[EXACT], texts[CHOSEN], cell.constraints(recipes, kept))
    sides = ("gold", "before", "after")
    return [{**one, **{side: list(cell.as_iob(one[side])) for side in sides}} for one in found]


def examples(
    sentences: Sequence[Sentence],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    constraints: Mapping[str, LearnedConstraint],
) -> list[dict[str, Any]]:
    """The clearest corrections, each by a different rule, and last a sentence with more errors, if there is
    one: sentence, words, labels (gold, before, after), and the rule in words and as a sum."""

    def right(i: int, labels: Sequence[str]) -> int:
        return sum(a == b for a, b in zip(labels, sentences[i].labels, strict=True))

    def example(i: int) -> dict[str, Any]:
        x = sentences[i].x
        rule, why = reason(Instance(x, tuple(before[i])), Instance(x, tuple(after[i])), constraints)
        labels = {"gold": sentences[i].labels, "before": tuple(before[i]), "after": tuple(after[i])}
        return {"sentence": i, "words": sentences[i].words, **labels, "rule": rule, "why": why}

    changed = [i for i, (b, a) in enumerate(zip(before, after, strict=True)) if tuple(b) != tuple(a)]
    gains = {
        i: right(i, after[i]) - right(i, before[i]) for i in changed if SHORTEST <= len(before[i]) <= LONGEST
    }
    # Few words per correction are quick to read; ties go to the earlier sentence.
    better = sorted((i for i in gains if gains[i] > 0), key=lambda i: (-gains[i] / len(before[i]), i))
    worse = sorted((i for i in gains if gains[i] < 0), key=lambda i: (gains[i], i))[:1]
    found: dict[str, dict[str, Any]] = {}
    for i in better:
        if len(found) < EXAMPLES - len(worse):
            one = example(i)
            found.setdefault(one["rule"], one)
    return [*found.values(), *map(example, worse)]
