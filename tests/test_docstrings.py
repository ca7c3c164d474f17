"""The examples in docstrings hold, in every module of every package."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> list[str]:
    """The modules whose source has an example."""
    sources = ROOT.glob("packages/*/src/**/*.py")
    found = []
    for path in sorted(sources):
        if ">>> " in path.read_text():
            parts = path.with_suffix("").parts
            found.append(".".join(parts[parts.index("src") + 1 :]).removesuffix(".__init__"))
    return found


def test_there_are_examples():
    assert len(modules()) > 20


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_the_module_hold(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.attempted
    assert not result.failed
