"""The psi rows of data, each with the structure that it is part of.

A structure that a feature knows nothing about (a label or value that training has not, a count far beyond)
has no rows and is counted as outside.

What there is to learn from data of one's own: the feature, and vectors that are valid and invalid.

What does not fit together (a feature and data, negatives and a feature) is refused before any work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import LabelledExamples
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD, Instance
from lcons_core._psi import Ints, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features import ConstraintFeature, NgramContext, SequenceFeature
from lcons_core.features._ngrams import is_punctuation
from lcons_core.learn import _negatives as sources
from lcons_core.learn._examples import Folded, fold
from lcons_core.learn._negatives import NegativeSource
from lcons_core.learn._recipe import NEGATIVES, OFTEN, make_feature, usual_negatives
from lcons_tasks.own_data._data import PsiTable, Structures
from lcons_tasks.own_data._settings import LearnSettings
from lcons_tasks.own_data._tables import table_space
from lcons_tasks.own_data._vocabulary import PUNCTUATION


@dataclass(frozen=True, eq=False)
class Parts:
    """psi (N, d); `owner` (N,) and `position` (N,) of each row, by index; `inside` are the structures that
    were judged, `outside` the others with the reason."""

    psi: SparsePsi
    owner: Ints
    position: Ints
    inside: int
    outside: tuple[tuple[int, str], ...]


def parts_of(feature: ConstraintFeature, data: Structures) -> Parts:
    """The parts of structures."""
    pieces: list[SparsePsi] = [SparsePsi.from_indices([], feature.space.d)]
    owners: list[int] = []
    outside: list[tuple[int, str]] = []
    for i, instance in enumerate(data.instances):
        try:
            psi = feature.psi(instance)
        except InvalidInput as error:
            outside.append((i, str(error).split(";")[0]))
            continue
        pieces.append(psi)
        owners.append(i)
    counts = np.array([len(piece) for piece in pieces[1:]], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    position = np.arange(counts.sum()) - np.repeat(starts, counts)
    owner = np.repeat(np.array(owners, dtype=np.int64), counts)
    return Parts(SparsePsi.stack(pieces), owner, position, len(owners), tuple(outside))


def rows_of(space: FeatureSpace, data: PsiTable, chosen: NDArray[np.bool_]) -> Parts:
    """The chosen rows of a table as structures of one part each."""
    rows = np.flatnonzero(chosen)
    fits = space.contains(data.X[rows]) if len(rows) else np.zeros(0, dtype=np.bool_)
    outside = tuple((int(i), "it is not a vector of the space that training spans") for i in rows[~fits])
    psi = SparsePsi.from_dense(data.X[rows[fits]])
    return Parts(psi, rows[fits], np.zeros(int(fits.sum()), dtype=np.int64), int(fits.sum()), outside)


GIVEN = "given"
UNSEEN = "unseen"
OF_TABLES = (UNSEEN, "flip")
# Entries of made vectors a second, each checked to be a point of its space.
CHECKED = 8e7

Making = Callable[[str, int, float], None]


@dataclass(frozen=True, eq=False)
class Task:
    """What there is to learn; `name` is the feature's, and `seen` are all valid vectors of the training data,
    those too that `min_support` leaves out of the examples."""

    feature: ConstraintFeature | None
    name: str | None
    examples: LabelledExamples
    negatives: str
    valid: Parts
    seen: Folded
    contradictions: int = 0


def of_structures(data: Structures, settings: LearnSettings, making: Making | None) -> Task:
    name = settings.feature_for(data.tuples)
    options = settings.options_for(name)
    check_columns(data, settings.column_of(name))
    _check_words(data, name)
    if not data.tuples:
        labels = {label for instance in data.instances for label in instance.y}
        if len(labels) < 2:
            raise InvalidInput(
                f"expected at least two labels to tell apart, found {', '.join(sorted(labels)) or 'none'}; is"
                " it the right column? State it, as in `--columns word=1,label=-1`."
            )
    feature = make_feature(data.instances, name, **options)
    source = settings.negatives or usual_negatives(feature)
    _check_values(feature, name)
    valid = parts_of(feature, data)
    if isinstance(feature, SequenceFeature) and not len(valid.psi):
        longest = max(len(instance.y) for instance in data.instances)
        raise InvalidInput(
            f"expected sentences of {feature.n} tokens or more, found none (the longest has {longest}); lower"
            " -n, or give longer ones."
        )
    seen = fold(valid.psi, feature.space.d)
    positives = frequent(seen, settings.min_support)
    made = source_of(source, feature, data.instances, positives, settings)
    if making is not None:
        making(source, made.size, made.size * feature.space.d / CHECKED)
    examples = LabelledExamples.of(feature.space, positives, made.collect(), settings.min_support)
    return Task(feature, name, examples, source, valid, seen)


def frequent(seen: Folded, least: float) -> Folded:
    """The vectors that were seen `least` times or more; refused where there are none."""
    often = seen.weights >= least
    if not often.any():
        most = f"the most frequent {times(seen.weights.max())}" if len(seen) else "there are none"
        raise InvalidInput(
            f"expected valid vectors seen {times(least)} or more, found none ({most}); lower --min-support"
            " or give more data."
        )
    return Folded(seen.psi.take(often), seen.weights[often])


def times(number: float) -> str:
    """How often, in words.

    >>> times(1), times(1e6), times(2.5)
    ('once', '1,000,000 times', '2.5 times')
    """
    return "once" if number == 1 else f"{int(number) if number == int(number) else number:,} times"


def source_of(
    source: str,
    feature: ConstraintFeature,
    instances: Sequence[Instance],
    positives: Folded,
    settings: LearnSettings,
) -> NegativeSource:
    """The source of that name, refused where it is not made for such a feature."""
    needs = {"relabel": "pad", "recast": "pad", "near": "pad", "apart": "contexts", "perturb": "labels"}
    if source in needs and not hasattr(feature, needs[source]):
        raise InvalidInput(
            f"expected negatives that fit the feature {feature.kind!r}, found {source!r}; its own are"
            f" {usual_negatives(feature)!r}."
        )
    return NEGATIVES[source](feature, instances, positives, settings.many, settings.seed)


def check_columns(data: Structures, column: str | None) -> None:
    if column is None:
        return
    for number, instance in zip(data.numbers().tolist(), data.instances, strict=True):
        if column not in instance.x:
            where = "word=1" if column == WORD else f"word=1,{column}=2"
            raise InvalidInput(
                f"expected a column {column!r}, found {', '.join(instance.x) or 'none'} in structure"
                f" {number}; say where it is, as in `--columns {where}`, or choose another feature."
            )


def _check_words(data: Structures, feature: str) -> None:
    """Refuses words among which there is nothing that the feature tells apart."""
    words = Counter(word for instance in data.instances for word in instance.x.get(WORD, ()))
    if feature == "punctuation" and not any(map(is_punctuation, words)):
        raise InvalidInput("expected punctuation among the words, found none; choose another feature.")
    if feature == "word" and max(words.values(), default=0) < OFTEN:
        raise InvalidInput(
            f"expected words that occur {OFTEN} times or more, found none; choose another feature, such as"
            " shape."
        )


def _check_values(feature: ConstraintFeature, name: str) -> None:
    """Refuses a context that is the same for all tokens: there is nothing for labels to go with."""
    if name in (WORD, PUNCTUATION):
        # Here other words are a value too, (other).
        return
    if isinstance(feature, NgramContext) and len(feature.contexts) < 2:
        what = feature.context_name if feature.word_class else f"column {feature.column!r}"
        raise InvalidInput(
            f"expected a {what} with two values or more, found one only ({', '.join(feature.contexts)});"
            " name another column with --context or --columns, or choose another feature."
        )


def of_table(data: PsiTable, settings: LearnSettings) -> Task:
    for name in ("feature", "n", "column", "pad", "spans", "names"):
        if getattr(settings, name):
            raise InvalidInput(
                f"expected no {name!r} with a table of psi vectors, found {getattr(settings, name)!r}; psi is"
                " given there, leave it out."
            )
    space = table_space(data.names, data.X)
    valid = rows_of(space, data, data.valid)
    seen = fold(valid.psi, space.d)
    positives = frequent(seen, settings.min_support)
    invalid = rows_of(space, data, ~data.valid).psi
    if len(invalid) and settings.negatives is not None:
        raise InvalidInput(
            f"expected no --negatives with a table that has invalid vectors, found {settings.negatives!r};"
            " leave it out, or give valid vectors only."
        )
    if len(invalid):
        keys = invalid.row_keys()
        both = len(set(seen.psi.row_keys()).intersection(keys))
        return Task(None, None, LabelledExamples.of(space, positives, invalid), GIVEN, valid, seen, both)
    made = made_of_rows(settings, space, positives)
    examples = LabelledExamples.of(space, positives, made)
    return Task(None, None, examples, str(settings.negatives), valid, seen)


def made_of_rows(settings: LearnSettings, space: Any, positives: Folded) -> Folded:
    if settings.negatives == UNSEEN:
        return sources.unseen(space, positives.psi).collect()
    if settings.negatives == "flip":
        return sources.flipped(space, positives.psi, settings.many, settings.seed).collect()
    given = "no --negatives" if settings.negatives is None else f"--negatives {settings.negatives}"
    raise InvalidInput(
        f"expected invalid vectors too, found valid ones only and {given}; add rows"
        f" with valid = 0, or make some with --negatives {' or '.join(OF_TABLES)}."
    )
