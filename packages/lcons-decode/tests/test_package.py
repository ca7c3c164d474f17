"""lcons-decode imports fast, and states the installed version."""

import importlib
import subprocess
import sys
from importlib.metadata import version

import pytest

import lcons_decode
from lcons_core import MissingExtra

PUBLIC = ["lcons_decode", "lcons_decode.ilp"]


def test_version_is_the_installed_one():
    assert lcons_decode.__version__ == version("lcons-decode")


@pytest.mark.parametrize("name", PUBLIC)
def test_import_loads_nothing_heavy(name):
    heavy = {"torch", "scipy", "numba", "mip", "highspy"}
    code = f"import {name}, sys; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


WITHOUT_MIP = """
import sys
sys.modules["mip"] = None
import numpy as np
from lcons_core import MissingExtra, iob2
from lcons_decode import *
from lcons_decode import ilp
scores = ChainScores(np.eye(3), labels=["B-X", "I-X", "O"])
rules = [iob2(scores.labels)]
for decode in (brute, constrained_viterbi, beam_search, decode_global, decode_lagrangian):
    assert decode(scores, rules).y == ("B-X", "I-X", "O"), decode
assert viterbi(scores).y == nbest(scores, 1, rules)[0].y
assert marginals(scores, rules).probability.shape == (3, 3)
try:
    ilp.decode_ilp(scores, rules)
except MissingExtra as error:
    print(error)
"""


def test_all_but_integer_programs_works_without_mip_and_those_name_the_extra():
    done = subprocess.run([sys.executable, "-c", WITHOUT_MIP], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'pip install "lcons-decode[ilp]"' in done.stdout


def test_transformers_is_imported_only_when_it_is_used_and_is_named_if_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    for name in [name for name in sys.modules if name.startswith("lcons_decode.transformers._")]:
        monkeypatch.delitem(sys.modules, name)
    package = importlib.import_module("lcons_decode.transformers")
    with pytest.raises(MissingExtra, match=r"needs transformers and torch, .* run: pip install"):
        package.ConstrainedPipeline  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Pipeline'"):
        package.Pipeline  # noqa: B018
