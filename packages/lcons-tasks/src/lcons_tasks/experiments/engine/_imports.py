"""The code that a module runs: itself and all that it imports, found in the source without running it.

    closure(M) = {M} + closure of every module that M imports, at its top or inside a function

A name that a package re-exports leads to the module that defines it, so that a stage does not depend on the
rest of the package. Imports for type checkers alone run nothing and are left out. Modules are followed inside
lcons and inside the package of M; what else is imported is a library, of which the version counts.
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
        """The hash of each module's source, and the version of each library that is installed."""
        versions = {name: version_of(name) for name in sorted(self.libraries)}
        return {
            "modules": {name: source_hash(name) for name in sorted(self.modules)},
            "libraries": {name: version for name, version in versions.items() if version},
        }


@cache
def code_of(module: str) -> Code:
    """What a module runs.

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
    """The modules whose code a module uses directly: those that define the names that it imports."""
    found: set[str] = set()
    for node in _running(_tree(module)):
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


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            for other in node.orelse:
                yield other
                yield from _running(other)
            continue
        yield node
        yield from _running(node)


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
    """The modules that define a name of a module: itself, a module below it, or one that it re-exports from;
    all modules of a package that makes its names in a way that cannot be read."""
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
    """Where the imports of a package's names stand: in the stub beside its `__init__.py`, if it has one."""
    stub = _path(package).with_suffix(".pyi")
    return ast.parse(stub.read_text(encoding="utf-8")) if stub.is_file() else _tree(package)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text(encoding="utf-8"))


def _is_package(module: str) -> bool:
    file = _file(module)
    return file is not None and file.name == "__init__.py"


def _path(module: str) -> Path:
    file = _file(module)
    if file is None:
        raise LconsError(f"there is no source of module {module!r} to read.")
    return file


@cache
def _file(module: str) -> Path | None:
    """Where the source of a module is; None where there is no such module."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is None:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            return None
        loaded = None if spec is None else spec.origin
    return Path(loaded) if loaded is not None and loaded.endswith(".py") else None


@cache
def source_hash(module: str) -> str:
    """The sha256 of the source of a module."""
    return hashlib.sha256(_path(module).read_bytes()).hexdigest()


@cache
def version_of(library: str) -> str | None:
    """The version of the distribution that a library comes from; None where it is not installed."""
    names = _distributions().get(library, ())
    return ", ".join(sorted(f"{name} {metadata.version(name)}" for name in set(names))) or None


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
