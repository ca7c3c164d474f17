"""The public names of each package and subpackage are what they were."""

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from golden_files import V010, Golden

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["lcons_core", "lcons_core.testing", "lcons_decode", "lcons_tasks", "lcons_cli"]


def public_names(name: str) -> Iterator[str]:
    """The names in `__all__` of a module and of the public packages in it."""
    module = importlib.import_module(name)
    yield from (f"{name}.{public}" for public in sorted(getattr(module, "__all__", [])))
    for found in pkgutil.iter_modules(getattr(module, "__path__", []), f"{name}."):
        if found.ispkg and not found.name.rpartition(".")[2].startswith("_"):
            yield from public_names(found.name)


def test_the_public_names_are_the_same(golden: Golden):
    found = dict.fromkeys(public for name in PACKAGES for public in public_names(name))
    golden.text("public_names.txt", "".join(f"{public}\n" for public in found))


def test_the_names_of_0_1_0_are_where_they_were():
    """In each package that is still there; its old subpackages may have moved."""
    names = (V010 / "public_names.txt").read_text(encoding="utf-8").split()
    homes = {home: exists(home) for home in {name.rpartition(".")[0] for name in names}}
    kept = [name.rpartition(".") for name in names if homes[name.rpartition(".")[0]]]
    assert len(kept) > 100
    gone = [f"{home}.{name}" for home, _, name in kept if not hasattr(importlib.import_module(home), name)]
    assert gone == []


def test_a_module_of_0_1_0_that_is_gone_is_in_the_changelog_with_its_successor():
    names = (V010 / "public_names.txt").read_text(encoding="utf-8").split()
    gone = sorted(home for home in {name.rpartition(".")[0] for name in names} if not exists(home))
    assert gone
    assert [home for home in gone if f"`{home}`" not in changelog(home)] == []


def changelog(module: str) -> str:
    """The changelog of the package that a module belongs to."""
    package = module.partition(".")[0].replace("_", "-")
    return (ROOT / "packages" / package / "CHANGELOG.md").read_text(encoding="utf-8")


def exists(module: str) -> bool:
    """Whether there is a module of that name."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
