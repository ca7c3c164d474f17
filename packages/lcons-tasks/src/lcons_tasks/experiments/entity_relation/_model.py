"""The model of entities and relations, trained under the set of combinations that constraints allow.

Training depends on constraints only through this set, which is part of the key of its stage: if `learned` and
`designed` constraints allow the same combinations, they share one model. Clusters of word vectors, if the
machine has some, are read by the model (`phi._candidates`).

Paper: Sec. 4: a structured SVM, with constraints in its loss-augmented inference. Not in the paper: word
vectors; predictions with at least one relation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_decode import RelationRules, RelationScores, decode_relations
from lcons_tasks.data._passage import Labelled, hash_passages
from lcons_tasks.experiments.entity_relation._constraints import combination_counts
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.models._clusters import Clusters, cluster_vectors
from lcons_tasks.models._relation_model import RelationModel
from lcons_tasks.models._relation_svm import Encoding, encode_passages, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.models._word_vectors import find_vectors

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

# Numbers of clusters, from coarse to fine.
SIZES = (50, 200, 600)
vectors = lru_cache(maxsize=1)(find_vectors)


def clusters(kept: Stages) -> Clusters | None:
    """The clusters of the words of the vectors that were found, computed now or read from their stage."""
    found = vectors()
    if found is None:
        return None
    inputs = {"vectors": found.sha256, "sizes": SIZES}
    return kept.keep("er-clusters", inputs, partial(cluster_vectors, found, SIZES))


@lru_cache(maxsize=1)
def _encoded(key: str, kept: Stages, train: _Passages) -> Encoding:
    """The encoding of training passages with this hash; several models are trained on the last ones."""
    return encode_passages(train.passages, clusters(kept))


@dataclass(frozen=True)
class _Passages:
    """Passages that are told apart by their hash alone."""

    passages: Sequence[Labelled] = field(compare=False)


def trained(
    train: Sequence[Labelled],
    allowed: RelationRules,
    settings: SvmSettings,
    miss: float,
    kept: Stages,
    penalties: bool = False,
) -> tuple[RelationModel, dict[str, Any]]:
    """A model, trained now or read from its stage, and the figures of its training. With `penalties`, each
    combination of labels has a weight, which is learned, too."""
    found = vectors()
    inputs = {
        "train": hash_passages(train),
        "allowed": hashlib.sha256(np.packbits(allowed.allowed).tobytes()).hexdigest(),
        "settings": [settings.C, settings.passes, settings.tolerance, miss, penalties],
        "vectors": None if found is None else found.sha256,
    }

    def make() -> tuple[RelationModel, dict[str, Any]]:
        counts = combination_counts() if penalties else None
        encoding = _encoded(hash_passages(train), kept, _Passages(train))
        model, done = train_relations(encoding, allowed, settings, miss, counts)
        last = done.history[-1]
        return model, {"passes": last.passes, "objective": last.objective, "gap": last.gap}

    return kept.keep("er-svm", inputs, make)


def score(model: RelationModel, passages: Sequence[Labelled]) -> list[RelationScores]:
    """The scores of the candidates and pairs of every passage."""
    return [model.scores(one.passage) for one in passages]


def predict(
    scores: Sequence[RelationScores], allowed: RelationRules, model: RelationModel | None = None
) -> list[Answer]:
    """The best labels of every passage under constraints, and with the weights that the model has for
    combinations of labels."""
    if model is not None and model.table is not None:
        allowed = replace(allowed, penalty=-model.table)
    found = (decode_relations(one, allowed) for one in scores)
    return [(one.entities, one.relations) for one in found]


def predict_some(scores: Sequence[RelationScores], allowed: RelationRules) -> list[Answer]:
    """The best labels of every passage with at least one relation, if it has two candidates: the best of
    those in which a given pair has a relation, over all pairs."""
    return [_some(one, allowed) for one in scores]


def _some(scores: RelationScores, allowed: RelationRules) -> Answer:
    found = decode_relations(scores, allowed)
    if found.relations or len(scores) < 2:
        return found.entities, found.relations
    # More than two labellings can differ by: a relation there is always better than none.
    more = 1.0 + 2.0 * float(np.abs(scores.entities).sum() + np.abs(scores.relations).sum())
    best = None
    for i in range(len(scores)):
        for j in range(len(scores)):
            if i != j:
                relations = scores.relations.copy()
                relations[i, j, 1:] += more
                own = decode_relations(replace(scores, relations=relations), allowed)
                if (i, j) in own.relations and (best is None or own.score > best.score):
                    best = own
    return (found if best is None else best).entities, (found if best is None else best).relations
