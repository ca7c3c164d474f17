"""The model of entities and relations as a structured SVM whose loss-augmented inference obeys constraints.

The loss of a labelling is 1 for each wrong entity label and for each predicted relation that is not in the
gold labels, and `miss` for each gold relation that is not predicted. Inference is `lcons_decode._relations`,
exact. It uses only the set of points that the constraints allow: constraints with the same set give the same
weights.

Paper: Sec. 4 and Appendix C (C = 2^-6). Differs from the paper: `miss` is 1.5, and C is chosen on dev.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_decode import RelationRules, relation_ids
from lcons_decode.kernels import Floats, Ints
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled
from lcons_tasks.models._relation_model import Attributes, Encoded, RelationModel
from lcons_tasks.models._structured_svm import Checked, SvmSettings, TrainedSvm, train_svm

MISS = 1.5
PASSES = 20
E, R = len(ENTITIES), len(RELATIONS)


@dataclass(frozen=True, eq=False)
class _Example:
    """A passage, its gold labels, the loss of each label, the places of its attributes among the distinct
    attributes, the weights that it reads, and phi of the gold labels over these weights."""

    encoded: Encoded
    entities: Ints
    relations: Ints
    entity_loss: Floats
    relation_loss: Floats
    candidate_places: Ints
    pair_places: Ints
    known: int
    support: Ints
    features: Floats


class RelationProblem:
    """Labelled passages under constraints, as a `Problem` of `_structured_svm`; weights are W and V, flat."""

    def __init__(
        self, passages: Sequence[Labelled], attributes: Attributes, rules: RelationRules, miss: float = MISS
    ) -> None:
        self.rules, self.miss = rules, miss
        self.A, self.B = len(attributes.candidates), len(attributes.pairs)
        self.examples = [self._example(one, attributes.encode(one.passage)) for one in passages]

    @property
    def size(self) -> int:
        """The number of passages."""
        return len(self.examples)

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.A * E + self.B * R

    def support(self, i: int) -> Ints:
        """The weights of the attributes of passage i."""
        return self.examples[i].support

    def worst(self, i: int, w: Floats) -> tuple[Floats, float]:
        """phi of the gold labels minus phi of the worst allowed labels, and the loss of the worst."""
        example = self.examples[i]
        W, V = self.split(w)
        single = example.encoded.candidates.sums(W) + example.entity_loss
        double = example.encoded.pairs.sums(V) + example.relation_loss
        found = relation_ids(single, example.encoded.spread(double), self.rules)
        entities, relations = found.entities, found.relations[example.encoded.places]
        loss = np.take_along_axis(example.entity_loss, entities[:, None], 1).sum()
        loss += np.take_along_axis(example.relation_loss, relations[:, None], 1).sum()
        return example.features - _features(example, entities, relations), float(loss)

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """The flat weights as W and V; views, not copies."""
        return w[: self.A * E].reshape(-1, E), w[self.A * E :].reshape(-1, R)

    def _example(self, one: Labelled, encoded: Encoded) -> _Example:
        entities = np.array([ENTITIES.index(label) for label in one.entities], dtype=np.int64)
        labels = [RELATIONS.index(one.relation(i, j)) for i, j in one.passage.pairs]
        relations = np.array(labels, dtype=np.int64)
        entity_loss = (np.arange(E) != entities[:, None]).astype(np.float64)
        relation_loss = np.where(relations > 0, self.miss, 1.0)[:, None] * (
            np.arange(R) != relations[:, None]
        )
        candidates, places = np.unique(encoded.candidates.ids, return_inverse=True)
        pairs, pair_places = np.unique(encoded.pairs.ids, return_inverse=True)
        weights = (candidates[:, None] * E + np.arange(E), self.A * E + pairs[:, None] * R + np.arange(R))
        support = np.concatenate([part.ravel() for part in weights])
        blank = _Example(
            encoded,
            entities,
            relations,
            entity_loss,
            relation_loss,
            places,
            pair_places,
            len(candidates),
            support,
            np.zeros(len(support)),
        )
        blank.features[:] = _features(blank, entities, relations)
        return blank


def _features(example: _Example, entities: Ints, relations: Ints) -> Floats:
    """phi of a labelling, over the example's support."""
    single = example.candidate_places * E + entities[example.encoded.candidates.row]
    double = example.known * E + example.pair_places * R + relations[example.encoded.pairs.row]
    where = np.concatenate([single, double])
    return np.bincount(where, minlength=len(example.support)).astype(np.float64)


def train_relations(
    passages: Sequence[Labelled],
    rules: RelationRules,
    settings: SvmSettings,
    miss: float = MISS,
    progress: Callable[[Checked], None] | None = None,
) -> tuple[RelationModel, TrainedSvm]:
    """The model that the passages train under constraints, and the course of the training."""
    attributes = Attributes.of(one.passage for one in passages)
    problem = RelationProblem(passages, attributes, rules, miss)
    trained = train_svm(problem, settings, progress=progress)
    W, V = problem.split(trained.weights)
    return RelationModel(attributes, W.copy(), V.copy()), trained
