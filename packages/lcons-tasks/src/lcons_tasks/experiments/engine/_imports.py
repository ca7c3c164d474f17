"""The code that a module runs: the module and all its imports, found in the source without running it.

    closure(M) = {M} + closure of every module that M imports, at its top or inside a function

A name that a package re-exports is followed to the module that defines it, so that a stage does not depend on
the rest of the package. Imports under `TYPE_CHECKING` run nothing and are left out. Imports are followed
inside lcons and inside the package of M. Every other import is a library, and its version counts.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from lcons_core import LconsError

OURS = ("lcons_core", "lcons_decode", "lcons_tasks", "lcons_cli")


@dataclass(frozen=True)
class Code:
    """The modules of a closure, and the libraries that they import."""

    modules: frozenset[str]
    libraries: frozenset[str]

    def to_dict(self) -> dict[str, dict[str, str]]:
        """The hash of each module's source, and the version of each installed library."""
        versions = {name: version_of(name) for name in sorted(self.libraries)}
        return {
            "modules": {name: source_hash(name) for name in sorted(self.modules)},
            "libraries": {name: version for name, version in versions.items() if version},
        }


@cache
def code_of(module: str) -> Code:
    """The code that a module runs.

    >>> code = code_of("lcons_tasks.experiments.engine._choice")
    >>> sorted(code.modules), sorted(code.libraries)
    (['lcons_tasks.experiments.engine._choice'], ['numpy'])
    """
    followed = _followed(module)
    modules: set[str] = set()
    libraries: set[str] = set()
    left = [module]
    while left:
        one = left.pop()
        if one.partition(".")[0] in followed:
            if one not in modules:
                modules.add(one)
                left += imports(one)
        elif one.partition(".")[0] not in sys.stdlib_module_names:
            libraries.add(one.partition(".")[0])
    return Code(frozenset(modules), frozenset(libraries))


@cache
def imports(module: str) -> frozenset[str]:
    """The modules that define the names that a module imports."""
    found: set[str] = set()
    for node in _running(_tree(module), calls="import_module" in _text(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _source(module, node)
            if source.partition(".")[0] in _followed(module):
                found.update(one for alias in node.names for one in _homes(source, alias.name))
            else:
                found.add(source)
        elif isinstance(node, ast.Call) and _name(node.func) == "import_module" and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.add(name.value)
    return frozenset(found)


def _followed(module: str) -> set[str]:
    return {*OURS, module.partition(".")[0]}


def _running(tree: ast.AST, calls: bool) -> Iterator[ast.AST]:
    """Every statement, except those that only a type checker reads; with `calls`, every other node, too, of
    which there are ten times as many."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            left += node.orelse
        elif calls:
            left += ast.iter_child_nodes(node)
        else:
            for field in ("body", "orelse", "handlers", "finalbody", "cases"):
                below = getattr(node, field, None)
                left += below if isinstance(below, list) else []


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _source(module: str, node: ast.ImportFrom) -> str:
    """The module that a statement imports from."""
    if not node.level:
        return node.module or ""
    inside = module.split(".") if _is_package(module) else module.split(".")[:-1]
    parts = inside[: len(inside) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def _homes(source: str, name: str) -> tuple[str, ...]:
    """The modules that define a name of `source`: `source` itself, a module below it, or the module from
    which it is re-exported; all modules of a package if `__getattr__` makes its names."""
    if not _is_package(source):
        return (source,)
    if _file(f"{source}.{name}") is not None:
        return (f"{source}.{name}",)
    tree = _names(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in [one.asname or one.name for one in node.names]:
            original = next(one.name for one in node.names if name == (one.asname or one.name))
            return _homes(_source(source, node), original)
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in _tree(source).body):
        return _inside(source)
    return (source,)


def _inside(package: str) -> tuple[str, ...]:
    file = _path(package)
    below = (path.relative_to(file.parent).with_suffix("").parts for path in file.parent.rglob("*.py"))
    return tuple(sorted(".".join([package, *(p for p in parts if p != "__init__")]) for parts in below))


@cache
def _names(package: str) -> ast.Module:
    """The syntax tree with the imports of a package's names: the stub next to its `__init__.py`, if any."""
    stub = _path(package).with_suffix(".pyi")
    return ast.parse(stub.read_text(encoding="utf-8")) if stub.is_file() else _tree(package)


def _tree(module: str) -> ast.Module:
    """The syntax tree of a module, which is not kept: those of all modules have half a million objects, and
    the garbage collector would visit them again and again."""
    return ast.parse(_text(module))


@cache
def _text(module: str) -> str:
    return _path(module).read_text(encoding="utf-8")


def _is_package(module: str) -> bool:
    file = _file(module)
    return file is not None and file.name == "__init__.py"


def _path(module: str) -> Path:
    file = _file(module)
    if file is None:
        raise LconsError(f"expected the source file of module {module!r}, found none; install its source.")
    return file


@cache
def _file(module: str) -> Path | None:
    """The path of a module's source; None if there is no such module. No package is imported for it: one may
    need a library that is not installed."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    package, _, name = module.rpartition(".")
    if loaded is None and package:
        home = _file(package)
        if home is None or home.name != "__init__.py":
            return None
        beside = home.with_name(f"{name}.py"), home.with_name(name) / "__init__.py"
        return next((path for path in beside if path.is_file()), None)
    if loaded is None:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            return None
        loaded = None if spec is None else spec.origin
    return Path(loaded) if loaded is not None and loaded.endswith(".py") else None


@cache
def source_hash(module: str) -> str:
    """The sha256 of a module's source."""
    return hashlib.sha256(_path(module).read_bytes()).hexdigest()


@cache
def version_of(library: str) -> str | None:
    """The version of a library's distribution; None if it is not installed."""
    names = _distributions().get(library, ())
    return ", ".join(sorted(f"{name} {metadata.version(name)}" for name in set(names))) or None


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
