"""The chunkers: a BiLSTM-CRF or a linear CRF that reads only words, or words and POS tags.

Paper: Sec. 6: the base model reads only words, and the constraints read POS tags. The settings of the
BiLSTM-CRF are those of the paper's grid that were best on dev, one per ratio (`settings.json`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_core import MissingExtra
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.models._word_vectors import WordVectors

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

SETTINGS = Path(__file__).with_name("settings.json")

# Base models by name: their kind, and the columns that they read besides words.
BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "bilstm": ("bilstm", ()),
    "bilstm+pos": ("bilstm", ("pos",)),
    "linear": ("linear", ()),
    "linear+pos": ("linear", ("pos",)),
}

# On the bundled corpus a quick run matters more than the last tenth of a point.
QUICK = (("patience_steps", 500),)


@dataclass(frozen=True)
class BaseModel:
    """A chunker and its training; `settings` override the defaults of its kind."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()

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
    ) -> Tagger:
        """The trained chunker."""
        settings = self._full()
        if isinstance(settings, LinearSettings):
            return train_linear(train, settings)
        from lcons_tasks.models._crf_trainer import train_bilstm

        return train_bilstm(train, dev, settings, vectors, seed)

    def _full(self) -> Any:
        kind, columns = BASES[self.name]
        if kind == "linear":
            return replace(LinearSettings(columns=columns), **dict(self.settings))
        try:
            from lcons_tasks.models._crf_trainer import BilstmSettings
        except ImportError as error:
            raise MissingExtra(
                f"the BiLSTM-CRF needs torch, but importing it failed ({error}); run: pip install torch"
                " --index-url https://download.pytorch.org/whl/cpu, or choose the base model `linear`."
            ) from error
        return replace(BilstmSettings(columns=columns), **dict(self.settings))


def tuned(name: str, corpus: str, ratio: float) -> BaseModel:
    """The base model with the settings that were chosen on dev for the nearest tuned ratio, if there is
    one."""
    if BASES[name][0] != "bilstm":
        return BaseModel(name)
    by_ratio = tuned_settings().get(corpus, {}).get("bilstm", {})
    if not by_ratio:
        return BaseModel(name, QUICK if corpus == "bundled" else ())
    nearest = min(by_ratio, key=lambda text: abs(float(text) - ratio))
    return BaseModel(name, tuple(sorted(by_ratio[nearest]["chosen"].items())))


@cache
def tuned_settings() -> dict[str, Any]:
    """The settings by corpus, model and ratio: the dev scores of all that were tried, and the chosen one."""
    found: dict[str, Any] = json.loads(SETTINGS.read_text(encoding="utf-8"))
    return found


def base_model(
    base: BaseModel,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    vectors: WordVectors | None,
    seed: int,
    kept: Stages,
) -> Tagger:
    """The chunker, trained now or read from its stage."""
    inputs = {
        "train": hash_sentences(train),
        "dev": hash_sentences(dev),
        "seed": seed,
        "base": base.to_dict(),
        "vectors": None if vectors is None else vectors.sha256,
    }
    return kept.keep("base", inputs, partial(base.train, train, dev, vectors, seed))
