"""`tools/soak`: a quick run of every family, and proof that it would notice what is wrong."""

import ast
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from soaking import chains, files, graphs, programs, run, sets  # noqa: E402
from soaking.families import FAMILIES  # noqa: E402

from lcons_core import (  # noqa: E402
    Explanation,
    LinearInequalities,
    RectifierNetwork,
)
from lcons_core.reason._compare import Comparison, Outcome  # noqa: E402
from lcons_core.reason._rules import Box  # noqa: E402
from lcons_decode import Status  # noqa: E402


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_wrong_with_some_cases_of(family):
    assert run.main(["--family", family, "--cases", "15"]) == 0


def test_the_oracle_and_the_draws_import_nothing_of_lcons():
    for path in [*(ROOT / "tools/soaking/oracle").glob("*.py"), ROOT / "tools/soaking/draws.py"]:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        others = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
        assert all(name == "soaking" or name.startswith("soaking.oracle.") for name in others)


def accepts_no_boundary(network, psi):
    """Eq. 7 with > instead of >=."""
    return np.atleast_1d(network._margins(psi)) > 0


def rows_without_the_boundary(rows, psi):
    """Rows with > instead of >=."""
    return np.atleast_2d(rows._values(psi) > 0).all(1)


def patched_network(monkeypatch):
    monkeypatch.setattr(RectifierNetwork, "_accepted", accepts_no_boundary)


def patched_rows(monkeypatch):
    monkeypatch.setattr(LinearInequalities, "_accepted", rows_without_the_boundary)


def answers_changed(module, name, change):
    """A patch that changes what a function of lcons returns."""

    def patch(monkeypatch):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **options: change(original(*args, **options)))

    return patch


def every(change):
    """A change of each answer of a list."""
    return lambda found: [change(one) for one in found]


def last_of_ties(found):
    """n-best with labellings of one score in the opposite order."""
    return sorted(found, key=lambda one: (-one.score, -one.stats["rank"]))


def without_a_row(found):
    """Simplified rows with one row less, if there are any."""
    kept = np.arange(max(len(found) - 1, 0))
    return replace(found, rows=found.rows.take(kept), kept=found.kept[kept])


def with_a_wider_rule(found: Explanation) -> Explanation:
    """Rules of which each lacks its last condition."""
    wider = (replace(rule, box=Box(rule.box.conditions[:-1])) for rule in found.rules)
    return replace(found, rules=tuple(wider))


def one_bit_off(constraint):
    """A constraint whose first weight is the next float."""
    part = constraint.network.parts[0]
    W = part.W.copy()
    W[0, 0] = np.nextafter(W[0, 0], np.inf)
    return replace(constraint, network=RectifierNetwork(W, part.b))


def always_equal(found: Comparison) -> Comparison:
    return replace(found, outcome=Outcome.EQUAL)


def never_relaxed(found):
    return replace(found, status=Status.OPTIMAL)


def worse(found):
    return replace(found, score=found.score - 0.0625)


BATCH = "constrained_viterbi_batch"
MUTANTS = {
    "the network rejects its boundary": ("forms", patched_network),
    "rows reject their boundary": ("forms", patched_rows),
    "exact decoding says optimal": ("hard", answers_changed(chains, BATCH, every(never_relaxed))),
    "soft costs are off": ("soft", answers_changed(chains, BATCH, every(worse))),
    "n-best has ties the other way": ("hard", answers_changed(chains, "nbest", last_of_ties)),
    "the beam loses a score": ("global", answers_changed(chains, "beam_search", worse)),
    "global constraints are ignored": ("global", answers_changed(chains, "decode_global", never_relaxed)),
    "integer programs find less": ("ilp", answers_changed(programs, "decode_ilp", worse)),
    "relations are a little worse": ("relations", answers_changed(graphs, "decode_relations", worse)),
    "sets are always equal": ("compare", answers_changed(sets, "compare", always_equal)),
    "a needed row is dropped": ("simplify", answers_changed(sets, "simplify", without_a_row)),
    "a rule forbids too much": ("explain", answers_changed(sets, "explain", with_a_wider_rule)),
    "a file changes a bit": ("constraint files", answers_changed(files, "load", one_bit_off)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_it_is_noticed_that(mutant, monkeypatch, capfd):
    family, patch = MUTANTS[mutant]
    patch(monkeypatch)
    assert run.main(["--family", family, "--cases", "200"]) == 1
    again = re.search(r"--case (\d+)$", capfd.readouterr().err, re.MULTILINE)
    assert run.main(["--family", family, "--case", again[1]]) == 1
