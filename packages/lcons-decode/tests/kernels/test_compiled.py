"""Compiled lists and bounds are those of an enumeration; compiled code is cached in the folder of lcons."""

import os
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramLabels
from lcons_decode import (
    ChainScores,
    Soft,
    beam_search,
    constrained_viterbi,
    viterbi,
)
from lcons_decode.kernels import _compiled as compiled
from lcons_decode.kernels._arrays import Groups
from lcons_decode.kernels._compiled.jit import is_private


@pytest.mark.parametrize(
    ("n", "V", "ends", "padded"),
    [(1, 4, [4], True), (2, 70, [8], True), (3, 6, [4, 12], True), (3, 6, [8], False), (4, 4, [8], True)],
)
def test_windows_that_are_searched_together_allow_what_an_enumeration_allows(n, V, ends, padded):
    """More windows than are searched together, with and without others of the same padding beside them."""
    rng = np.random.default_rng(n * V)
    table = rng.integers(-16, 9, (n, V, ends[-1])) / 8
    activations = rng.integers(-8, 9, (150, ends[-1])) / 8
    pads = np.zeros((150, 2), dtype=np.int64)
    if padded:
        pads[50:] = np.stack([rng.integers(0, n, 100), rng.integers(0, 2, 100)], axis=1)
        pads[50:] = pads[50:][np.lexsort((pads[50:, 1], pads[50:, 0]))]
        pads[140:] = pads[140:][::-1]
    groups = Groups(*compiled.allowed_codes(activations, pads, table, np.array(ends), 3, 150))
    assert 0 < len(groups.labels) < 147 * (V - 1) ** n
    for row, (added, (starts, stops)) in enumerate(zip(activations[3:], pads[3:], strict=True)):
        places = [[V - 1] if i < starts or (stops and i == n - 1) else range(V - 1) for i in range(n)]
        grams = np.array(list(product(*places)))
        active = np.maximum(added + sum(table[i, grams[:, i]] for i in range(n)), 0)
        parts = [part.sum(1) for part in np.split(active, ends[:-1], axis=1)]
        codes = grams @ V ** np.arange(n - 1, -1, -1)
        assert np.array_equal(groups.codes(row, V), codes[np.max(parts, axis=0) <= 1])


def small_kernel(folder):
    """Code that compiles a function as the kernels are, in much less time, and prints 42."""
    folder.mkdir(exist_ok=True)
    text = "from lcons_decode.kernels._compiled.jit import kernel\n@kernel\ndef twice(x):\n    return x + x\n"
    (folder / "small.py").write_text(text)
    return f"import sys; sys.path.insert(0, {str(folder)!r}); from small import twice; print(twice(21))"


def printed(code, **caches):
    """What code prints in a process with these cache folders."""
    cleared = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    named = {name: str(folder) for name, folder in caches.items()}
    return subprocess.check_output([sys.executable, "-c", code], env={**cleared, **named}, text=True)


def compiled_in(tmp_path, *variables):
    """The folders, of those that environment variables name, in which compiled code is kept."""
    printed(small_kernel(tmp_path), **{name: tmp_path / name for name in variables})
    return {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.nbi")}


def test_compiled_code_is_kept_in_the_cache_folder_that_is_named(tmp_path):
    assert compiled_in(tmp_path, "LCONS_CACHE_DIR") == {"LCONS_CACHE_DIR"}
    assert [path.name for path in (tmp_path / "LCONS_CACHE_DIR").iterdir()] == ["numba"]


def test_a_cache_folder_for_numba_alone_comes_first_and_keeps_the_code_of_other_sources_apart(tmp_path):
    assert compiled_in(tmp_path, "LCONS_CACHE_DIR", "NUMBA_CACHE_DIR") == {"NUMBA_CACHE_DIR"}
    (by_sources,) = (tmp_path / "NUMBA_CACHE_DIR").iterdir()
    assert re.fullmatch("[0-9a-f]{16}", by_sources.name)


DECODE = "from lcons_decode import ChainScores, viterbi; print(viterbi(ChainScores([[0.0, 1.0]])).y)"


@pytest.mark.skipif(sys.platform == "win32", reason="limits, owners and modes are POSIX's")
def test_a_cache_that_cannot_be_written_or_read_is_done_without(tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    assert printed(f"{full}; {DECODE}", LCONS_CACHE_DIR=tmp_path / "full") == "('1',)\n"
    code, files = small_kernel(tmp_path), []
    for _ in range(2):
        assert printed(code, LCONS_CACHE_DIR=tmp_path / "ours") == "42\n"
        files = sorted(tmp_path.rglob("*.nb?"))
        for path in files:
            path.write_bytes(path.read_bytes()[:20])
    assert {path.relative_to(tmp_path).parts[0] for path in files} == {"ours"}


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


def test_kernels_are_compiled_once_for_any_number_of_labels_and_any_layout():
    """Compiling takes a minute, and an array of another layout would compile all of them again."""
    for emission in (np.zeros((2, 1)), np.zeros((2, 3)), np.zeros((3, 2)).T):
        L = emission.shape[1]
        labels = ["O", "A", "B"][:L]
        feature = NgramLabels(labels, n=2)
        learned = LearnedConstraint(RectifierNetwork(np.ones((1, 2 * L)), [-1.0]), feature.space, feature)
        scores = ChainScores(emission, np.zeros((L, L)), labels=labels)
        for constraints in ([learned], [Soft(learned, 1.0)], [learned, Soft(learned, 1.0)]):
            constrained_viterbi(scores, constraints)
            beam_search(scores, constraints)
        viterbi(scores)
    kinds = ("viterbi_many", "constrained_many", "beam_many")  # the second: hard, soft, both
    assert [len(getattr(compiled, kind).signatures) for kind in kinds] == [1, 3, 1]
