"""Decoders of label chains: Viterbi, beams, exact constrained search, n-best lists, marginals.

    constraints -> ChainConstraints.of(constraints, labels)
    scores + ChainConstraints -> lay_out -> kernels -> Decoding, or arrays of label indices (`viterbi_ids`)

Compile constraints once and use them for all sequences: they cache their result for each kind of window.
"""

from lcons_decode._scores import Columns, X, columns_of
from lcons_decode.chains._beam import beam_search, beam_search_batch, search
from lcons_decode.chains._brute import brute, labellings
from lcons_decode.chains._constrained import (
    BUDGET,
    constrained_ids,
    constrained_viterbi,
    constrained_viterbi_batch,
    decode_global,
    nbest,
)
from lcons_decode.chains._lagrangian import decode_lagrangian
from lcons_decode.chains._marginals import Marginals, marginals, marginals_batch, window_probabilities
from lcons_decode.chains._viterbi import viterbi, viterbi_batch, viterbi_ids
from lcons_decode.chains._windows import ChainConstraints, lay_out

__all__ = [
    "BUDGET",
    "ChainConstraints",
    "Columns",
    "Marginals",
    "X",
    "beam_search",
    "beam_search_batch",
    "brute",
    "columns_of",
    "constrained_ids",
    "constrained_viterbi",
    "constrained_viterbi_batch",
    "decode_global",
    "decode_lagrangian",
    "labellings",
    "lay_out",
    "marginals",
    "marginals_batch",
    "nbest",
    "search",
    "viterbi",
    "viterbi_batch",
    "viterbi_ids",
    "window_probabilities",
]
