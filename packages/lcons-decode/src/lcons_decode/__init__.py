"""Decoding under learned constraints: the best output that satisfies them, exactly or by search.

    scores + constraints -> viterbi, beam, constrained viterbi, n-best, Lagrangian, ILP -> Decoding

Importing this needs numpy alone: numba is imported at the first decoding, mip when `lcons_decode.ilp` solves.
"""

from typing import Any

from lcons_decode._adapters import CrfsuiteScores, from_pytorch_crf, from_token_logits
from lcons_decode._constraints import Hard, Soft, allowed_ngrams, forbidden_ngrams, rows_constraint
from lcons_decode._relations import RelationDecoding, RelationRules, RelationScores, decode_relations
from lcons_decode._result import Decoding, Status, Violation
from lcons_decode._scores import ChainBatch, ChainScores
from lcons_decode._stream import Scored, decode_scored
from lcons_decode.chains._batch import decode_batch
from lcons_decode.chains._beam import beam_search, beam_search_batch, search
from lcons_decode.chains._best_first import decode_global
from lcons_decode.chains._brute import brute
from lcons_decode.chains._constrained import constrained_viterbi, constrained_viterbi_batch
from lcons_decode.chains._lagrangian import decode_lagrangian
from lcons_decode.chains._marginals import Marginals, marginals
from lcons_decode.chains._nbest import nbest
from lcons_decode.chains._viterbi import viterbi, viterbi_batch
from lcons_decode.chains._windows import ChainConstraints

__all__ = [
    "ChainBatch",
    "ChainConstraints",
    "ChainScores",
    "CrfsuiteScores",
    "Decoding",
    "Hard",
    "Marginals",
    "RelationDecoding",
    "RelationRules",
    "RelationScores",
    "Scored",
    "Soft",
    "Status",
    "Violation",
    "__version__",
    "allowed_ngrams",
    "beam_search",
    "beam_search_batch",
    "brute",
    "constrained_viterbi",
    "constrained_viterbi_batch",
    "decode_batch",
    "decode_global",
    "decode_lagrangian",
    "decode_relations",
    "decode_scored",
    "forbidden_ngrams",
    "from_pytorch_crf",
    "from_token_logits",
    "marginals",
    "nbest",
    "rows_constraint",
    "search",
    "viterbi",
    "viterbi_batch",
]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("lcons-decode")
