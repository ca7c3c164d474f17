"""The public names of each package and subpackage are what they were."""

import importlib
import pkgutil
from collections.abc import Iterator

from golden_files import Golden

PACKAGES = [
    "lcons_core",
    "lcons_core.space",
    "lcons_core.testing",
    "lcons_decode",
    "lcons_tasks",
    "lcons_cli",
]


def public_names(name: str) -> Iterator[tuple[str, list[str]]]:
    """(package, its `__all__`) of a module and of the packages in it that state one."""
    package = importlib.import_module(name)
    if hasattr(package, "__all__"):
        yield name, sorted(package.__all__)
    for found in pkgutil.iter_modules(getattr(package, "__path__", []), f"{name}."):
        if found.ispkg:
            yield from public_names(found.name)


def test_the_public_names_are_the_same(golden: Golden):
    found = {package: names for name in PACKAGES for package, names in public_names(name)}
    lines = [f"{package}.{name}\n" for package, names in found.items() for name in names]
    golden.text("public_names.txt", "".join(lines))
