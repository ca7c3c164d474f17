"""The scores that all sequences of a file share, and the checks that are the same for both formats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LconsError
from lcons_core._instance import WORD
from lcons_decode._scores import MAX_LABELS, WORDS, ChainScores, Scored

MODEL = ("transition", "start", "stop")


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """The labels and scores that all sequences share, checked once."""

    labels: tuple[str, ...]
    empty: ChainScores

    @classmethod
    def of(cls, labels: tuple[str, ...] | None, shared: Mapping[str, Any], where: str) -> ScoreModel:
        if labels is None:
            raise InvalidInput(
                f"{where}: expected the names of the labels, found none; write them as `labels` before the"
                " first sequence, or pass `labels=`."
            )
        L = len(labels)
        if L > MAX_LABELS:
            raise InvalidInput(f"{where}: expected at most {MAX_LABELS:,} labels, found {L:,}; use fewer.")
        arrays = {
            name: _numbers(value, f"{where}: {name}", "row" if name == "transition" else "label", L)
            for name, value in shared.items()
        }
        with _located(where):
            return cls(labels, ChainScores(np.zeros((0, L)), **arrays, labels=labels))

    def scored(
        self, emission: Any, x: dict[str, tuple[str, ...]], where: str, identifier: Any = None
    ) -> Scored:
        L = len(self.labels)
        rows = _numbers(emission, f"{where}: emission", "token", L)
        if rows.shape == (0,):
            rows = np.zeros((0, L))
        if rows.ndim != 2 or rows.shape[1] != L:
            raise InvalidInput(
                f"{where}: expected emission of shape (tokens, {L}), one score per label, found {rows.shape};"
                " write one score for each label, in the order of the labels."
            )
        rows.flags.writeable = False
        with _located(where):
            scores = self.empty.of_same_model(rows)
        return Scored(scores, x, where, identifier)


def string_columns(members: Mapping[str, Any], where: str) -> dict[str, tuple[str, ...]]:
    """The columns of strings, with the words under "word"; values that are not lists are ignored."""
    columns: dict[str, tuple[str, ...]] = {}
    for key, values in members.items():
        if key == "labels":
            raise InvalidInput(
                f"{where}: expected the labels once, in an object before the sequences, found `labels` next"
                " to `emission`; give gold labels another name, such as `gold`."
            )
        if not isinstance(values, list | tuple):
            continue
        name = WORD if key == WORDS else key
        if not {*map(type, values)} <= {str} or name in columns:
            raise InvalidInput(
                f"{where}: expected {key!r} once, as a column of strings, found {str(values)[:40]!r}; write"
                " strings, or leave it out."
            )
        columns[name] = tuple(values)
    return columns


def label_names(values: Any, where: str) -> tuple[str, ...]:
    named = isinstance(values, list) and values and all(isinstance(v, str) and v for v in values)
    if not named or len(set(values)) != len(values):
        raise InvalidInput(
            f"{where}: expected labels as distinct names, found {str(values)[:60]!r}; name each column of"
            " emission once."
        )
    return tuple(values)


def agreed(
    stated: tuple[str, ...] | None, passed: tuple[str, ...] | None, where: str
) -> tuple[str, ...] | None:
    if stated is not None and passed is not None and stated != passed:
        raise InvalidInput(
            f"{where}: expected the same labels as those passed ({', '.join(passed[:6])}), found others"
            f" ({', '.join(stated[:6])}); leave one of them out."
        )
    return stated if stated is not None else passed


def _numbers(value: Any, where: str, each: str, L: int) -> NDArray[np.float64]:
    """An array of numbers; `each` is the name of one member of the list, L the length of a row."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidInput(f"{where}: {_what_is_wrong(value, each, L)}")
    return array.astype(np.float64)


def _what_is_wrong(value: Any, each: str, L: int) -> str:
    """The first member of a list that is not a number or not a row of numbers, and what to do."""
    if isinstance(value, np.ndarray):
        return f"expected numbers, found an array of {value.dtype}; convert it with astype(float)."
    if not isinstance(value, list):
        return f"expected a list of numbers, found {_shown(value)}; write one number per label."
    rows = any(isinstance(row, list) for row in value)
    for i, row in enumerate(value, start=1):
        if rows and not isinstance(row, list):
            return (
                f"expected a list of {L} scores for {each} {i}, found {_shown(row)}; write one row per"
                f" {each}."
            )
        for cell in row if rows else [row]:
            if cell is None:
                return f"expected numbers for {each} {i}, found null; write -Infinity to forbid a label."
            if isinstance(cell, bool) or not isinstance(cell, int | float):
                return f"expected numbers for {each} {i}, found {_shown(cell)}; write plain numbers."
        if rows and len(row) != L:
            return f"expected {L} scores for {each} {i}, found {len(row)}; write one score per label."
    return "expected numbers that fit in 64 bits, found larger ones; scale them down."


def _shown(value: Any) -> str:
    """A value as JSON, cut to 40 characters."""
    return f"{json.dumps(value, ensure_ascii=False):.40}"


@contextmanager
def _located(where: str) -> Iterator[None]:
    try:
        yield
    except LconsError as error:
        raise InvalidInput(f"{where}: {error}") from None
