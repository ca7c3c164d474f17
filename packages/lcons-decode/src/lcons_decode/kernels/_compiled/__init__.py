"""The inner loops, compiled by numba at the first call."""

from lcons_decode.kernels._compiled.beam import beam_many
from lcons_decode.kernels._compiled.constrained import constrained_many
from lcons_decode.kernels._compiled.lists import allowed_codes, pair_masks
from lcons_decode.kernels._compiled.pairs import best_pairs, label_pairs
from lcons_decode.kernels._compiled.penalties import least_totals
from lcons_decode.kernels._compiled.viterbi import viterbi_many

__all__ = [
    "allowed_codes",
    "beam_many",
    "best_pairs",
    "constrained_many",
    "label_pairs",
    "least_totals",
    "pair_masks",
    "viterbi_many",
]
