"""The compiled kernels and those in numpy return the same; compiled code is cached in the folder of lcons."""

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from chain_strategies import agree, best_of, chains, enumerated, is_soft, problems, reference_beam
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, MissingExtra, RectifierNetwork
from lcons_core._errors import InvalidInput
from lcons_core.features import NgramLabels
from lcons_decode import (
    ChainBatch,
    ChainConstraints,
    ChainScores,
    Soft,
    Status,
    beam_search,
    constrained_viterbi,
    kernels,
    viterbi,
)
from lcons_decode.chains import lay_out
from lcons_decode.chains._contributions import MOST_PAIRED
from lcons_decode.kernels import LITTLE_WORK, How, backend
from lcons_decode.kernels import _compiled as compiled
from lcons_decode.kernels import _plain as plain
from lcons_decode.kernels._compiled.jit import is_private

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def both(monkeypatch):
    """Runs a function with each of the two and returns both answers."""

    def run(function):
        answers = []
        for name in ("numba", "numpy"):
            monkeypatch.setenv("LCONS_DECODE_BACKEND", name)
            answers.append(function())
        return answers

    return run


@quick
@given(scores=chains())
def test_viterbi_agrees(both, scores):
    numba, numpy = both(lambda: viterbi(scores))
    assert numba == numpy


@quick
@given(problem=problems(kinds=("hard",)))
def test_hard_decoding_agrees(both, problem):
    numba, numpy = both(lambda: constrained_viterbi(*problem))
    assert numba == numpy


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("L", [63, 64, 130])
def test_label_sets_of_several_words_agree(both, L, n):
    """A set of labels is kept as bits, 64 to a word."""
    rng = np.random.default_rng(n * L)
    labels = [f"l{i}" for i in range(L)]
    feature = NgramLabels(tuple(labels), n)
    W = rng.integers(-3, 4, (4, feature.space.d)) / 2
    rule = LearnedConstraint(RectifierNetwork(W, np.zeros(4)), feature.space, feature)
    scores = [
        ChainScores(rng.normal(size=(5, L)), rng.normal(size=(L, L)), rng.normal(size=L), labels=labels)
        for _ in range(3)
    ]
    numba, numpy = both(lambda: [constrained_viterbi(own, [rule]) for own in scores])
    assert numba == numpy
    assert all(found.status is Status.OPTIMAL for found in numba)
    assert [found.y for found in numba] != [viterbi(own).y for own in scores]


@pytest.mark.parametrize("most", [MOST_PAIRED, 0])
@pytest.mark.parametrize("weight", [0.5, 2.0, 8.0])
def test_soft_pairs_of_many_labels_agree(both, monkeypatch, weight, most):
    """Without bounds of pairs, the labels after a label are tried in the order of what they can reach."""
    monkeypatch.setattr("lcons_decode.chains._contributions.MOST_PAIRED", most)
    rng = np.random.default_rng(int(8 * weight))
    labels = [f"l{i}" for i in range(30)]
    feature = NgramLabels(tuple(labels), 2)
    W = rng.integers(-8, 9, (6, feature.space.d)) / 4
    rule = Soft(LearnedConstraint(RectifierNetwork(W, np.zeros(6)), feature.space, feature), weight)
    scores = [
        ChainScores(rng.normal(size=(6, 30)), rng.normal(size=(30, 30)), rng.normal(size=30), labels=labels)
        for _ in range(10)
    ]
    numba, numpy = both(lambda: [constrained_viterbi(own, [rule]) for own in scores])
    assert [found.y for found in numba] == [found.y for found in numpy]
    assert np.allclose([found.score for found in numba], [found.score for found in numpy], atol=1e-9)


@pytest.mark.parametrize("most", [MOST_PAIRED, 0])
@pytest.mark.parametrize("T", [1, 2, 3, 8])
def test_soft_windows_of_four_labels_agree(both, monkeypatch, T, most):
    """Windows begin before the sentence: the bound of a prefix has the score of its first label."""
    monkeypatch.setattr("lcons_decode.chains._contributions.MOST_PAIRED", most)
    rng = np.random.default_rng(T)
    feature = NgramLabels(("a", "b", "c"), 4)
    W = rng.integers(-8, 9, (6, feature.space.d)) / 4
    rule = Soft(LearnedConstraint(RectifierNetwork(W, np.zeros(6)), feature.space, feature), 2.0)
    scores = [
        ChainScores(rng.normal(size=(T, 3)), rng.normal(size=(3, 3)), 5 + rng.normal(size=3), labels="abc")
        for _ in range(20)
    ]
    numba, numpy = both(lambda: [constrained_viterbi(own, [rule]) for own in scores])
    assert [found.y for found in numba] == [found.y for found in numpy]
    assert np.allclose([found.score for found in numba], [found.score for found in numpy], atol=1e-9)


