"""The learning task of the user's data: the feature, and the valid and invalid vectors.

A structure that the feature cannot represent (a label or value that is not in training, a count far too
large) has no rows and is counted as outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import (
    FeatureSpace,
    Instance,
    InvalidInput,
    LabelledExamples,
    Recipe,
    SparsePsi,
    TooLarge,
    space_of_columns,
)
from lcons_core._instance import WORD
from lcons_core._psi import PsiRows
from lcons_core._types import Bools
from lcons_core.features import ConstraintFeature, NgramContext, SequenceFeature
from lcons_core.learn._estimator import AUTO
from lcons_core.learn._evidence import Needed, sort_negatives
from lcons_core.learn._examples import UNSEEN, flipped, fold, unseen
from lcons_tasks.own_data._data import Data, PsiTable, Structures

GIVEN = "given"
OF_TUPLES = ("pairs", "tuples")
# More labels than this are no labels, but words or numbers in the wrong column.
MOST_LABELS = 20_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The psi rows of structures, each with the index of its structure; `outside` are the indices of the
    structures without rows, with the reason. `values`: of a feature of sequences, the value indices of each
    structure that has rows."""

    rows: PsiRows
    inside: int
    outside: dict[int, str]
    values: Sequence[Any] = ()

    def position(self, row: int) -> int:
        """The number of a row within its structure."""
        return row - int(np.searchsorted(self.rows.owner, self.rows.owner[row]))


def parts_of(feature: ConstraintFeature, instances: Sequence[Instance]) -> Parts:
    """The parts of structures."""
    # The windows of all sequences become psi at once, which takes a fraction of the time of one by one.
    pieces: dict[int, Any] = {}
    outside: dict[int, str] = {}
    for i, instance in enumerate(instances):
        try:
            if isinstance(feature, SequenceFeature):
                pieces[i] = feature.values(instance)
            else:
                pieces[i] = feature.psi(instance)
        except InvalidInput as error:
            outside[i] = str(error).split(";")[0]
    values = list(pieces.values())
    owner = np.repeat(np.array([*pieces], dtype=np.int64), [len(piece) for piece in values])
    if isinstance(feature, SequenceFeature) and values:
        psi = feature.psi_of_values(np.concatenate(values))
    else:
        psi = SparsePsi.stack([SparsePsi.from_indices([], feature.space.d), *values])
    return Parts(PsiRows.of(psi, owner), len(pieces), outside, values)


def rows_of(space: FeatureSpace, data: PsiTable, chosen: Bools) -> Parts:
    """The chosen rows of a table as structures of one part each."""
    rows = np.flatnonzero(chosen)
    fits = space.contains(data.X[rows]) if len(rows) else np.zeros(0, dtype=np.bool_)
    outside = dict.fromkeys(rows[~fits].tolist(), "it is not a vector of the training space")
    psi = SparsePsi.from_dense(data.X[rows[fits]])
    return Parts(PsiRows.of(psi, rows[fits]), int(fits.sum()), outside)


@dataclass(frozen=True, eq=False)
class Task:
    """A learning task: the recipe with its feature and negatives named, the feature (None for tables), and
    `seen`: all valid vectors of the training data, including those that `min_support` leaves out of the
    examples. `negatives` is the recipe's source, or `GIVEN`; `needed` is the evidence that windows need;
    `contradictions` counts vectors of a table that are both valid and invalid."""

    recipe: Recipe
    feature: ConstraintFeature | None
    examples: LabelledExamples
    negatives: str
    valid: Parts
    seen: PsiRows
    contradictions: int = 0
    needed: Needed | None = None


def task_of(data: Data, recipe: Recipe) -> Task:
    """The learning task of data."""
    return _of_table(data, recipe) if isinstance(data, PsiTable) else _of_structures(data, recipe)


