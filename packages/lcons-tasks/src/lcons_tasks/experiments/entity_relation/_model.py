"""The model of entities and relations, trained under the set of combinations that constraints allow.

Training depends on constraints only through this set, which is part of the key of its stage: if `learned` and
`designed` constraints allow the same combinations, they share one model. Clusters of word vectors, if the
machine has some, are read by the model (`phi._candidates`).

Paper: Sec. 4: a structured SVM, with constraints in its loss-augmented inference. Not in the paper: word
vectors; predictions with at least one relation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_decode import RelationRules, RelationScores, decode_relations
from lcons_tasks.data._passage import Labelled, hash_passages
from lcons_tasks.experiments.entity_relation._constraints import combination_counts
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.models._clusters import Clusters, cluster_vectors
from lcons_tasks.models._relation_model import RelationModel, load_model
from lcons_tasks.models._relation_svm import Encoding, encode_passages, train_relations
from lcons_tasks.models._structured_svm import Checked, SvmSettings
from lcons_tasks.models._word_vectors import WordVectors, find_vectors

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Tell
    from lcons_tasks.experiments.engine._kept import Stages

# Numbers of clusters, from coarse to fine.
SIZES = (50, 200, 600)
vectors = lru_cache(maxsize=1)(find_vectors)


def clusters(kept: Stages) -> Clusters | None:
    """The clusters of the words of the vectors that were found, computed now or read from their stage."""
    found = vectors()
    return None if found is None else _clusters(found, kept)


@lru_cache(maxsize=1)
def _clusters(found: WordVectors, kept: Stages) -> Clusters:
    def make(folder: Path) -> None:
        own = cluster_vectors(found, SIZES)
        np.save(folder / "ids.npy", own.ids)
        (folder / "words.json").write_text(json.dumps(own.words), encoding="utf-8")

    def read(folder: Path) -> Clusters:
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return Clusters.from_contents(words, np.load(folder / "ids.npy"))

    return kept.keep("er-clusters", {"vectors": found.sha256, "sizes": SIZES}, make, read)


class _Encoded:
    """The encoding of the training passages that were used last: several models are trained on them."""

    key: tuple[str, int] | None = None
    found: Encoding | None = None


def _encoded(train: Sequence[Labelled], own: Clusters | None) -> Encoding:
    key = hash_passages(train), id(own)
    if _Encoded.found is None or _Encoded.key != key:
        _Encoded.key, _Encoded.found = key, encode_passages(train, own)
    return _Encoded.found


def trained(
    train: Sequence[Labelled],
    allowed: RelationRules,
    settings: SvmSettings,
    miss: float,
    kept: Stages,
    tell: Tell,
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

    def progress(at: Checked) -> None:
        tell(at.passes / settings.passes, f"training, C = {settings.C:g}: gap {at.gap:.3f}")

    def make(folder: Path) -> None:
        counts = combination_counts() if penalties else None
        encoding = _encoded(train, clusters(kept))
        model, done = train_relations(encoding, allowed, settings, miss, progress, counts)
        model.save(folder / "model.npz")
        last = done.history[-1]
        told = {"passes": last.passes, "objective": last.objective, "gap": last.gap}
        (folder / "training.json").write_text(json.dumps(told), encoding="utf-8")

    def read(folder: Path) -> tuple[RelationModel, dict[str, Any]]:
        told = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return load_model(folder / "model.npz"), told

    return kept.keep("er-svm", inputs, make, read)


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
