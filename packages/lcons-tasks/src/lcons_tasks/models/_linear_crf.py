"""The linear CRF: a `LinearChain` trained by CRFsuite (L-BFGS, L1 and L2); no torch.

CRFsuite's weights are read once and kept as arrays. CRFsuite has no start and stop scores: the template
`text` has the attributes `first` and `last` instead.
"""

from __future__ import annotations

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
        raise InvalidInput(f"training needs words: got none in {len(train)} sentences.")
    from lcons_tasks.models._coded_text import CodedText

    settings = settings or LinearSettings()
    text = CodedText.of([sentence.x for sentence in train], settings.template, settings.columns)
    return text.train(range(len(train)), [sentence.labels for sentence in train], settings)


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

    seen = {label for sentence in labels for label in sentence}
    chosen = tuple(sorted(seen | set(known)))
    index = {label: i for i, label in enumerate(chosen)}
    trainer = pycrfsuite.Trainer(verbose=False)
    for xseq, y in zip(sentences, labels, strict=True):
        trainer.append(xseq, [str(index[label]) for label in y])
    trainer.set_params({"c1": settings.c1, "c2": settings.c2, "max_iterations": settings.iterations})
    trainer.set("feature.possible_transitions", True)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "crfsuite")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        try:
            _check_whole(path)
            tagger.open(path)
        except (OSError, ValueError):
            problem = f"cannot write a model into {tempfile.gettempdir()!r}: the disk is full"
            raise LconsError(f"{problem}; make room there, or set TMPDIR to another folder.") from None
        info = tagger.info()
        tagger.close()
    attributes = tuple(sorted({names[int(attribute)] for attribute, _ in info.state_features}))
    row = {attribute: i for i, attribute in enumerate(attributes)}
    L = len(chosen)
    weights, transition = np.zeros((len(attributes), L)), np.zeros((L, L))
    start, stop = np.zeros(L), np.zeros(L)
    for (attribute, label), weight in info.state_features.items():
        weights[row[names[int(attribute)]], int(label)] = weight
    for (before, after), weight in info.transitions.items():
        transition[int(before), int(after)] = weight
    absent = [index[label] for label in set(known) - seen]
    transition[:, absent], start[absent] = ABSENT, ABSENT
    return LinearChain(chosen, tuple(columns), template, attributes, weights, transition, start, stop)


def _check_whole(path: str) -> None:
    """Raises ValueError if a file of crfsuite lacks a part: on a full disk, crfsuite writes what it can
    without an error, and reading such a file may end the process. The header has the size of the file, and
    then where its five parts begin."""
    content = Path(path).read_bytes()
    magic, stated, *places = _HEADER.unpack(content[: _HEADER.size].ljust(_HEADER.size, b"\0"))
    whole = places[0] > 0 and all(first < next_ for first, next_ in pairwise([*places, len(content)]))
    if magic != b"lCRF" or stated != len(content) or not whole:
        raise ValueError(f"{path} has {len(content)} of {stated} bytes, and parts at {places}")
