"""The learning task of the user's data: the feature, and the valid and invalid vectors.

A structure that the feature cannot represent (a label or value that is not in training, a count far too
large) has no rows and is counted as outside. Combinations that do not fit (feature and data, negatives and
feature) raise an error before any work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import (
    FeatureSpace,
    Instance,
    InvalidInput,
    LabelledExamples,
    Recipe,
    SparsePsi,
    space_of_columns,
)
from lcons_core._instance import WORD
from lcons_core._psi import PsiRows
from lcons_core._types import Ints
from lcons_core.features import ConstraintFeature, NgramContext, SequenceFeature
from lcons_core.features._ngrams import is_punctuation
from lcons_core.learn._estimator import AUTO
from lcons_core.learn._evidence import Needed, sort_negatives
from lcons_core.learn._examples import UNSEEN, flipped, fold, unseen
from lcons_core.learn._recipe import FEATURES, OFTEN
from lcons_tasks.data._stream import POS
from lcons_tasks.own_data._data import Data, PsiTable, Structures

PUNCTUATION = "punctuation"


@dataclass(frozen=True, eq=False)
class Parts:
    """The psi rows of structures, each with the index of its structure; `inside` is the number of structures
    with rows, `outside` lists the others with the reason."""

    rows: PsiRows
    inside: int
    outside: tuple[tuple[int, str], ...] = ()

    @property
    def position(self) -> Ints:
        """(N,) the number of each row within its structure."""
        owner = self.rows.owner
        return np.arange(len(owner)) - np.searchsorted(owner, owner)


def parts_of(feature: ConstraintFeature, data: Structures) -> Parts:
    """The parts of structures."""
    return parts_and_values(feature, data)[0]


def parts_and_values(feature: ConstraintFeature, data: Structures) -> tuple[Parts, list[Any]]:
    """The parts of structures, and for a feature of sequences the value indices of each structure inside."""
    # The windows of all sequences become psi at once, which takes a fraction of the time of one by one.
    pieces: list[Any] = []
    owners: list[int] = []
    outside: list[tuple[int, str]] = []
    for i, instance in enumerate(data.instances):
        try:
            piece = (
                feature.values(instance) if isinstance(feature, SequenceFeature) else feature.psi(instance)
            )
        except InvalidInput as error:
            outside.append((i, str(error).split(";")[0]))
            continue
        pieces.append(piece)
        owners.append(i)
    owner = np.repeat(np.array(owners, dtype=np.int64), [len(piece) for piece in pieces])
    if isinstance(feature, SequenceFeature) and pieces:
        psi = feature.psi_of_values(np.concatenate(pieces))
    else:
        psi = SparsePsi.stack([SparsePsi.from_indices([], feature.space.d), *pieces])
    return Parts(PsiRows.of(psi, owner), len(owners), tuple(outside)), pieces


def rows_of(space: FeatureSpace, data: PsiTable, chosen: NDArray[np.bool_]) -> Parts:
    """The chosen rows of a table as structures of one part each."""
    rows = np.flatnonzero(chosen)
    fits = space.contains(data.X[rows]) if len(rows) else np.zeros(0, dtype=np.bool_)
    outside = tuple((int(i), "it is not a vector of the training space") for i in rows[~fits])
    psi = SparsePsi.from_dense(data.X[rows[fits]])
    return Parts(PsiRows.of(psi, rows[fits]), int(fits.sum()), outside)


GIVEN = "given"
OF_TABLES = (UNSEEN, "flip")
OF_TUPLES = ("pairs", "tuples")
# Entries of made vectors that are checked per second to be points of their space.
CHECKED = 8e7

Making = Callable[[str, int, float], None]


@dataclass(frozen=True, eq=False)
class Task:
    """A learning task: the recipe with its feature and negatives named, the feature (None for tables), and
    `seen`: all valid vectors of the training data, including those that `min_support` leaves out of the
    examples. `negatives` is the recipe's source, or `GIVEN`; `needed` is the evidence that windows need."""

    recipe: Recipe
    feature: ConstraintFeature | None
    examples: LabelledExamples
    negatives: str
    valid: Parts
    seen: PsiRows
    contradictions: int = 0
    needed: Needed | None = None


def task_of(data: Data, recipe: Recipe, making: Making | None) -> Task:
    """The learning task of data; `making` is called before negatives are made."""
    return _of_table(data, recipe) if isinstance(data, PsiTable) else _of_structures(data, recipe, making)


def _of_structures(data: Structures, recipe: Recipe, making: Making | None) -> Task:
    recipe = _fitting(recipe, data.tuples)
    check_columns(data, _column(recipe))
    _check_words(data, recipe)
    labels = {label for instance in data.instances for label in instance.y}
    if not data.tuples and len(labels) < 2:
        found = ", ".join(sorted(labels)) or "none"
        raise InvalidInput(
            f"expected at least two different labels: got {found}; is this the right column"
            ' (`columns="word=1,label=-1"`)?'
        )
    recipe, feature = recipe.complete(data.instances)
    _check_values(feature, recipe)
    valid, values = parts_and_values(feature, data)
    if isinstance(feature, SequenceFeature) and not len(valid.rows):
        longest = max(len(instance.y) for instance in data.instances)
        raise InvalidInput(f"expected sentences of {feature.n} tokens or more: the longest has {longest}.")
    seen = fold(valid.rows.psi, feature.space.d)
    positives = frequent(seen, recipe.min_support)
    made = recipe.source(feature, data.instances, positives)
    source = str(recipe.negatives)
    if making is not None:
        making(source, made.size, made.size * feature.space.d / CHECKED)
    examples = LabelledExamples.of(feature.space, positives, made.collect())
    needed = None
    if isinstance(feature, SequenceFeature) and isinstance(recipe.evidence, float):
        examples, needed = sort_negatives(feature, values, examples, recipe.evidence)
    return Task(recipe, feature, examples, source, valid, seen, needed=needed)


