"""The linear CRF: a `LinearChain` trained by CRFsuite (L-BFGS, L1 and L2); no torch.

CRFsuite's weights are read once and kept as arrays. CRFsuite has no start and stop scores: the template
`text` has the attributes `first` and `last` instead.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import InvalidInput, LconsError
from lcons_tasks.data._sentence import Sentence
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models.phi._templates import attribute_rows

# Of a file of crfsuite: magic, size, type and four numbers, which are skipped, and the places of five parts.
_HEADER = struct.Struct("<4sI20x5I")
# The score of a step to a label that training does not show.
ABSENT = -30.0


@dataclass(frozen=True)
class LinearSettings:
    """L1 and L2 penalties, the largest number of iterations, the template and the context columns to read."""

    c1: float = 0.02
    c2: float = 0.02
    iterations: int = 200
    columns: tuple[str, ...] = ()
    template: str = "tokens"


def train_linear(train: Sequence[Sentence], settings: LinearSettings | None = None) -> LinearChain:
    """The linear CRF that the sentences train."""
    if not any(map(len, train)):
        raise InvalidInput(
            f"training needs words: got none in {len(train)} sentences; pass a sentence with words."
        )
    settings = settings or LinearSettings()
    # CRFsuite gets numbers instead of names: its dump is read line by line, and a name may hold a newline.
    number: dict[str, int] = {}
    rows = [
        [[str(number.setdefault(attribute, len(number))) for attribute in row] for row in attributes]
        for attributes in (attribute_rows(s.x, settings.template, settings.columns) for s in train)
    ]
    labels = [sentence.labels for sentence in train]
    return train_rows(rows, labels, list(number), settings, settings.template, settings.columns)


def train_rows(
    sentences: Sequence[Sequence[Any]],
    labels: Sequence[Sequence[str]],
    names: Sequence[str],
    settings: LinearSettings,
    template: str,
    columns: Sequence[str],
    known: Sequence[str] = (),
) -> LinearChain:
    """The linear CRF of sentences whose tokens are lists of numbers, as text, of the attributes `names`, or
    their values by number.

    Labels that are `known` but not in `labels` cost `ABSENT` at every step, so that they are never chosen."""
    import pycrfsuite

    own = tuple(sorted({label for sentence in labels for label in sentence} | set(known)))
    index = {label: i for i, label in enumerate(own)}
    trainer = pycrfsuite.Trainer(verbose=False)
    for xseq, y in zip(sentences, labels, strict=True):
        trainer.append(xseq, [str(index[label]) for label in y])
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
        try:
            _check_whole(path)
            tagger.open(path)
        except (OSError, ValueError):
            raise LconsError(
                f"cannot write a model into {tempfile.gettempdir()!r}: the disk is full; make room there, or"
                " set TMPDIR to another folder."
            ) from None
        info = tagger.info()
        tagger.close()
    attributes = tuple(sorted({names[int(attribute)] for attribute, _ in info.state_features}))
    row = {attribute: i for i, attribute in enumerate(attributes)}
    weights = np.zeros((len(attributes), len(own)))
    for (attribute, label), weight in info.state_features.items():
        weights[row[names[int(attribute)]], int(label)] = weight
    transition = np.zeros((len(own), len(own)))
    for (before, after), weight in info.transitions.items():
        transition[int(before), int(after)] = weight
    absent = [index[label] for label in set(known) - {label for sentence in labels for label in sentence}]
    start, stop = np.zeros(len(own)), np.zeros(len(own))
    transition[:, absent], start[absent] = ABSENT, ABSENT
    return LinearChain(own, tuple(columns), template, attributes, weights, transition, start, stop)


def _check_whole(path: str) -> None:
    """Raises ValueError if a file of crfsuite lacks a part: on a full disk, crfsuite writes what it can
    without an error, and reading such a file may end the process. The header has the size of the file, and
    then where its five parts begin."""
    with Path(path).open("rb") as file:
        header = file.read(_HEADER.size)
        size = file.seek(0, os.SEEK_END)
    if len(header) < _HEADER.size:
        raise ValueError(f"{path} has no header")
    magic, stated, *places = _HEADER.unpack(header)
    whole = places[0] > 0 and all(one < other for one, other in pairwise([*places, size]))
    if magic != b"lCRF" or stated != size or not whole:
        raise ValueError(f"{path} has {size} of {stated} bytes, and parts at {places}")
