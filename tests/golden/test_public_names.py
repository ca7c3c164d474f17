"""The public names of each package and subpackage are what they were."""

import importlib
import pkgutil
from collections.abc import Iterator

from golden_files import Golden

PACKAGES = [
    "lcons_core",
    "lcons_core.testing",
    "lcons_decode",
    "lcons_tasks",
    "lcons_tasks.apps.references",
    "lcons_cli",
]


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
