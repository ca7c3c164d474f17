"""Modules that moved since a release: the old names work for one minor version, with a `DeprecationWarning`.

A finder at the end of `sys.meta_path` is asked only for modules that do not exist, so it costs nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

# By old module: the new ones, and the version without the old one.
_HOMES: dict[str, tuple[tuple[str, ...], str]] = {}


def forward_modules(moved: Mapping[str, tuple[str, ...]], until: str) -> None:
    """From now on the module `old` in {old: homes} can be imported: its names are those of the first home
    that has them. Each use is a `DeprecationWarning` that states the new name, and that the old one goes with
    version `until`."""
    _HOMES.update({old: (homes, until) for old, homes in moved.items()})
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


class _Finder:
    """Finds and loads the modules that moved."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name not in _HOMES:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: object) -> None:
        return None  # as usual

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        homes, until = _HOMES[old]

        def find(name: str) -> Any:
            import warnings
            from importlib import import_module

            for home in () if name.startswith("_") else homes:
                new = import_module(home)
                if hasattr(new, name):
                    goes = f"{old}.{name} has moved and goes with version {until}"
                    warnings.warn(f"{goes}; use {home}.{name}.", DeprecationWarning, stacklevel=2)
                    return getattr(new, name)
            raise AttributeError(f"module {old!r} has no attribute {name!r}")

        module.__getattr__ = find  # type: ignore[method-assign]
