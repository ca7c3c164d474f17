"""Hypothesis draws the same examples every run; `--hypothesis-profile=explore` draws others.

Compiled kernels are kept in the user's cache, also for tests that give lcons another cache: compiling takes
most of a minute.

OR-Tools and highspy never share a process. Each brings a HiGHS library of its own; where both are imported,
the second fails with an undefined symbol, or a modelling tool swallows that error and quietly takes another
solver. So the second import is refused, and the test during which it was tried fails.
"""

import os
import sys
from pathlib import Path

import platformdirs
import pytest
from hypothesis import settings

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(platformdirs.user_cache_dir("lcons", False)) / "numba"))

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("ci")


# By library, how the names of the other's modules begin. The bare package `ortools` loads no HiGHS, and cvxpy
# imports it for its version.
RIVALS = {"highspy": "ortools.", "ortools": "highspy"}


class OneHighs:
    """A finder that finds nothing, and refuses modules that load a second HiGHS library."""

    refused: str | None = None

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        rival = RIVALS.get(name.partition(".")[0])
        if rival is None or name == "ortools":
            return
        if any(module.startswith(rival) for module in sys.modules):
            self.refused = (
                f"{name} was imported in a process that has {rival.rstrip('.')}: OR-Tools and highspy cannot"
                " share one. Mark tests that load OR-Tools with `ortools`."
            )
            raise ImportError(self.refused)


ONE_HIGHS = OneHighs()
sys.meta_path.insert(0, ONE_HIGHS)


# The files that take longest, which are begun first: then the two processes of ./tools/test end together.
LONGEST = (
    "tests/experiments/test_citation.py",
    "lcons-cli/tests/test_hostile_files.py",
    "tests/golden/test_runs.py",
    "tests/ilp/test_ilp_solve.py",
    "lcons-cli/tests/test_decode.py",
    "tests/experiments/test_chunking.py",
    "tests/test_readme.py",
    "tests/golden/test_suite.py",
    "tests/reason/test_explain.py",
    "tests/kernels/test_compiled.py",
    "lcons-cli/tests/test_fit.py",
    "lcons-cli/tests/test_run.py",
    "tests/test_constraint.py",
    "lcons-decode/tests/test_relations.py",
    "tests/test_extend_feature.py",
    "tests/test_without_contrib.py",
    "lcons-cli/tests/test_main.py",
    "tests/experiments/test_er.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((i for i, end in enumerate(LONGEST) if path.endswith(end)), len(LONGEST))

    items.sort(key=place)


def pytest_runtest_teardown() -> None:
    refused, ONE_HIGHS.refused = ONE_HIGHS.refused, None
    if refused:
        pytest.fail(refused, pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write tests/golden/expected anew.")
