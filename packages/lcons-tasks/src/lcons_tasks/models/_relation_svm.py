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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode._relations import relation_ids
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._relation_model import Attributes, Encoded, RelationModel
from lcons_tasks.models._structured_svm import SvmSettings, TrainedSvm, train_svm

MISS = 1.5
PASSES = 20
E, R = len(ENTITIES), len(RELATIONS)


@dataclass(frozen=True, eq=False)
class Example:
    """A passage with its gold labels.

    candidates, pairs: the attributes of both as places among the distinct ones of the passage.
    entities, relations: gold labels of candidates and of ordered pairs.
    support: the weights of W and V that the passage reads, and `width`, how many of them are of W.
    """

    encoded: Encoded
    candidates: Ints
    pairs: Ints
    entities: Ints
    relations: Ints
    support: Ints
    width: int


@dataclass(frozen=True, eq=False)
class Encoding:
    """Training passages as arrays, which several trainings share, and the attributes."""

    attributes: Attributes
    examples: tuple[Example, ...]


def encode_passages(passages: Sequence[Labelled], clusters: Clusters | None = None) -> Encoding:
    """The passages as arrays; clusters of words, if there are any, are attributes."""
    if not passages:
        raise InvalidInput("training needs at least one passage: got none; pass some.")
    attributes = Attributes.of((example.passage for example in passages), clusters)
    return Encoding(attributes, tuple(_example(example, attributes) for example in passages))


def _example(labelled: Labelled, attributes: Attributes) -> Example:
    encoded, pairs = attributes.encode(labelled.passage), labelled.passage.pairs
    singles, single_places = np.unique(encoded.candidates.ids, return_inverse=True)
    doubles, double_places = np.unique(encoded.pairs.ids, return_inverse=True)
    of_W = (singles[:, None] * E + np.arange(E)).ravel()
    of_V = (doubles[:, None] * R + np.arange(R)).ravel() + len(attributes.candidates) * E
    return Example(
        encoded,
        single_places,
        double_places,
        np.array([ENTITIES.index(label) for label in labelled.entities], dtype=np.int64),
        np.array([RELATIONS.index(labelled.relation(i, j)) for i, j in pairs], dtype=np.int64),
        np.concatenate([of_W, of_V]),
        len(of_W),
    )


def train_relations(
    passages: Sequence[Labelled] | Encoding,
    rules: RelationRules,
    settings: SvmSettings,
    miss: float = MISS,
    parts: Floats | None = None,
) -> tuple[RelationModel, TrainedSvm]:
    """The model that the passages train under constraints, and the course of the training.

    parts: (E, E, R, R, P) how often the labels of two candidates and the two relations between them show each
        of P combinations, which then have a weight each.
    """
    encoding = passages if isinstance(passages, Encoding) else encode_passages(passages)
    problem = RelationProblem(encoding, rules, miss, parts)
    trained = train_svm(problem, settings)
    W, V, weights = problem.split(trained.weights)
    table = None if parts is None else parts @ weights
    return RelationModel(encoding.attributes, W.copy(), V.copy(), table), trained


class RelationProblem:
    """Passages as a `Problem` of `_structured_svm`; the flat weights are W, V and those of parts."""

    def __init__(
        self, encoding: Encoding, rules: RelationRules, miss: float, parts: Floats | None = None
    ) -> None:
        self.examples, self.rules, self.parts = encoding.examples, rules, parts
        self.A, self.B = len(encoding.attributes.candidates), len(encoding.attributes.pairs)
        self.size, self.P = len(self.examples), 0 if parts is None else parts.shape[-1]
        self.dimension = self.A * E + self.B * R + self.P
        of_parts = np.arange(self.A * E + self.B * R, self.dimension)
        self.supports = [np.concatenate([example.support, of_parts]) for example in self.examples]
        self.losses = [_losses(example, miss) for example in self.examples]
        self.gold = [
            self._features(example, example.entities, example.relations) for example in self.examples
        ]

    def support(self, i: int) -> Ints:
        """The weights of the attributes of passage i, and all of parts."""
        return self.supports[i]

    def worst(self, i: int, w: Floats) -> tuple[Floats, float]:
        """phi of the gold labelling minus phi of the worst one, and the loss of the worst one."""
        example, (single, double) = self.examples[i], self.losses[i]
        W, V, weights = self.split(w)
        rules = self.rules if self.parts is None else replace(self.rules, penalty=-(self.parts @ weights))
        pairs = example.encoded.spread(example.encoded.pairs.sums(V) + double)
        best = relation_ids(example.encoded.candidates.sums(W) + single, pairs, rules)
        relations = best.relations[example.encoded.places]
        loss = single[np.arange(len(single)), best.entities].sum()
        loss += double[np.arange(len(double)), relations].sum()
        return self.gold[i] - self._features(example, best.entities, relations), float(loss)

    def split(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """The flat weights as W, V and the weights of parts; views, not copies."""
        a, b = self.A * E, self.A * E + self.B * R
        return w[:a].reshape(-1, E), w[a:b].reshape(-1, R), w[b:]

    def _features(self, example: Example, entities: Ints, relations: Ints) -> Floats:
        """phi of a labelling, over the support."""
        of_W = example.candidates * E + entities[example.encoded.candidates.row]
        of_V = example.width + example.pairs * R + relations[example.encoded.pairs.row]
        counts = np.bincount(np.concatenate([of_W, of_V]), minlength=len(example.support)).astype(np.float64)
        if self.parts is None:
            return counts
        i, j = np.triu_indices(example.encoded.n, 1)
        both = example.encoded.spread(relations[:, None].astype(np.float64))[..., 0].astype(np.int64)
        shown = self.parts[entities[i], entities[j], both[i, j], both[j, i]].sum(0)
        return np.concatenate([counts, shown])


def _losses(example: Example, miss: float) -> tuple[Floats, Floats]:
    """The loss of each label of each candidate, and of each relation of each ordered pair."""
    single = (np.arange(E) != example.entities[:, None]).astype(np.float64)
    weights = np.where(example.relations > 0, miss, 1.0)[:, None]
    return single, weights * (np.arange(R) != example.relations[:, None])
