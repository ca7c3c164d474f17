"""The model of entities and relations as a structured SVM whose loss-augmented inference obeys constraints.

The loss of a labelling is 1 for each wrong entity label and for each predicted relation that is not in the
gold labels, and `miss` for each gold relation that is not predicted. Inference is that of
`lcons_decode._relations`, exact. It uses only the set of points that the constraints allow: constraints with
the same set give the same weights.

A baseline without networks: `parts` counts combinations of labels, such as a relation and the label of its
source, and each has a weight, learned together with those of the attributes (as Anzaroot et al. 2014 learn
one penalty per constraint).

Paper: Sec. 4 and Appendix C (C = 2^-6). Differs from the paper: `miss` is 1.5, and C is chosen on dev. Not in
the paper: weights of combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._relation_model import Attributes, RelationModel, Rows
from lcons_tasks.models._structured_svm import Checked, SvmSettings, TrainedSvm, train_from

MISS = 1.5
PASSES = 20
E, R = len(ENTITIES), len(RELATIONS)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Training passages as arrays, which several trainings share: the attributes, and for each passage its
    gold labels and the numbers of its attributes, one after another (`_relation_kernel.Flat`)."""

    size: int
    attributes: Attributes
    arrays: tuple[Ints, ...]


def encode_passages(passages: Sequence[Labelled], clusters: Clusters | None = None) -> Encoding:
    """The passages as arrays; clusters of words, if there are any, are attributes."""
    if not passages:
        raise InvalidInput("training needs at least one passage: got none; pass some.")
    attributes = Attributes.of((one.passage for one in passages), clusters)
    encoded = [attributes.encode(one.passage) for one in passages]
    sizes = np.array([one.n for one in encoded], dtype=np.int64)
    entities = [ENTITIES.index(label) for one in passages for label in one.entities]
    relations = [RELATIONS.index(one.relation(i, j)) for one in passages for i, j in one.passage.pairs]
    arrays = (
        sizes,
        _starts(sizes),
        _starts(sizes * (sizes - 1)),
        np.array(entities, dtype=np.int64),
        np.array(relations, dtype=np.int64),
        *_joined([one.candidates for one in encoded]),
        *_joined([one.pairs for one in encoded]),
    )
    return Encoding(len(passages), attributes, arrays)


def train_relations(
    passages: Sequence[Labelled] | Encoding,
    rules: RelationRules,
    settings: SvmSettings,
    miss: float = MISS,
    progress: Callable[[Checked], None] | None = None,
    parts: Floats | None = None,
) -> tuple[RelationModel, TrainedSvm]:
    """The model that the passages train under constraints, and the course of the training.

    parts: (E, E, R, R, P) how often the labels of two candidates and the two relations between them show each
        of P combinations, which then have a weight each.
    """
    encoding = passages if isinstance(passages, Encoding) else encode_passages(passages)
    if settings.C is None:
        raise InvalidInput("training entities and relations needs a `C`: got None.")
    counts = np.zeros((E * E * R * R, 0)) if parts is None else parts.reshape(E * E * R * R, -1)
    state = _Training(encoding, rules, settings.C, miss, counts)
    trained = train_from(state, encoding.size, settings, progress)
    W, V, weights = state.split(trained.weights)
    table = None if parts is None else np.asarray((counts @ weights).reshape(E, E, R, R))
    return RelationModel(encoding.attributes, W.copy(), V.copy(), table), trained


class _Training:
    """The state of the training (`_structured_svm.State`); the flat weights are W, V and those of parts."""

    def __init__(
        self, encoding: Encoding, rules: RelationRules, C: float, miss: float, counts: Floats
    ) -> None:
        # Imports numba, which takes seconds.
        from lcons_tasks.models import _relation_kernel as kernel

        attributes = encoding.attributes
        self.kernel, self.counts, self.miss = kernel, counts, miss
        self.penalty = 1 / (C * encoding.size)
        self.data, self.lists = kernel.Flat(*encoding.arrays), kernel.Lists(*_lists(rules))
        self.shapes = ((len(attributes.candidates), E), (len(attributes.pairs), R), (counts.shape[1],))
        self.now, self.late = (kernel.Weights(*map(np.zeros, self.shapes)) for _ in range(2))
        self.shares = kernel.Shares(
            np.zeros((len(self.data.candidate_known), E)),
            np.zeros((len(self.data.pair_known), R)),
            np.zeros((encoding.size, counts.shape[1])),
            np.zeros(encoding.size),
        )
        self.sums = np.zeros(2)

    def run(self, order: Sequence[int]) -> None:
        """Takes a step for each of these passages."""
        self.kernel.take_steps(
            np.asarray(order, dtype=np.int64),
            self.data,
            self.lists,
            self.counts,
            self.miss,
            self.penalty,
            self.now,
            self.late,
            self.shares,
            self.sums,
        )

    def weights(self, averaged: bool) -> Floats:
        """The present weights, or their average."""
        total = self.sums[0] * (self.sums[0] + 1) / 2
        found = (
            now - late / total if averaged and total else now
            for now, late in zip(self.now, self.late, strict=True)
        )
        return np.concatenate([part.ravel() for part in found])

    def certify(self, weights: Floats, averaged: bool) -> tuple[float, float]:
        """The objective at `weights`, and its distance from the dual."""
        loss, total = float(self.shares.losses.sum()), self.sums[0] * (self.sums[0] + 1) / 2
        if averaged and total:
            loss -= float(self.sums[1]) / total
        # Not `weights @ weights`, whose rounding depends on the number of BLAS's threads.
        half = self.penalty / 2 * float(np.square(weights).sum())
        at = self.kernel.Weights(*self.split(weights))
        hinge = float(self.kernel.mean_hinge(self.data, self.lists, self.counts, self.miss, at))
        return half + hinge, half + hinge - (loss - half)

    def split(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """The flat weights as W, V and the weights of parts; views, not copies."""
        a, b = (int(np.prod(shape)) for shape in self.shapes[:2])
        W, V, parts = weights[:a], weights[a : a + b], weights[a + b :]
        return W.reshape(self.shapes[0]), V.reshape(self.shapes[1]), parts


def _joined(rows: Sequence[Rows]) -> tuple[Ints, Ints, Ints, Ints]:
    """(starts of the rows of all passages, place of each attribute among the distinct ones of its passage,
    the distinct attributes of all passages, where those of each passage begin)."""
    known, places = [], []
    for one in rows:
        distinct, place = np.unique(one.ids, return_inverse=True)
        known.append(distinct)
        places.append(place)
    lengths = np.concatenate([np.bincount(one.row, minlength=one.count) for one in rows])
    return (
        _starts(lengths),
        np.concatenate(places).astype(np.int64),
        np.concatenate(known),
        _starts(np.array([len(one) for one in known])),
    )


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _lists(rules: RelationRules) -> tuple[Ints, ...]:
    """The allowed relations by labels (a, b), and all relations, each with the number of its combination."""
    found: list[Ints] = []
    for starts, forward, backward, broken in (rules.allowed_lists, rules.all_lists):
        pair = np.repeat(np.arange(E * E), np.diff(starts))
        found += [starts, forward, backward, (pair * R + forward) * R + backward, broken]
    return (*found[:4], *found[5:])
