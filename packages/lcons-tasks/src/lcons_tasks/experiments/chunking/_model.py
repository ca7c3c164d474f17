"""The chunkers: a BiLSTM-CRF or a linear CRF that reads only words, or words and POS tags.

Paper: Sec. 6: the base model reads only words, and the constraints read POS tags. The settings of the
BiLSTM-CRF are those that `lcons run chunking --tune` chose on dev, one per ratio (`settings.json`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_core import InvalidInput, MissingExtra
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._tagger import Tagger, load_tagger
from lcons_tasks.models._word_vectors import WordVectors

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Tell
    from lcons_tasks.experiments.engine._kept import Stages

SETTINGS = Path(__file__).with_name("settings.json")

# Base models by name: their kind, and the columns that they read besides words.
BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "bilstm": ("bilstm", ()),
    "bilstm+pos": ("bilstm", ("pos",)),
    "linear": ("linear", ()),
    "linear+pos": ("linear", ("pos",)),
}

USUAL_EPOCHS = 30

# On the bundled corpus a quick run matters more than the last tenth of a point.
QUICK = (("patience_steps", 500),)


@dataclass(frozen=True)
class BaseModel:
    """A chunker and its training; `settings` override the defaults of its kind."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.name not in BASES:
            raise InvalidInput(f"unknown base model {self.name!r}; choose one of {', '.join(BASES)}.")

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
        tell: Tell | None = None,
    ) -> Tagger:
        """The trained chunker; `tell` is called after each epoch, with its share of the usual thirty
        epochs."""
        settings = self._full()
        if isinstance(settings, LinearSettings):
            return train_linear(train, settings)
        from lcons_tasks.models._crf_trainer import Epoch, train_bilstm

        def progress(epoch: Epoch) -> None:
            if tell is not None:
                share = min(0.95, epoch.epoch / USUAL_EPOCHS)
                tell(share, f"{self.name}: epoch {epoch.epoch}, dev {100 * epoch.best:.2f}")

        return train_bilstm(train, dev, settings, vectors, seed, progress)

    def _full(self) -> Any:
        kind, columns = BASES[self.name]
        if kind == "linear":
            return replace(LinearSettings(columns=columns), **dict(self.settings))
        try:
            from lcons_tasks.models._crf_trainer import BilstmSettings
        except ImportError as error:
            raise MissingExtra(
                f"the BiLSTM-CRF needs torch, but importing it failed ({error}); run: pip install torch, or"
                " choose the base model `linear`."
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
    """The result of `tune` by corpus, model and ratio: the dev scores of all settings, and the chosen one."""
    found: dict[str, Any] = json.loads(SETTINGS.read_text(encoding="utf-8")) if SETTINGS.is_file() else {}
    return found


def base_model(
    base: BaseModel,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    vectors: WordVectors | None,
    seed: int,
    kept: Stages,
    tell: Tell,
) -> Tagger:
    """The chunker, trained now or read from its stage."""
    inputs = {
        "train": hash_sentences(train),
        "dev": hash_sentences(dev),
        "seed": seed,
        "base": base.to_dict(),
        "vectors": None if vectors is None else vectors.sha256,
    }

    def make(folder: Path) -> None:
        base.train(train, dev, vectors, seed, tell).save(folder / "model.npz")

    return kept.keep("base", inputs, make, lambda folder: load_tagger(folder / "model.npz"))
