"""The linear CRF: a weight per attribute and label, transitions, trained by CRFsuite; no torch.

    emission[t, c] = sum over attributes a of token t of weights[a, c]

The attributes `first` and `last` are the chain's start and stop. CRFsuite (L-BFGS, L1 and L2) trains; its
weights are read once and kept as arrays, so that decoding and the model file need numpy alone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_decode import ChainBatch
from lcons_decode.scores import Floats
from lcons_tasks.corpus.sentence import Sentence
from lcons_tasks.models.model_file import Arrays, read_names, write_model
from lcons_tasks.models.text_features import text_features
from lcons_tasks.models.token_ids import Columns


@dataclass(frozen=True)
class LinearSettings:
    """L1 and L2 penalties, iterations at most, and the context columns to read."""

    c1: float = 0.02
    c2: float = 0.02
    iterations: int = 200
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LinearCrf:
    """`weights` (A, L) of `attributes`, and `transition` (L, L) [from, to]."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    attributes: tuple[str, ...]
    weights: Floats
    transition: Floats
    kind = "linear-crf"

    @property
    def parameters(self) -> dict[str, int]:
        """How many numbers were trained: those that are not zero."""
        trained = int(np.count_nonzero(self.weights) + np.count_nonzero(self.transition))
        return {"trained": trained, "in all": trained}

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""
        rows = [row for x in xs for row in text_features(x, self.columns)]
        offsets = np.cumsum([0, *(len(next(iter(x.values()))) for x in xs)])
        known = [[self._index[a] for a in row if a in self._index] for row in rows]
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in known])
        ids = np.array([a for row in known for a in row], dtype=np.int64)
        emission = np.zeros((len(rows), len(self.labels)))
        np.add.at(emission, owners, self.weights[ids])
        nothing = np.zeros(len(self.labels))
        return ChainBatch(emission, offsets, self.transition, nothing, nothing, self.labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model."""
        header = {
            "kind": self.kind,
            "labels": list(self.labels),
            "columns": list(self.columns),
            "attributes": list(self.attributes),
        }
        write_model(path, header, {"weights": self.weights, "transition": self.transition})

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        labels, attributes = read_names(header["labels"], distinct=True), read_names(header["attributes"])
        weights, transition = arrays["weights"], arrays["transition"]
        L = len(labels)
        if weights.shape != (len(attributes), L) or transition.shape != (L, L):
            raise ValueError(f"weights of shape {weights.shape} for {len(attributes)} attributes, {L} labels")
        if {weights.dtype, transition.dtype} != {np.dtype(np.float64)}:
            raise ValueError(f"weights of type {weights.dtype}, transitions of type {transition.dtype}")
        return cls(labels, read_names(header["columns"]), attributes, weights, transition)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {attribute: i for i, attribute in enumerate(self.attributes)}


def train_linear(train: Sequence[Sentence], settings: LinearSettings | None = None) -> LinearCrf:
    """The linear CRF of the training sentences."""
    import pycrfsuite

    if not any(map(len, train)):
        raise InvalidInput(f"training needs words, found none in {len(train)} sentences; give at least one.")
    settings = settings or LinearSettings()
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    index = {label: i for i, label in enumerate(labels)}
    # CRFsuite is given numbers for names: its dump is read line by line, and a name may hold anything.
    number: dict[str, int] = {}
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        rows = text_features(sentence.x, settings.columns)
        xseq = [[str(number.setdefault(attribute, len(number))) for attribute in row] for row in rows]
        trainer.append(xseq, [str(index[label]) for label in sentence.labels])
    trainer.set_params(
        {
            "c1": settings.c1,
            "c2": settings.c2,
            "max_iterations": settings.iterations,
            "feature.possible_transitions": True,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "crfsuite")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        info = tagger.info()
        tagger.close()
    names = tuple(number)
    attributes = tuple(sorted({names[int(attribute)] for attribute, _ in info.state_features}))
    row = {attribute: i for i, attribute in enumerate(attributes)}
    weights = np.zeros((len(attributes), len(labels)))
    for (attribute, label), weight in info.state_features.items():
        weights[row[names[int(attribute)]], int(label)] = weight
    transition = np.zeros((len(labels), len(labels)))
    for (before, after), weight in info.transitions.items():
        transition[int(before), int(after)] = weight
    return LinearCrf(labels, settings.columns, attributes, weights, transition)
