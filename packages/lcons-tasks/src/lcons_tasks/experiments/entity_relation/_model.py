"""The model of entities and relations, trained under the set of combinations that constraints allow.

It sees constraints only as that set, so a model is kept by it: where `learned` and `designed` constraints
allow the same, they share a model.

Paper: Sec. 4: a structured SVM, with constraints in its loss-augmented inference.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_decode import RelationRules, decode_relations
from lcons_tasks.data._passage import Labelled, hash_passages
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.models._relation_model import RelationModel, load_model
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.models._structured_svm import Checked, SvmSettings

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Tell
    from lcons_tasks.experiments.engine._kept import Stages


def trained(
    train: Sequence[Labelled],
    allowed: RelationRules,
    settings: SvmSettings,
    miss: float,
    kept: Stages,
    tell: Tell,
) -> tuple[RelationModel, dict[str, Any]]:
    """A model, trained or read, and how its training went."""
    inputs = {
        "train": hash_passages(train),
        "allowed": hashlib.sha256(np.packbits(allowed.allowed).tobytes()).hexdigest(),
        "settings": [settings.C, settings.passes, settings.tolerance, miss],
    }

    def progress(at: Checked) -> None:
        tell(at.passes / settings.passes, f"training, C = {settings.C:g}: gap {at.gap:.3f}")

    def make(folder: Path) -> None:
        model, done = train_relations(train, allowed, settings, miss, progress)
        model.save(folder / "model.npz")
        last = done.history[-1]
        told = {"passes": last.passes, "objective": last.objective, "gap": last.gap}
        (folder / "training.json").write_text(json.dumps(told), encoding="utf-8")

    def read(folder: Path) -> tuple[RelationModel, dict[str, Any]]:
        told = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        return load_model(folder / "model.npz"), told

    return kept.keep("er-svm", inputs, make, read)


def predict(model: RelationModel, passages: Sequence[Labelled], allowed: RelationRules) -> list[Answer]:
    """The best labels of every passage under constraints."""
    found = (decode_relations(model.scores(one.passage), allowed) for one in passages)
    return [(one.entities, one.relations) for one in found]