def _of_structures(data: Structures, recipe: Recipe) -> Task:
    name = recipe.feature or ("pairs" if data.tuples else "ngram")
    if isinstance(name, str) and (name in OF_TUPLES) != data.tuples:
        kind = "tuples" if data.tuples else "label sequences"
        raise InvalidInput(f"the data are {kind}, which the feature {name!r} cannot read; choose another.")
    labels = {label for instance in data.instances for label in instance.y}
    if not data.tuples and not 2 <= len(labels) <= MOST_LABELS:
        error = InvalidInput if len(labels) < 2 else TooLarge
        raise error(
            f"expected from 2 to {MOST_LABELS:,} different labels: got {len(labels):,}; is this the right"
            ' column (`columns="word=1,label=-1"`)?'
        )
    recipe, feature = replace(recipe, feature=name).complete(data.instances)
    if isinstance(feature, NgramContext) and len(feature.contexts) < 1 + (name not in (WORD, "punctuation")):
        raise InvalidInput(f"all tokens have the same {feature.context_name}; choose another feature.")
    valid = parts_of(feature, data.instances)
    if isinstance(feature, SequenceFeature) and not len(valid.rows):
        longest = max(len(instance.y) for instance in data.instances)
        raise InvalidInput(f"expected sentences of {feature.n} tokens or more: the longest has {longest}.")
    seen = fold(valid.rows.psi, feature.space.d)
    positives = _frequent(seen, recipe.min_support)
    negatives = recipe.source(feature, data.instances, positives).collect()
    examples, needed = LabelledExamples.of(feature.space, positives, negatives), None
    if isinstance(feature, SequenceFeature) and isinstance(recipe.evidence, float):
        examples, needed = sort_negatives(feature, valid.values, examples, recipe.evidence)
    return Task(recipe, feature, examples, str(recipe.negatives), valid, seen, needed=needed)


def _frequent(seen: PsiRows, least: float) -> PsiRows:
    """The vectors that were seen `least` times or more; raises an error if there are none."""
    often = seen.weight >= least
    if not often.any():
        most = seen.weight.max(initial=0)
        raise InvalidInput(f"no valid vector was seen {least:g} times (`min_support`): at most {most:g}.")
    return seen.take(often)


def check_columns(data: Structures, column: str | None) -> None:
    """Raises an error if a structure lacks the column that a feature or a model reads."""
    for number, instance in zip(data.numbers().tolist(), data.instances, strict=True):
        if column is not None and column not in instance.x and len(instance.y):
            where = "word=1" if column == WORD else f"word=1,{column}=2"
            raise InvalidInput(
                f"structure {number} needs a column {column!r}: got {', '.join(instance.x) or 'none'}; state"
                f' its place, as in `columns="{where}"`.'
            )


def _of_table(data: PsiTable, recipe: Recipe) -> Task:
    recipe = replace(recipe, evidence=None) if recipe.evidence == AUTO else recipe
    for name in ("feature", "n", "column", "pad", "spans", "names", "evidence"):
        if getattr(recipe, name):
            raise InvalidInput(f"a table of psi vectors has no {name!r}: got {getattr(recipe, name)!r}.")
    space = space_of_columns(data.X, data.names)
    valid = rows_of(space, data, data.valid)
    seen = fold(valid.rows.psi, space.d)
    positives = _frequent(seen, recipe.min_support)
    invalid = rows_of(space, data, ~data.valid).rows.psi
    if not len(invalid):
        examples = LabelledExamples.of(space, positives, _made_of_rows(recipe, space, positives))
        return Task(recipe, None, examples, str(recipe.negatives), valid, seen)
    if recipe.negatives is not None:
        raise InvalidInput(f"a table with invalid rows needs no `negatives`: got {recipe.negatives!r}.")
    both = len(set(seen.psi.row_keys()).intersection(invalid.row_keys()))
    if recipe.penalty is None:
        # Other people's labels, unlike made negatives, may be wrong or too few for the columns.
        recipe = replace(recipe, penalty=AUTO)
    examples = LabelledExamples.of(space, positives, invalid)
    return Task(recipe, None, examples, GIVEN, valid, seen, both)


def _made_of_rows(recipe: Recipe, space: FeatureSpace, positives: PsiRows) -> PsiRows:
    if recipe.negatives == UNSEEN:
        return unseen(space, positives.psi).collect()
    if recipe.negatives == "flip":
        return flipped(space, positives.psi, recipe.many, recipe.seed).collect()
    raise InvalidInput(
        f"a table of valid vectors only needs `negatives=` {UNSEEN!r} or 'flip': got {recipe.negatives!r}."
    )
