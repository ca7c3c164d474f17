"""The model of entities and relations, a structured SVM with constraints in its loss-augmented inference.

Training depends on constraints only through the set of combinations that they allow. Clusters of word
vectors, if the machine has some, are read by the model (`phi._candidates`).

Paper: Sec. 4. Not in the paper: word vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from lcons_decode import RelationRules, RelationScores, decode_relations
from lcons_tasks.data._passage import Pair
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.models._clusters import Clusters, cluster_vectors
from lcons_tasks.models._word_vectors import find_vectors

Answer = tuple[Sequence[str], Mapping[Pair, str]]

# The default C, the duality gap at which training stops, and the most passes.
C, TOLERANCE, PASSES = 2.0**-4, 0.02, 20
# Numbers of clusters, from coarse to fine.
SIZES = (50, 200, 600)
vectors = lru_cache(maxsize=1)(find_vectors)


def clusters(kept: Stages) -> Clusters | None:
    """The clusters of the words of the vectors that were found, computed now or read from their stage."""
    words = vectors()
    if words is None:
        return None
    inputs = {"vectors": words.sha256, "sizes": SIZES}
    return kept.keep("er-clusters", inputs, partial(cluster_vectors, words, SIZES))


def predict(scores: Sequence[RelationScores], allowed: RelationRules) -> list[Answer]:
    """The best labels of every passage under constraints."""
    decodings = (decode_relations(passage_scores, allowed) for passage_scores in scores)
    return [(decoding.entities, decoding.relations) for decoding in decodings]
