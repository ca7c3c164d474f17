"""Decoding under learned constraints: the best output that satisfies them, exactly or by search.

    scores + constraints -> viterbi, beam, constrained viterbi, n-best, Lagrangian, ILP -> Decoding

| package | holds |
|---|---|
| `lcons_decode` | `ChainScores` or `RelationScores`, with `Hard` or `Soft` constraints -> `Decoding` |
| `chains` | the decoders of label sequences |
| `files` | scores and constraints read from files, answers written as text |
| `ilp` | integer programs over named parts, with constraints grounded in them |
| `kernels` | the inner loops, compiled by numba |
| `transformers` | token classifiers of Hugging Face, decoded and trained under constraints |

Importing this package needs only numpy. numba is imported at the first decoding, and mip (the extra `ilp`)
when `lcons_decode.ilp` first solves a program.
"""

from typing import Any

from lcons_decode._adapters import from_token_logits
from lcons_decode._constraints import (
    Hard,
    Soft,
    allowed_ngrams,
    forbidden_ngrams,
    rows_constraint,
    usual_cost,
)
from lcons_decode._decoder import Decoder
from lcons_decode._relations import RelationRules, decode_relations
from lcons_decode._result import Decoding, RelationDecoding, Status, Violation
from lcons_decode._scores import ChainBatch, ChainScores, RelationScores, Scored
from lcons_decode._stream import decode_batch
from lcons_decode.chains._beam import beam_search, search
from lcons_decode.chains._brute import brute
from lcons_decode.chains._lagrangian import decode_lagrangian
from lcons_decode.chains._marginals import marginals
from lcons_decode.chains._viterbi import (
    constrained_ids,
    constrained_viterbi,
    constrained_viterbi_batch,
    decode_global,
    nbest,
    viterbi,
)
from lcons_decode.chains._windows import ChainConstraints
from lcons_decode.files._constraints import load_constraints

__all__ = [
    "ChainBatch",
    "ChainConstraints",
    "ChainScores",
    "Decoder",
    "Decoding",
    "Hard",
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
    "brute",
    "constrained_ids",
    "constrained_viterbi",
    "constrained_viterbi_batch",
    "decode_batch",
    "decode_global",
    "decode_lagrangian",
    "decode_relations",
    "forbidden_ngrams",
    "from_token_logits",
    "load_constraints",
    "marginals",
    "nbest",
    "rows_constraint",
    "search",
    "usual_cost",
    "viterbi",
]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("lcons-decode")
