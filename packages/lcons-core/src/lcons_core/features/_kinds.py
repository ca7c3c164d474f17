"""The kinds of features by name: the generic kinds, and the kinds that other packages register."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lcons_core._errors import InvalidInput
from lcons_core.features._counts import Counts
from lcons_core.features._existence import Existence
from lcons_core.features._ngrams import NgramContext, NgramLabels
from lcons_core.features._protocol import ConstraintFeature
from lcons_core.features._tuples import Tuples

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "lcons.features"


def feature_kinds() -> dict[str, type[ConstraintFeature]]:
    """All kinds by name: the generic kinds and the kinds that other packages register."""
    return {**{name: entry.load() for name, entry in _registered().items()}, **_generic_kinds()}


def feature_kind(name: str) -> type[ConstraintFeature]:
    """The kind of that name; code of another package is loaded only if it registers exactly this name."""
    generic = _generic_kinds()
    if name in generic:
        return generic[name]
    registered = _registered()
    if name not in registered:
        raise InvalidInput(
            f"unknown feature kind {name!r}; known kinds are {', '.join(sorted({*generic, *registered}))};"
            " install the package that registers it."
        )
    kind: type[ConstraintFeature] = registered[name].load()
    return kind


def feature_from_dict(data: Mapping[str, Any]) -> ConstraintFeature:
    """The feature of any kind that a `to_dict` described."""
    return feature_kind(str(data.get("kind"))).from_dict(data)


def _generic_kinds() -> dict[str, type[ConstraintFeature]]:
    generic: tuple[type[ConstraintFeature], ...] = (
        NgramLabels,
        NgramContext,
        Existence,
        Counts,
        Tuples,
    )
    return {kind.kind: kind for kind in generic}


def _registered() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