@pytest.mark.parametrize(
    ("n", "V", "ends", "padded"),
    [(1, 4, [4], True), (2, 70, [8], True), (3, 6, [4, 12], True), (3, 6, [8], False), (4, 4, [8], True)],
)
def test_lists_of_windows_that_are_searched_together_agree(n, V, ends, padded):
    """More windows than are searched together, with and without others of the same padding beside them."""
    rng = np.random.default_rng(n * V)
    table = rng.integers(-16, 9, (n, V, ends[-1])) / 8
    activations = rng.integers(-8, 9, (150, ends[-1])) / 8
    pads = np.zeros((150, 2), dtype=np.int64)
    if padded:
        pads[50:] = np.stack([rng.integers(0, n, 100), rng.integers(0, 2, 100)], axis=1)
        pads[50:] = pads[50:][np.lexsort((pads[50:, 1], pads[50:, 0]))]
        pads[140:] = pads[140:][::-1]
    given = (activations, pads, table, np.array(ends), 3, 150)
    numba, numpy = compiled.allowed_codes(*given), plain.allowed_codes(*given)
    assert 0 < len(numba[3]) < 147 * (V - 1) ** n
    assert all(np.array_equal(a, b) for a, b in zip(numba, numpy, strict=True))


@quick
@given(problem=problems(kinds=("hard",)))
def test_pairs_of_lists_agree(problem):
    scores, uses, x = problem
    rules = ChainConstraints.of(uses, scores.labels)
    lay_out(ChainBatch.of([scores]), rules, [x])
    for local in rules.hard:
        numba, numpy = (own.pair_masks(*local.store.groups, local.n, local.V) for own in (compiled, plain))
        assert np.array_equal(numba, numpy)


@quick
@given(problem=problems())
def test_mixed_decoding_agrees(both, problem):
    scores, uses, x = problem
    numba, numpy = both(lambda: constrained_viterbi(scores, uses, x))
    assert (numba.status, numba.stats) == (numpy.status, numpy.stats)
    assert len(numba.violations) == len(numpy.violations)
    assert agree(numba.score, numpy.score, uses)
    found = enumerated(scores, uses, x)
    if found and best_of(found)[1]:
        assert numba.y == numpy.y


def test_a_tie_with_the_best_labelling_without_costs_goes_to_the_first_in_declared_order(both):
    """The search under soft constraints starts at b, whose cost makes it as good as a."""
    feature = NgramLabels(("a", "b"), 1)
    costs_one = Soft(
        LearnedConstraint(RectifierNetwork([[0.0, 2.0]], [0.0]), feature.space, feature), 1.0, "c", "hinge"
    )
    scores = ChainScores([[0.0, 1.0]], labels=["a", "b"])
    assert [found.y for found in both(lambda: constrained_viterbi(scores, [costs_one]))] == [("a",), ("a",)]


@quick
@given(problem=problems(), width=st.integers(1, 5), rerank=st.booleans())
def test_beams_agree(both, problem, width, rerank):
    scores, uses, x = problem
    assume(not (is_soft(uses) and reference_beam(scores, uses, x, width, rerank).close))
    numba, numpy = both(lambda: beam_search(scores, uses, x, width=width, rerank=rerank))
    assert (numba.y, numba.status, numba.stats) == (numpy.y, numpy.status, numpy.stats)
    assert numba.violations == numpy.violations
    assert agree(numba.score, numpy.score, uses)


@quick
@given(problem=problems(kinds=("hard",), min_T=1))
def test_hard_levels_agree(problem):
    scores, uses, x = problem
    layout = lay_out(ChainBatch.of([scores]), ChainConstraints.of(uses, scores.labels), [x])
    T, V, m = len(scores), scores.L + 1, layout.m
    numba, numpy = (
        _levels(*kernels.hard_levels(scores.emission, layout.chain, 0, layout.lists), T)  # type: ignore[call-arg]
        for kernels in (compiled, plain)
    )
    for t in range(T + 1):
        reachable = {state for state in range(V**m) if _reachable(state, t - 1, T, V, m - 1)}
        kept = [{s: v for s, v in levels[t].items() if s in reachable} for levels in (numba, numpy)]
        if t < T or layout.lists.driver[T] >= 0:  # otherwise the compiled kernel need not list the states
            assert kept[0] == kept[1]


