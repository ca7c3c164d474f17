"""The model of entities and relations as a structured SVM whose loss-augmented inference obeys constraints.

The loss of a labelling is 1 for each wrong entity label and for each predicted relation that is not in the
gold labels, and `MISS` for each gold relation that is not predicted. Inference is that of
`lcons_decode._relations`, exact. It uses only the set of points that the constraints allow: constraints with
the same set give the same weights.

Paper: Sec. 4 and Appendix C (C = 2^-6). Differs from the paper: `MISS` is 1.5, and C is chosen on dev.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput
from lcons_decode import RelationRules
from lcons_decode._relations import relation_ids
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._relation_model import Attributes, RelationModel, spread
from lcons_tasks.models._structured_svm import SvmSettings, TrainedSvm, train_svm
from lcons_tasks.models.phi._tokens import Rows

MISS = 1.5
E, R = len(ENTITIES), len(RELATIONS)


@dataclass(frozen=True, eq=False)
class Example:
    """A passage with its gold labels.

    candidates, pairs: the attributes of candidates and of ordered pairs.
    entities, relations: gold labels of candidates and of ordered pairs.
    support: the weights of W and V that the passage reads; `places`: of each attribute of each candidate and
    then of each pair, the place of its weight for label 0 in the support.
    """

    candidates: Rows
    pairs: Rows
    entities: Ints
    relations: Ints
    support: Ints
    places: Ints

    def features(self, entities: Ints, relations: Ints) -> Floats:
        """phi of a labelling, over the support."""
        sizes = np.concatenate([self.candidates.sizes, self.pairs.sizes])
        labels = np.repeat(np.concatenate([entities, relations]), sizes)
        return np.bincount(self.places + labels, minlength=len(self.support)).astype(np.float64)

    def losses(self) -> tuple[Floats, Floats]:
        """The loss of each label of each candidate, and of each relation of each ordered pair."""
        single = (np.arange(E) != self.entities[:, None]).astype(np.float64)
        weights = np.where(self.relations > 0, MISS, 1.0)[:, None]
        return single, weights * (np.arange(R) != self.relations[:, None])


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
    candidates, pairs = attributes.encode(labelled.passage)
    singles, single_places = np.unique(candidates.ids, return_inverse=True)
    doubles, double_places = np.unique(pairs.ids, return_inverse=True)
    of_W = (singles[:, None] * E + np.arange(E)).ravel()
    of_V = (doubles[:, None] * R + np.arange(R)).ravel() + len(attributes.candidates) * E
    relations = [labelled.relation(*pair) for pair in labelled.passage.pairs]
    return Example(
        candidates,
        pairs,
        np.array([ENTITIES.index(label) for label in labelled.entities], dtype=np.int64),
        np.array([RELATIONS.index(label) for label in relations], dtype=np.int64),
        np.concatenate([of_W, of_V]),
        np.concatenate([single_places * E, len(of_W) + double_places * R]),
    )


def train_relations(
    passages: Sequence[Labelled] | Encoding, rules: RelationRules, settings: SvmSettings
) -> tuple[RelationModel, TrainedSvm]:
    """The model that the passages train under constraints, and the course of the training."""
    encoding = passages if isinstance(passages, Encoding) else encode_passages(passages)
    problem = RelationProblem(encoding, rules)
    trained = train_svm(problem, settings)
    W, V = problem.split(trained.weights)
    return RelationModel(encoding.attributes, W.copy(), V.copy()), trained


class RelationProblem:
    """Passages as a `Problem` of `_structured_svm`; the flat weights are W and V."""

    def __init__(self, encoding: Encoding, rules: RelationRules) -> None:
        self.examples, self.rules = encoding.examples, rules
        self.size, self.width = len(self.examples), len(encoding.attributes.candidates) * E
        self.dimension = self.width + len(encoding.attributes.pairs) * R
        self.losses = [example.losses() for example in self.examples]
        self.gold = [example.features(example.entities, example.relations) for example in self.examples]

    def support(self, i: int) -> Ints:
        """The weights of the attributes of passage i."""
        return self.examples[i].support

    def worst(self, i: int, w: Floats) -> tuple[Floats, float]:
        """phi of the gold labelling minus phi of the worst one, and the loss of the worst one."""
        example, (single, double) = self.examples[i], self.losses[i]
        W, V = self.split(w)
        n = len(single)
        best = relation_ids(
            example.candidates.sums(W) + single, spread(n, example.pairs.sums(V) + double), self.rules
        )
        relations = best.relations[~np.eye(n, dtype=np.bool_)]
        loss = single[np.arange(n), best.entities].sum()
        loss += double[np.arange(len(double)), relations].sum()
        return self.gold[i] - example.features(best.entities, relations), float(loss)

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """The flat weights as W and V; views, not copies."""
        return w[: self.width].reshape(-1, E), w[self.width :].reshape(-1, R)
