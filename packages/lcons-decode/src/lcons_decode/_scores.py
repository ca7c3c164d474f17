"""The scores of models: of chains, and of graphs of candidates.

A chain model scores a sentence by emission, transition, start and stop scores:

    score(y) = start[y_1] + sum_t emission[t, y_t] + sum_t transition[y_t, y_{t+1}] + stop[y_T]

Transitions are [from, to] everywhere. -inf forbids a label or a transition; NaN, +inf and finite scores above
2^200 in magnitude, whose sums could overflow, raise an error. The empty sequence has one labelling, the empty
one, with score 0.

A relation model has one score per candidate and label, and one score per ordered pair of candidates and
relation.

Paper: Eq. 1, for the first-order models of Sec. 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcons_core import CodedColumn, InvalidInput, TooLarge
from lcons_core._arithmetic import check_magnitude
from lcons_core._instance import WORD
from lcons_core.features._feature import checked_names
from lcons_decode.kernels._arrays import Chain
from lcons_decode.kernels._arrays import Floats as Floats
from lcons_decode.kernels._arrays import Ints as Ints

# The columns of the input by name, one value per token; the words are "word" here and "words" in files. A
# plain sequence is the column of words.
Columns = Mapping[str, Sequence[str]]
X = Columns | Sequence[str] | None
# The columns of a batch: one x per sequence, or by name the packed columns of all, one value per token.
Xs = Sequence[X] | Mapping[str, Any] | None
WORDS = "words"
# Transitions of so many labels are 2^26 numbers, or 512 MiB.
MAX_LABELS = 2**13


def columns_of(x: X) -> Columns:
    """The columns of an input; a plain sequence of words is the column "word".

    >>> columns_of(["New", "York"]), columns_of(None)
    ({'word': ['New', 'York']}, {})
    """
    if x is None:
        return {}
    columns = x if isinstance(x, Mapping) else {WORD: x}
    are_words = columns is x or all(isinstance(word, str) for word in x)
    if not are_words or any(isinstance(column, str) for column in columns.values()):
        raise InvalidInput(f"x has columns by name, or a list of words: got {x!r:.60}.")
    return columns


@dataclass(frozen=True, eq=False)
class ChainScores:
    """One sequence: emission (T, L), transition (L, L) [from, to], start (L,), stop (L,); `labels` by name.

    Arrays may be of numpy, of torch, or lists. Transition, start and stop default to zero, labels to "0",
    "1", ...

    >>> scores = ChainScores([[1.0, 0.0], [0.0, 2.0]], labels=["B", "I"])
    >>> scores.score(["B", "I"])
    3.0
    """

    emission: Floats
    transition: Floats
    start: Floats
    stop: Floats
    labels: tuple[str, ...]

    def __init__(
        self,
        emission: Any,
        transition: Any = None,
        start: Any = None,
        stop: Any = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> None:
        scores = read_scores(emission, "emission", 2)
        L = scores.shape[1]
        if not L:
            raise InvalidInput("emission must be (T, L) with at least one label, found L = 0.")
        if L > MAX_LABELS:
            raise TooLarge(
                f"a chain can have at most {MAX_LABELS:,} labels, found {L:,}: its transitions are all"
                " pairs of labels; use fewer."
            )
        names = tuple(map(str, range(L))) if labels is None else tuple(labels)
        in_order = not isinstance(labels, Mapping | set | frozenset) and all(
            isinstance(name, str) for name in names
        )
        if not in_order or len(names) != L or len(set(names)) != L:
            raise InvalidInput(
                f"labels must be a list of {L} distinct names, one per column, got {labels!r:.60}."
            )
        names = tuple(map(str, names))  # numpy's strings are strings, too
        members = (("transition", transition, (L, L)), ("start", start, (L,)), ("stop", stop, (L,)))
        object.__setattr__(self, "emission", scores)
        object.__setattr__(self, "labels", names)
        for name, value, shape in members:
            array = np.zeros(shape) if value is None else read_scores(value, name, len(shape))
            if array.shape != shape:
                raise InvalidInput(
                    f"{name} must have shape {shape} for {L} labels, found {array.shape}; transitions are"
                    " [from, to]."
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def of_same_model(self, emission: Any) -> ChainScores:
        """The scores (T, L) of another sequence, with these labels, transition, start and stop."""
        other = object.__new__(ChainScores)
        other.__dict__.update(vars(self), emission=read_scores(emission, "emission", 2))
        return other

    def __len__(self) -> int:
        return self.emission.shape[0]

    @property
    def L(self) -> int:
        """The number of labels."""
        return self.emission.shape[1]

    def ids(self, y: Iterable[str]) -> Ints:
        """The indices (T,) of labels given by name; raises an error for an unknown label."""
        index = {label: i for i, label in enumerate(self.labels)}
        names = list(y)
        unknown = [name for name in names if name not in index]
        if unknown:
            raise InvalidInput(
                f"unknown label {unknown[0]!r}; the scores have {', '.join(self.labels[:12])}"
                f"{' ...' if self.L > 12 else ''}."
            )
        return np.array([index[name] for name in names], dtype=np.int64)

    def names(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The names of label indices."""
        return tuple(map(self.labels.__getitem__, ids))

    def score(self, y: Iterable[str]) -> float:
        """The score of a labelling given by name."""
        return self.score_ids(self.ids(y))

    def score_ids(self, y: Ints) -> float:
        """The score of label indices (T,), added up from the right, as in the dynamic programs."""
        if len(y) != len(self):
            raise InvalidInput(f"expected one label for each of {len(self)} tokens, found {len(y)} labels.")
        if not len(y):
            return 0.0
        # Stop, then emission and the transition to it, token by token from the right; accumulate keeps the
        # order.
        terms = np.empty(2 * len(y) + 1)
        terms[0] = self.stop[y[-1]]
        terms[1::2] = self.emission[np.arange(len(y)), y][::-1]
        terms[2:-1:2] = self.transition[y[:-1], y[1:]][::-1]
        terms[-1] = self.start[y[0]]
        return float(np.add.accumulate(terms)[-1])


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """Many sequences of mixed length with one transition: emission (N, L) packed, offsets (B + 1,).

    Sequence i is `emission[offsets[i]:offsets[i + 1]]`.
    """

    emission: Floats
    offsets: Ints
    transition: Floats
    start: Floats
    stop: Floats
    labels: tuple[str, ...]

    @classmethod
    def packed(
        cls,
        emission: Any,
        offsets: Any,
        transition: Any = None,
        start: Any = None,
        stop: Any = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> ChainBatch:
        """Sequences that are packed already: emission (N, L), offsets (B + 1,) from 0 to N.

        A float64 array with contiguous rows is not copied: do not change it while the batch is in use.

        >>> batch = ChainBatch.packed([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]], [0, 2, 3], labels=["B", "I"])
        >>> [len(scores) for scores in batch]
        [2, 1]
        """
        if isinstance(emission, np.ndarray):
            emission = emission.view()
            emission.flags.writeable = False
        whole = ChainScores(emission, transition, start, stop, labels=labels)
        ends = np.asarray(offsets)
        right = ends.ndim == 1 and len(ends) > 0 and ends.dtype.kind in "iu"
        if not (right and ends[0] == 0 and ends[-1] == len(whole) and (np.diff(ends) >= 0).all()):
            raise InvalidInput(
                f"offsets must be integers that rise from 0 to the {len(whole)} tokens of emission, one more"
                f" than there are sequences, found {offsets!s:.60}."
            )
        ends = ends.astype(np.int64)
        return cls(whole.emission, ends, whole.transition, whole.start, whole.stop, whole.labels)

    @classmethod
    def of(cls, sequences: Sequences) -> ChainBatch:
        """Packs sequences that share labels, transition, start and stop; a batch is returned unchanged."""
        if isinstance(sequences, ChainBatch):
            return sequences
        if isinstance(sequences, ChainScores) or not isinstance(sequences, Iterable):
            raise InvalidInput(
                f"expected a list of ChainScores or a ChainBatch, found {_kind(sequences)}; put one sequence"
                " in a list."
            )
        sequences = [checked_scores(scores) for scores in sequences]
        if not sequences:
            raise InvalidInput("a batch needs at least one sequence, found none.")
        first = sequences[0]
        for other in sequences[1:]:
            if not shares_model(first, other):
                raise InvalidInput(
                    "the sequences of a batch must share labels, transition, start and stop; decode"
                    " sequences of different models one at a time or with decode_batch."
                )
        offsets = np.cumsum([0, *(len(s) for s in sequences)])
        emission = first.emission if len(sequences) == 1 else np.concatenate([s.emission for s in sequences])
        return cls(emission, offsets, first.transition, first.start, first.stop, first.labels)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def chain(self) -> Chain:
        """The batch as the kernels read it."""
        return Chain.of(self.emission, self.offsets, self.transition, self.start, self.stop)

    def __iter__(self) -> Iterator[ChainScores]:
        for first, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            emission = self.emission[first:stop]
            emission.flags.writeable = False
            yield ChainScores(emission, self.transition, self.start, self.stop, labels=self.labels)


def x_of(xs: Xs, batch: ChainBatch, i: int) -> X:
    """The columns of sequence i."""
    if not isinstance(xs, Mapping):
        return None if xs is None else xs[i]
    tokens = slice(int(batch.offsets[i]), int(batch.offsets[i + 1]))
    return {name: CodedColumn.of(column[tokens]) for name, column in xs.items()}


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one sequence, with its columns `x` (words under "word", POS tags under "pos", ...), or a
    plain list of its words.

    where: the name of the sequence in errors. id: any identifier of the sequence.
    """

    scores: ChainScores
    x: Columns = field(default_factory=dict)
    where: str = "the sequence"
    id: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", columns_of(self.x))
        for name, column in self.x.items():
            if len(column) != len(self.scores):
                raise InvalidInput(
                    f"{self.where}: expected a value of {name!r} for each of {len(self.scores)} tokens,"
                    f" found {len(column)}; pass scores and columns of the same length."
                )


Sequences = ChainBatch | Iterable[ChainScores]


@dataclass(frozen=True, eq=False)
class RelationScores:
    """entities (n, E) and relations (n, n, R) [source, target]; labels by name. The diagonal is not read.

    >>> from lcons_decode import decode_relations
    >>> scores = RelationScores([[1.0, 0.0], [0.0, 2.0]], [[[0.0, 1.0]] * 2] * 2,
    ...                         entity_labels=["Person", "Location"], relation_labels=["NoRel", "LiveIn"])
    >>> decode_relations(scores).entities
    ('Person', 'Location')
    """

    entities: Floats
    relations: Floats
    entity_labels: tuple[str, ...]
    relation_labels: tuple[str, ...]

    def __init__(
        self, entities: Any, relations: Any, *, entity_labels: Sequence[str], relation_labels: Sequence[str]
    ) -> None:
        names = checked_names(entity_labels, "entity_labels")
        links = checked_names(relation_labels, "relation_labels")
        single, double = read_floats(entities, "entities"), read_floats(relations, "relations")
        if single.shape == (0,):
            single = single.reshape(0, len(names))
        if single.ndim != 2 or single.shape[1] != len(names):
            raise InvalidInput(
                f"entities must be (n, {len(names)}), one score per candidate and label, found"
                f" {single.shape}."
            )
        n = len(single)
        if double.size == 0 and n <= 1:
            double = np.zeros((n, n, len(links)))
        if double.shape != (n, n, len(links)):
            raise InvalidInput(
                f"relations must be ({n}, {n}, {len(links)}), one score per ordered pair of candidates and"
                f" label, found {double.shape}."
            )
        double[np.arange(n), np.arange(n)] = 0.0
        if not (np.isfinite(single).all() and np.isfinite(double).all()):
            raise InvalidInput("scores of entities and relations must be finite, found NaN or infinity.")
        check_magnitude(single, "entities")
        check_magnitude(double, "relations")
        for name, value in (
            ("entities", single),
            ("relations", double),
            ("entity_labels", names),
            ("relation_labels", links),
        ):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.entities)


def checked_scores(scores: Any) -> ChainScores:
    """`scores`; raises an error if they are not `ChainScores`."""
    if not isinstance(scores, ChainScores):
        raise InvalidInput(
            f"expected the scores of a sequence as ChainScores, found {_kind(scores)}; make them with"
            " ChainScores(emission, labels=[...])."
        )
    return scores


def _kind(value: Any) -> str:
    return "one ChainScores" if isinstance(value, ChainScores) else type(value).__name__


def shares_model(a: ChainScores, b: ChainScores) -> bool:
    """Whether two sequences have the same labels, transition, start and stop."""
    pairs = ((a.transition, b.transition), (a.start, b.start), (a.stop, b.stop))
    return a.labels == b.labels and all(x is y or np.array_equal(x, y) for x, y in pairs)


def read_scores(value: Any, name: str, ndim: int) -> Floats:
    """A read-only float64 array of scores; -inf is allowed, NaN, +inf and magnitudes above 2^200 are not.
    A read-only array is shared, any other is copied."""
    array = value if _is_frozen(value) else read_floats(value, name)
    if ndim == 2 and array.size == 0 and array.ndim == 1:
        raise InvalidInput(f"{name} without tokens must still have shape (0, L); pass np.zeros((0, L)).")
    if array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), found shape {array.shape}; reshape it.")
    if array.size and not array.max() < np.inf:  # as in NaN and +inf
        wrong = np.isnan(array) | np.isposinf(array)
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise InvalidInput(
            f"{name} must not contain NaN or +inf (-inf forbids), found {array[at]} at {list(at)}; check"
            " where these values come from."
        )
    check_magnitude(array, name)
    array.flags.writeable = False
    return array


def _is_frozen(value: Any) -> bool:
    """Whether this is a float64 array that can be shared: packed row by row, and read-only."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        return False
    return value.flags.c_contiguous and not value.flags.writeable


def read_floats(value: Any, name: str) -> Floats:
    """A new float64 array; torch tensors are detached."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()  # numpy has no bfloat16
    try:
        array = np.array(value)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InvalidInput(f"{name} must be an array of numbers, got {value!r:.60}.")