def _levels(heads, states, values, T):
    """The values of the states of each step."""
    spans = [slice(heads[T - t + 1], heads[T - t + 2]) for t in range(T + 1)]
    pairs = [zip(states[own].tolist(), values[own].tolist(), strict=True) for own in spans]
    return [{state: value for state, value in own if value > -np.inf} for own in pairs]


@quick
@given(problem=problems(kinds=("soft",), min_T=1))
def test_simple_bounds_are_at_least_the_compiled_ones(problem):
    scores, uses, _ = problem
    for local in ChainConstraints.of(uses, scores.labels).soft:
        given, pads = np.tile(local.bias, (2, 1)), np.array([[0, 0], [local.n - 1, 0]])
        for pairs in (True, False):
            simple, least = (
                own.least_totals(given, pads, local.table, local.ends, pairs, 0, 2)
                for own in (plain, compiled)
            )
            assert simple.shape == least.shape == (2, local.V if pairs else 1, local.V)
            assert (simple <= least + 1e-9).all()


@pytest.mark.parametrize("most", [MOST_PAIRED, 0])
@quick
@given(problem=problems(kinds=("soft",), min_T=1))
def test_bounds_are_at_least_the_largest_penalty_of_the_last_labels(most, problem):
    scores, uses, x = problem
    with mock.patch("lcons_decode.chains._contributions.MOST_PAIRED", most):
        layout = lay_out(ChainBatch.of([scores]), ChainConstraints.of(uses, scores.labels), [x])
    V, m = scores.L + 1, layout.m
    grams = np.arange(V ** (m + 1))
    for c, use in enumerate(uses):
        assert isinstance(use, Soft)
        others = np.arange(len(uses)) != c
        own = layout.units._replace(rows=np.where(others[:, None], -1, layout.units.rows))
        for step in np.flatnonzero(own.rows[c] >= 0):
            reachable = grams[[_reachable(gram, step, len(scores), V, m) for gram in grams]]
            known = reachable % V ** (2 if most else 1)
            largest = np.full(V**2 if most else V, -np.inf)
            np.maximum.at(largest, known, plain.penalties(reachable, step, own, V))
            tops = own.tops[own.rows[c, step], :, :V].reshape(-1)
            above = (tops - largest)[np.unique(known)]
            assert above.min() >= 0
            if m <= (2 if most else 1):  # no older label is left out: the bound is attained
                assert above.max() <= 1e-6 * (1 + np.abs(tops).max())


