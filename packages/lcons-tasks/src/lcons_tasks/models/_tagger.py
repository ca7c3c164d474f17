"""The protocol of all sequence models: labels, chain scores of inputs, a size, and a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from lcons_core import MissingExtra
from lcons_core._errors import INSTALL_TORCH
from lcons_decode import ChainBatch
from lcons_tasks.models._model_file import Arrays, Saved, damaged, read_model

Columns = Mapping[str, Sequence[str]]


# The module and the class of each kind of model; a module is imported when a file of its kind is read.
KINDS = {
    "linear-chain": ("_linear_chain", "LinearChain"),
    "bilstm-crf": ("_bilstm_crf", "BilstmCrf"),
    "embedded-chain": ("_embedded_chain", "EmbeddedChain"),
    "consistent-chain": ("_consistent_chain", "ConsistentChain"),
}


class Tagger(Protocol):
    """A trained model."""

    @property
    def kind(self) -> str:
        """The name of the kind of model."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training data, sorted."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model reads beside words."""

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that holds all it needs."""


class OverBase(Saved):
    """What models share that adjust the scores of a `base` model; their files have its arrays, too."""

    base: Tagger

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training data, sorted."""
        return self.base.labels

    def with_base(self, header: Mapping[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file, those of the base model included."""
        base, inner = self.base.contents
        return {**header, "base": base}, {**{f"base.{name}": a for name, a in inner.items()}, **arrays}


def base_of(header: Mapping[str, Any], arrays: Arrays) -> Tagger:
    """The base model in a file that `with_base` describes."""
    inner = {name.removeprefix("base."): a for name, a in arrays.items() if name.startswith("base.")}
    return from_contents(header["base"], inner)


def load_tagger(path: str | os.PathLike[str]) -> Tagger:
    """The model in a file, of any kind; only a BiLSTM-CRF needs torch."""
    header, arrays = read_model(path)
    try:
        return from_contents(header, arrays)
    except ImportError as error:
        name = error.name or "torch"
        command = INSTALL_TORCH if name == "torch" else f"pip install {name}"
        raise MissingExtra(f"the model {os.fspath(path)!r} needs {name}; run `{command}`.") from error
    except Exception as error:  # a header may hold anything, so any line above may fail
        raise damaged(path, f"{type(error).__name__} {error}") from None


def from_contents(header: Mapping[str, Any], arrays: Arrays) -> Tagger:
    """The model with these `contents`; raises an error of any kind if they are not those of a model."""
    kind = header.get("kind")
    if kind not in KINDS:
        raise ValueError(f"its kind is {kind!r}")
    module, name = KINDS[kind]
    model: Tagger = getattr(import_module(f"lcons_tasks.models.{module}"), name).from_file(header, arrays)
    return model
