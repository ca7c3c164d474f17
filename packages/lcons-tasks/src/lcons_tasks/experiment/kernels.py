"""The decoders' kernels compile at their first use; better once, before several processes need them."""

from __future__ import annotations

from typing import Any


def compile_kernels() -> None:
    """Runs each decoder once on a tiny chain, so that its kernels are compiled and kept on disk."""
    from lcons_core import iob2
    from lcons_decode import ChainScores, Soft, beam_search, constrained_viterbi, viterbi

    scores: Any = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    rule = iob2(scores.labels)
    viterbi(scores)
    constrained_viterbi(scores, [rule])
    constrained_viterbi(scores, [Soft(rule, 1.0)])
    beam_search(scores, [rule])
