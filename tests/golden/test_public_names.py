"""The public names of each package and subpackage are what they were."""

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from golden_files import V010, Golden

from lcons_core._moved import _HOMES

ROOT = Path(__file__).resolve().parents[2]
# Without a successor of the same name: compiled kernels, a class that is now `lcons_core.Recipe`, and formats
# of references, which are in lcons-contrib.
GONE = {
    "lcons_tasks.labelled.LearnSettings",
    "lcons_decode.CrfsuiteScores",
    "lcons_decode.from_pytorch_crf",
    *(
        f"lcons_tasks.parsing.{name}"
        for name in (
            *(
                "OTHERS",
                "CslItem",
                "Date",
                "Name",
                "keys",
                "parse_date",
                "parse_names",
                "to_bibtex",
                "to_csl",
            ),
        )
    ),
    *(
        f"lcons_decode.kernels.compiled.{name}"
        for name in (
            *("allowed_codes", "beam_many", "best_pairs", "constrained_many", "hard_levels", "label_pairs"),
            *("pair_bounds", "soft_many", "viterbi_many"),
        )
    ),
}
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


def test_the_names_of_0_1_0_are_where_they_were_or_warn_where_they_are():
    names = (V010 / "public_names.txt").read_text(encoding="utf-8").split()
    warned = set()
    for name in set(names) - GONE:
        home, _, own = name.rpartition(".")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DeprecationWarning)
            assert hasattr(importlib.import_module(home), own), name
        for warning in caught:
            text = str(warning.message)
            if text.startswith(f"{name} has moved and goes with version 0.3; use "):
                warned.add(home)
    moved = {home for home in {name.rpartition(".")[0] for name in names} if home in _HOMES}
    assert warned == moved
    assert len(moved) > 10


def test_a_module_of_0_1_0_that_moved_is_in_the_changelog_with_its_successor():
    names = (V010 / "public_names.txt").read_text(encoding="utf-8").split()
    homes = {name.rpartition(".")[0] for name in names}
    gone = sorted(home for home in homes if home in _HOMES or not exists(home))
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
