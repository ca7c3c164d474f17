"""Packages whose names are imported at their first use.

The names are listed only once, in the stub file `__init__.pyi` of the package; type checkers read the same
file. This is `lazy_loader.attach_stub` in a few lines, because lcons-core depends only on numpy.
"""

from __future__ import annotations

from _ast import ImportFrom, PyCF_ONLY_AST  # `ast` itself is slow to import
from collections.abc import Callable
from importlib import import_module
from typing import Any

Attached = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def attach_stub(package: str, filename: str) -> Attached:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports in its stub file."""
    stub = f"{filename.rpartition('.')[0]}.pyi"
    with open(stub, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is slow to import)
        tree: Any = compile(file.read(), stub, "exec", PyCF_ONLY_AST)
    homes = {
        alias.name: node.module or ""
        for node in tree.body
        if isinstance(node, ImportFrom)
        for alias in node.names
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(import_module(package), name, value)
        return value

    return find, lambda: sorted(homes), sorted(homes)
