"""The four packages work without lcons-contrib, and name it where something lives in it."""

import subprocess
import sys

import pytest

# Hides the package and all entry points of lcons, then runs the rest of the arguments as `lcons` does.
WITHOUT = """
import importlib.metadata, sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "lcons_contrib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **chosen: [] if "lcons." in str(chosen) else found(**chosen)
"""
RUN = "from lcons_cli.start import start\nsys.argv[0] = 'lcons'\nstart()\n"


def without_contrib(*arguments, code=RUN, given=None, folder=None):
    command = [sys.executable, "-c", WITHOUT + code, *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder)


def test_a_tagger_is_fitted(tmp_path):
    sentences = "Ann B-PER\nsings O\n\nBo B-PER\nleft O\nOslo B-LOC\n\n"
    (tmp_path / "train.conll").write_text(sentences * 20)
    done = without_contrib("-q", "fit", "train.conll", "-o", "tagger", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tagger").is_dir()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("parse", "--model", ".", "--format", "bibtex"), "the format 'bibtex'"),
        (("learn", "train.conll", "-o", "c.json", "--format", "brat"), "the format 'brat'"),
        (("learn", "train.spacy", "-o", "c.json"), "the format '.spacy'"),
    ],
)
def test_what_lives_in_contrib_is_one_sentence(arguments, name, tmp_path):
    for file in ("train.conll", "train.spacy"):
        (tmp_path / file).touch()
    done = without_contrib(*arguments, given="", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"lcons: error: {name} comes with lcons-contrib; run: pip install lcons-contrib.\n"
