"""The base models: first-order chains, trained as structured SVMs, with weak and strong features.

| base | features | training |
|---|---|---|
| words | word identity, as in the paper | no regularisation, averaged weights |
| words-brief | the same | stopped after 25 passes, about as strong as the paper's model |
| words+pos | word identity, POS tags and their neighbours | no regularisation, averaged weights |
| reference | shapes, affixes, context, segments, position (template `reference`) | C = 0.03 |

Paper: Sec. 5. Its model reaches 86.2 on its split. `words` is stronger, and a stronger model leaves less for
constraints to correct. `words-brief` is about as strong as the paper's model, so that gains can be compared.
Its number of passes was chosen by eye and is a little high: on dev references of Cora (five splits), 22
passes reach 86.1, 25 reach 86.9, and 30 reach 87.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.models._chain_svm import train_chain_svm
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models._structured_svm import SvmSettings


@dataclass(frozen=True)
class BaseModel:
    """A base model: its features and the settings of its training."""

    name: str
    template: str
    columns: tuple[str, ...]
    settings: SvmSettings

    def to_dict(self) -> dict[str, Any]:
        """The base model as plain data."""
        return asdict(self)

    def train(self, train: Sequence[Sentence], kept: Stages) -> LinearChain:
        """The model, trained now or read from its stage."""
        inputs = {"train": hash_sentences(train), "base": self.to_dict()}
        make = partial(train_chain_svm, train, self.settings, template=self.template, columns=self.columns)
        return kept.keep("svm", inputs, make)[0]


BASES = {
    base.name: base
    for base in (
        BaseModel("words", "words", (), SvmSettings(C=None, passes=300)),
        BaseModel("words-brief", "words", (), SvmSettings(C=None, passes=25)),
        BaseModel("words+pos", "words", ("pos",), SvmSettings(C=None, passes=100)),
        BaseModel("reference", "reference", (), SvmSettings(C=0.03, passes=100, tolerance=0.1)),
    )
}
