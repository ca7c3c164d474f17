"""`ConstraintFeature`, the base of every constraint feature, and the checks of its fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._psi import SparsePsi
from lcons_core._space import MAX_COLUMNS, FeatureSpace
from lcons_core._types import Ints

LARGEST_N = 32


class Scope(StrEnum):
    """LOCAL: psi has one row per part, and each must be accepted. GLOBAL: one row for the whole structure."""

    LOCAL = "local"
    GLOBAL = "global"


@dataclass(frozen=True)
class GroundedRow:
    """One psi row as a function of the output indicators: variable (position, label) is 1 iff y has it.

    Column j is the sum of its `constant` and its `linear` variables, or, if it is in `any_of`, 1 iff all
    variables of at least one of the listed groups are 1.
    """

    constant: Mapping[int, int]
    linear: Mapping[int, tuple[tuple[int, str], ...]]
    any_of: Mapping[int, tuple[tuple[tuple[int, str], ...], ...]]


# The kinds whose classes were defined in this process, such as a cell of a notebook, by name.
DEFINED: dict[str, type[ConstraintFeature]] = {}


class ConstraintFeature(ABC):
    """Computes psi from structures: a frozen dataclass of plain data.

    A kind has a name, a scope, `space`, `psi` and `from_instances`. Others have defaults: `column` is the
    column of x that psi reads and `context_column` the one that every x must have, `labels` those of its
    sequences, `n` the length of its n-grams, `pad` whether they include padding, `names` the members of its
    tuples. A field of one of these names is declared with `= field()`.
    """

    kind: ClassVar[str]
    scope: ClassVar[Scope]
    column: str | None = None
    context_column: str | None = None
    labels: tuple[str, ...] = ()
    n: int | None = None
    pad: bool = False
    names: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            DEFINED[cls.kind] = cls

    @property
    @abstractmethod
    def space(self) -> FeatureSpace:
        """The names of psi's columns."""

    @abstractmethod
    def psi(self, structure: Any) -> SparsePsi:
        """The psi rows of one structure; raises `InvalidInput` for an unknown label."""

    @classmethod
    @abstractmethod
    def from_instances(cls, *structures: Any, **options: Any) -> Self:
        """The feature with the vocabularies of an iterable of training structures."""

    def ground(self, structure: Any) -> list[GroundedRow] | None:
        """The psi rows of a sequence as functions of its output indicators, for integer programs; None if
        there is no such function."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `kind` and the fields."""
        dataclass_: Any = self
        values = {field.name: getattr(self, field.name) for field in fields(dataclass_)}
        return {"kind": self.kind, **{name: _lists(value) for name, value in values.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        dataclass_: Any = cls
        return cls(**{field.name: _tuples(data[field.name]) for field in fields(dataclass_)})

    def label_ids(self, y: Sequence[str]) -> Ints:
        """(T,) indices into `labels`; raises `InvalidInput` for an unknown label."""
        try:
            return np.array([self._label_ids[label] for label in y], dtype=np.int64)
        except (KeyError, TypeError):
            unknown = next(label for label in y if label not in self.labels)
            known = ", ".join(self.labels[:12]) + " ..." * (len(self.labels) > 12)
            raise InvalidInput(f"unknown label {unknown!r}; the feature has {known}.") from None

    @cached_property
    def _label_ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}


def checked_names(values: Iterable[str], what: str) -> tuple[str, ...]:
    """`values` as a tuple, checked to be distinct non-empty strings; at least one."""
    if isinstance(values, dict | set | frozenset):
        raise InvalidInput(f"{what} must be a list, whose order is known: got a {type(values).__name__}.")
    names = tuple(values)
    if len(names) > MAX_COLUMNS:
        raise TooLarge(f"{what} must be at most {MAX_COLUMNS:,}, found {len(names):,}.")
    are_names = names and all(isinstance(name, str) and name for name in names)
    if not are_names or len(set(names)) != len(names):
        raise InvalidInput(f"{what} must be distinct non-empty strings, one or more: got {names!r:.80}.")
    return names


def checked_n(n: int, least: int = 1) -> int:
    """The length n of an n-gram, after a check."""
    if type(n) is not int or not least <= n <= LARGEST_N:
        raise InvalidInput(f"n must be an integer in {least}..{LARGEST_N}, found {n!r:.40}.")
    return n


def checked_flag(value: bool, name: str) -> bool:
    """A truth value, after a check."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, found {value!r:.40}.")
    return value


def vocabulary(values: Iterable[str], what: str) -> tuple[str, ...]:
    """The distinct values, sorted; at least one."""
    distinct = set(values)
    for value in distinct:
        if not isinstance(value, str):
            raise InvalidInput(f"every {what} must be a string, found {value!r}.")
    if not distinct:
        raise InvalidInput(f"expected at least one {what} in the structures, found none.")
    return tuple(sorted(distinct))


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
