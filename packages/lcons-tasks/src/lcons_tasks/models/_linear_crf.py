"""The linear CRF: a `LinearChain` trained by CRFsuite (L-BFGS, L1 and L2); no torch.

CRFsuite's weights are read once and kept as arrays. CRFsuite has no start and stop scores: the template
`text` has the attributes `first` and `last` instead.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.data._sentence import Sentence
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models.phi._templates import attribute_rows


@dataclass(frozen=True)
class LinearSettings:
    """L1 and L2 penalties, the largest number of iterations, the template and the context columns to read."""

    c1: float = 0.02
    c2: float = 0.02
    iterations: int = 200
    columns: tuple[str, ...] = ()
    template: str = "text"


def train_linear(train: Sequence[Sentence], settings: LinearSettings | None = None) -> LinearChain:
    """The linear CRF that the sentences train."""
    import pycrfsuite

    if not any(map(len, train)):
        raise InvalidInput(
            f"training needs words: got none in {len(train)} sentences; pass a sentence with words."
        )
    settings = settings or LinearSettings()
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    index = {label: i for i, label in enumerate(labels)}
    # CRFsuite gets numbers instead of names: its dump is read line by line, and a name may hold a newline.
    number: dict[str, int] = {}
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        rows = attribute_rows(sentence.x, settings.template, settings.columns)
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
    nothing = np.zeros(len(labels))
    return LinearChain(
        labels, settings.columns, settings.template, attributes, weights, transition, nothing, nothing
    )