def _reachable(gram, step, T, V, m):
    """Whether an n-gram is possible at a step: padding only before the first label and at STOP."""
    labels = [int(gram) // V**i % V for i in range(m, -1, -1)]
    return all((label == V - 1) == (at < 0 or at == T) for at, label in enumerate(labels, step - m))


def test_little_work_does_not_import_numba(monkeypatch):
    monkeypatch.delenv("LCONS_DECODE_BACKEND", raising=False)
    assert backend(1) is compiled  # it is imported already
    monkeypatch.delitem(sys.modules, "numba")
    assert backend(1) is plain
    assert backend(LITTLE_WORK) is compiled
    monkeypatch.setenv("LCONS_DECODE_BACKEND", "numba")
    assert backend(1) is compiled


def test_the_backend_is_numba_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("LCONS_DECODE_BACKEND", raising=False)
    assert backend() is compiled
    monkeypatch.setenv("LCONS_DECODE_BACKEND", "numpy")
    assert backend() is plain
    monkeypatch.setenv("LCONS_DECODE_BACKEND", "cuda")
    with pytest.raises(InvalidInput, match="must be one of numba, numpy, found 'cuda'"):
        backend()


def test_without_numba_the_backend_is_numpy_unless_numba_was_asked_for(monkeypatch):
    monkeypatch.delattr(kernels, "_compiled")
    monkeypatch.setitem(sys.modules, "lcons_decode.kernels._compiled", None)  # its import fails
    monkeypatch.delenv("LCONS_DECODE_BACKEND", raising=False)
    assert backend() is plain
    monkeypatch.setenv("LCONS_DECODE_BACKEND", "numba")
    with pytest.raises(MissingExtra, match=r"is numba, which cannot be imported .*; install numba, or unset"):
        backend()


def small_kernel(folder):
    """Code that compiles a function as the kernels are, in much less time, and prints 42."""
    folder.mkdir(exist_ok=True)
    text = "from lcons_decode.kernels._compiled.jit import kernel\n@kernel\ndef twice(x):\n    return x + x\n"
    (folder / "small.py").write_text(text)
    return f"import sys; sys.path.insert(0, {str(folder)!r}); from small import twice; print(twice(21))"


def compiled_in(tmp_path, *variables):
    """The folders, of those that environment variables name, in which compiled code is kept."""
    cleared = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    named = {name: str(tmp_path / name) for name in variables} | {"LCONS_DECODE_BACKEND": "numba"}
    subprocess.run([sys.executable, "-c", small_kernel(tmp_path)], env={**cleared, **named}, check=True)
    return {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.nbi")}


def test_compiled_code_is_kept_in_the_cache_folder_that_is_named(tmp_path):
    assert compiled_in(tmp_path, "LCONS_CACHE_DIR") == {"LCONS_CACHE_DIR"}
    assert [path.name for path in (tmp_path / "LCONS_CACHE_DIR").iterdir()] == ["numba"]


def test_a_cache_folder_for_numba_alone_comes_first_and_keeps_the_code_of_other_sources_apart(tmp_path):
    assert compiled_in(tmp_path, "LCONS_CACHE_DIR", "NUMBA_CACHE_DIR") == {"NUMBA_CACHE_DIR"}
    (by_sources,) = (tmp_path / "NUMBA_CACHE_DIR").iterdir()
    assert re.fullmatch("[0-9a-f]{16}", by_sources.name)


DECODE = "from lcons_decode import ChainScores, viterbi; print(viterbi(ChainScores([[0.0, 1.0]])).y)"


def printed(tmp_path, code):
    """What code prints in a process with its own cache, and the files of that cache."""
    named = {"LCONS_CACHE_DIR": str(tmp_path), "LCONS_DECODE_BACKEND": "numba"}
    cleared = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**cleared, **named}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, sorted(tmp_path.rglob("*.nb?"))


@pytest.mark.skipif(sys.platform == "win32", reason="limits, owners and modes are POSIX's")
def test_a_cache_that_cannot_be_written_or_read_is_done_without(tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    assert printed(tmp_path / "full", f"{full}; {DECODE}") == ("('1',)\n", [])
    code = small_kernel(tmp_path)
    first, files = printed(tmp_path / "ours", code)
    assert first == "42\n"
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    assert printed(tmp_path / "ours", code)[0] == first


@pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are POSIX's")
def test_a_cache_that_others_can_write_to_is_not_used(tmp_path):
    ours = tmp_path / "home" / "ours"
    assert is_private(ours)
    assert ours.stat().st_mode & 0o777 == 0o700
    ours.chmod(0o770)
    assert not is_private(ours)
    ours.chmod(0o700)
    ours.parent.chmod(0o777)
    assert not is_private(ours)
    ours.parent.chmod(0o1777)  # as /tmp: others cannot rename it
    assert is_private(ours)


def test_kernels_are_compiled_once_for_any_number_of_labels_and_any_layout(monkeypatch):
    """Compiling takes a minute, and an array of another layout would compile all of them again."""
    monkeypatch.setenv("LCONS_DECODE_BACKEND", "numba")
    for emission in (np.zeros((2, 1)), np.zeros((2, 3)), np.zeros((3, 2)).T):
        L = emission.shape[1]
        labels = ["O", "A", "B"][:L]
        feature = NgramLabels(labels, n=2)
        learned = LearnedConstraint(RectifierNetwork(np.ones((1, 2 * L)), [-1.0]), feature.space, feature)
        scores = ChainScores(emission, np.zeros((L, L)), labels=labels)
        for constraint in (learned, Soft(learned, 1.0)):
            constrained_viterbi(scores, [constraint])
            beam_search(scores, [constraint])
        viterbi(scores)
    kinds = ("viterbi_many", "constrained_many", "soft_many", "beam_many")
    assert [len(getattr(compiled, kind).signatures) for kind in kinds] == [1, 1, 1, 1]


def test_how_a_labelling_was_found_is_numbered_in_one_place():
    """The kernels, their callers and the statuses of answers share one enumeration."""
    assert [way.status for way in How] == [Status.OPTIMAL, Status.RELAXED, Status.INFEASIBLE]
    sources = {path.name: path.read_text() for path in Path(kernels.__file__).parents[1].rglob("*.py")}
    assigned = [name for name, text in sources.items() if re.search(r"^ *SATISFIED\b.*=", text, re.M)]
    assert assigned == ["_arrays.py"]