def _fitting(recipe: Recipe, tuples: bool) -> Recipe:
    """The recipe with its feature named; raises an error if the feature does not fit the structures."""
    name = recipe.feature or ("pairs" if tuples else "ngram")
    if isinstance(name, str) and (name in OF_TUPLES) != tuples:
        same = ("context", "tuples")
        fitting = [one for one in FEATURES if (one in OF_TUPLES) == tuples and one not in same]
        kind = "tuples" if tuples else "label sequences"
        raise InvalidInput(f"a feature of {kind} is one of {', '.join(fitting)}: got {name!r}.")
    return replace(recipe, feature=name)


def _column(recipe: Recipe) -> str | None:
    """The column of x that the feature reads as its context, if any."""
    options = recipe.options()
    if not isinstance(recipe.feature, str) or FEATURES[recipe.feature].kind is not NgramContext:
        return None
    return str(options.get("column", POS))


def frequent(seen: PsiRows, least: float) -> PsiRows:
    """The vectors that were seen `least` times or more; raises an error if there are none."""
    often = seen.weight >= least
    if not often.any():
        most = times(seen.weight.max(initial=0))
        raise InvalidInput(f"no valid vector was seen {times(least)} (`min_support`): at most {most}.")
    return seen.take(often)


def times(number: float) -> str:
    """A number of times, in words.

    >>> times(1), times(1e6), times(2.5)
    ('once', '1,000,000 times', '2.5 times')
    """
    return "once" if number == 1 else f"{int(number) if number == int(number) else number:,} times"


def check_columns(data: Structures, column: str | None) -> None:
    """Raises an error if a structure lacks the column that a feature or a model reads."""
    for number, instance in zip(data.numbers().tolist(), data.instances, strict=True):
        if column is not None and column not in instance.x and len(instance.y):
            where = "word=1" if column == WORD else f"word=1,{column}=2"
            raise InvalidInput(
                f"structure {number} needs a column {column!r}: got {', '.join(instance.x) or 'none'}; state"
                f' its place, as in `columns="{where}"`.'
            )


def _check_words(data: Structures, recipe: Recipe) -> None:
    """Raises an error if the words have no classes that the feature distinguishes."""
    if recipe.feature not in (PUNCTUATION, WORD):
        return
    words = Counter(word for instance in data.instances for word in instance.x.get(WORD, ()))
    if recipe.feature == PUNCTUATION and not any(map(is_punctuation, words)):
        raise InvalidInput("expected punctuation among the words: got none; choose another feature.")
    if recipe.feature == WORD and max(words.values(), default=0) < OFTEN:
        raise InvalidInput(
            f"expected words that occur {OFTEN} times or more: got none; try the feature shape."
        )


def _check_values(feature: ConstraintFeature, recipe: Recipe) -> None:
    """Raises an error if the context is the same for all tokens, because then labels cannot depend on it.
    With words and punctuation, all other words are one more value."""
    if recipe.feature in (WORD, PUNCTUATION):
        return
    if isinstance(feature, NgramContext) and len(feature.contexts) < 2:
        what = feature.context_name if feature.word_class else f"column {feature.column!r}"
        raise InvalidInput(
            f"expected a {what} with two values or more: got {', '.join(feature.contexts)}; name another with"
            " the argument `column` or `columns`."
        )


def _of_table(data: PsiTable, recipe: Recipe) -> Task:
    recipe = replace(recipe, evidence=None) if recipe.evidence == AUTO else recipe
    for name in ("feature", "n", "column", "pad", "spans", "names", "evidence"):
        if getattr(recipe, name):
            raise InvalidInput(f"a table of psi vectors has no {name!r}: got {getattr(recipe, name)!r}.")
    space = space_of_columns(data.X, data.names)
    valid = rows_of(space, data, data.valid)
    seen = fold(valid.rows.psi, space.d)
    positives = frequent(seen, recipe.min_support)
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
    sources = " or ".join(f"`negatives={name!r}`" for name in OF_TABLES)
    raise InvalidInput(f"a table of valid vectors only needs {sources}: got {recipe.negatives!r}.")


# Up to this share of held-out structures may be left out without a warning.
FEW = 0.05
_SHOWN = 6


def check_labels(train: Data, held_out: Data) -> str | None:
    """A warning if more than a few held-out structures have labels that are not in training, else None;
    raises an error if all structures have such labels."""
    if not isinstance(train, Structures) or not isinstance(held_out, Structures):
        return None
    known = {label for one in train.instances for label in _labels(one, train.tuples)}
    new = [_labels(one, held_out.tuples) - known for one in held_out.instances]
    strange = [i for i, labels in enumerate(new) if labels]
    if len(strange) <= FEW * len(held_out):
        return None
    names = [repr(name) for name in sorted({str(label[1]) for labels in new for label in labels})]
    first = held_out.numbers()[strange[0]]
    text = (
        f"{len(strange):,} of {len(held_out):,} held-out structures have labels that are not in the training"
        f" data ({', '.join(names[:_SHOWN])}, first in structure {first})"
    )
    if len(strange) == len(held_out):
        raise InvalidInput(text)
    return f"{text}; these are not judged."


def _labels(instance: Instance, tuples: bool) -> set[tuple[int, Hashable]]:
    """The labels of a structure, each with the index of its member in the tuple (0 in a sequence)."""
    if tuples:
        return {(i, value) for one in instance.y for i, value in enumerate(one)}
    return {(0, label) for label in instance.y}
