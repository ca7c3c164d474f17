"""`ConstraintFeature`, the interface of every constraint feature, with its defaults and checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, Self

from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._psi import SparsePsi
from lcons_core._space import MAX_COLUMNS, FeatureSpace

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


class ConstraintFeature(Protocol):
    """Computes psi from structures; frozen plain data.

    A kind may omit `labels`, `n`, `pad`, `names`, `context_column` and `ground`: a constraint with such a
    feature adds the defaults to the kind (`complete_kind`).
    """

    kind: ClassVar[str]
    scope: ClassVar[Scope]

    @property
    def space(self) -> FeatureSpace:
        """The names of psi's columns."""
        ...

    @property
    def column(self) -> str | None:
        """The column of x that psi reads, if any."""
        ...

    @property
    def context_column(self) -> str | None:
        """The column that every x must have; None if psi can be computed without one."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its sequences; none if the feature is not about labels of a sequence."""
        ...

    @property
    def n(self) -> int | None:
        """The length of its n-grams, if it is about n-grams."""
        ...

    @property
    def pad(self) -> bool:
        """Whether its n-grams include padding at both ends of a sequence."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members of its tuples, if it is about tuples."""
        ...

    def psi(self, structure: Any) -> SparsePsi:
        """The psi rows of one structure; raises `InvalidInput` for an unknown label."""
        ...

    def ground(self, structure: Any) -> list[GroundedRow] | None:
        """The psi rows of a sequence as functions of its output indicators, for integer programs; None if
        there is no such function."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `kind` and the fields."""
        ...

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        ...

    @classmethod
    def from_instances(cls, *structures: Any, **options: Any) -> Self:
        """The feature with the vocabularies of an iterable of training structures."""
        ...


def _no_grounding(self: object, structure: Any) -> None:
    return None


_DEFAULTS: Mapping[str, Any] = {
    "context_column": None,
    "labels": (),
    "n": None,
    "pad": False,
    "names": (),
    "ground": _no_grounding,
}


def complete_kind(given: ConstraintFeature) -> None:
    """Adds defaults to the kind of a feature for the members that it omits."""
    for name, default in _DEFAULTS.items():
        if not hasattr(given, name):
            setattr(type(given), name, default)


def checked_names(values: Iterable[str], what: str) -> tuple[str, ...]:
    """`values` as a tuple, checked to be distinct non-empty strings; at least one."""
    names = tuple(values)
    if len(names) > MAX_COLUMNS:
        raise TooLarge(f"{what} must be at most {MAX_COLUMNS:,}, found {len(names):,}; use fewer.")
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(
            f"{what} must be one or more non-empty strings, found {names!r:.80}; give each a name."
        )
    if len(set(names)) != len(names):
        raise InvalidInput(f"{what} must be distinct, found {names!r:.80}; drop the duplicates.")
    return names


def checked_n(n: int, least: int = 1) -> int:
    """The length n of an n-gram, after a check."""
    if not isinstance(n, int) or isinstance(n, bool) or not least <= n <= LARGEST_N:
        raise InvalidInput(
            f"n must be an integer in {least}..{LARGEST_N}, found {n!r:.40}; use a shorter n-gram."
            if least == 1
            else f"n must be an integer in {least}..{LARGEST_N} with padding, found {n!r:.40}."
        )
    return n


def checked_flag(value: bool, name: str) -> bool:
    """A truth value, after a check."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, found {value!r:.40}.")
    return value


def vocabulary(values: Iterable[str], what: str) -> tuple[str, ...]:
    """The distinct values, sorted; at least one."""
    distinct = set(values)
    strange = [value for value in distinct if not isinstance(value, str)]
    if strange:
        raise InvalidInput(
            f"every {what} must be a string, found {strange[0]!r} ({type(strange[0]).__name__}); convert it."
        )
    found = tuple(sorted(distinct))
    if not found:
        raise InvalidInput(f"expected at least one {what} in the structures, found none.")
    return found
