"""The chunkers: a BiLSTM-CRF or a linear CRF that reads only words, or words and POS tags.

Paper: Sec. 6: the base model reads only words, and the constraints read POS tags. The settings of the
BiLSTM-CRF on CoNLL-2000 are those of the paper's grid that were best on dev, one per ratio (`TUNED`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from lcons_core import MissingExtra
from lcons_core._errors import INSTALL_TORCH
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.models._word_vectors import WordVectors

# Base models by name: their kind, and the columns that they read besides words.
BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "bilstm": ("bilstm", ()),
    "bilstm+pos": ("bilstm", ("pos",)),
    "linear": ("linear", ()),
    "linear+pos": ("linear", ("pos",)),
}

# Settings of the BiLSTM-CRF by ratio. On the bundled corpus a quick run matters more than the last tenth of a
# point.
TUNED: dict[str, dict[float, dict[str, Any]]] = {
    "conll2000": {
        0.01: {"learning_rate": 0.005, "decay": 1e-5},
        0.05: {"learning_rate": 0.005, "decay": 1e-5},
        0.1: {"learning_rate": 0.005, "decay": 1e-5},
        0.25: {"learning_rate": 0.005, "decay": 1e-6},
        0.5: {"learning_rate": 0.001, "decay": 1e-5},
        1.0: {"learning_rate": 0.001, "decay": 1e-6},
    },
    "bundled": {1.0: {"patience_steps": 500}},
}


@dataclass(frozen=True)
class BaseModel:
    """A chunker and its training; `settings` override the defaults of its kind."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def tuned(cls, name: str, corpus: str, ratio: float) -> BaseModel:
        """The base model with the settings of the nearest tuned ratio, if there is one."""
        by_ratio = TUNED.get(corpus, {}) if name.startswith("bilstm") else {}
        nearest = min(by_ratio, key=lambda tuned: abs(tuned - ratio), default=None)
        return cls(name, () if nearest is None else tuple(sorted(by_ratio[nearest].items())))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads besides words."""
        return BASES[self.name][1]

    @property
    def reads_vectors(self) -> bool:
        """Whether it reads word vectors."""
        return BASES[self.name][0] == "bilstm"

    def to_dict(self) -> dict[str, Any]:
        """The name and every setting as plain data."""
        return {"name": self.name, "settings": asdict(self._full())}

    def train(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence],
        vectors: WordVectors | None,
        seed: int,
        kept: Stages,
    ) -> Tagger:
        """The chunker, trained now or read from its stage."""
        settings = self._full()
        if isinstance(settings, LinearSettings):
            make: Callable[[], Tagger] = partial(train_linear, train, settings)
        else:
            from lcons_tasks.models._crf_trainer import train_bilstm

            make = partial(train_bilstm, train, dev, settings, vectors, seed)
        inputs = {
            "train": hash_sentences(train),
            "dev": hash_sentences(dev),
            "seed": seed,
            "base": self.to_dict(),
            "vectors": None if vectors is None else vectors.sha256,
        }
        tagger: Tagger = kept.keep("base", inputs, make)
        return tagger

    def _full(self) -> Any:
        if not self.reads_vectors:
            return replace(LinearSettings(columns=self.columns), **dict(self.settings))
        try:
            from lcons_tasks.models._crf_trainer import BilstmSettings
        except ImportError as error:
            raise MissingExtra(
                f"the BiLSTM-CRF needs torch, but importing it failed ({error}); run: {INSTALL_TORCH},"
                " or choose the base model `linear`."
            ) from error
        return replace(BilstmSettings(columns=self.columns), **dict(self.settings))
