"""Decoding under learned constraints: the best output that satisfies them, exactly or by search.

    scores + constraints -> viterbi, beam, constrained viterbi, n-best, Lagrangian, ILP -> Decoding

| package | holds |
|---|---|
| `lcons_decode` | `ChainScores` or `RelationScores`, with `Hard` or `Soft` constraints -> `Decoding` |
| `chains` | the decoders of label sequences, also as arrays of label indices, for speed |
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
    COSTS,
    Constraint,
    ConstraintSet,
    Hard,
    Soft,
    allowed_ngrams,
    broken_parts,
    forbidden_ngrams,
    rows_constraint,
    usual_cost,
)
from lcons_decode._decoder import Decoder
from lcons_decode._relations import RelationIds, RelationRules, decode_relations, relation_ids
from lcons_decode._result import Decoding, RelationDecoding, Status, Violation
from lcons_decode._scores import ChainBatch, ChainScores, RelationScores, Scored
from lcons_decode._stream import DECODERS, decode_batch, decode_scored
from lcons_decode.chains._beam import beam_search, beam_search_batch, search
from lcons_decode.chains._brute import brute
from lcons_decode.chains._constrained import (
    constrained_viterbi,
    constrained_viterbi_batch,
    decode_global,
    nbest,
)
from lcons_decode.chains._lagrangian import decode_lagrangian
from lcons_decode.chains._marginals import Marginals, marginals
from lcons_decode.chains._viterbi import viterbi, viterbi_batch
from lcons_decode.chains._windows import ChainConstraints

__all__ = [
    "COSTS",
    "DECODERS",
    "ChainBatch",
    "ChainConstraints",
    "ChainScores",
    "Constraint",
    "ConstraintSet",
    "Decoder",
    "Decoding",
    "Hard",
    "Marginals",
    "RelationDecoding",
    "RelationIds",
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
    "broken_parts",
    "brute",
    "constrained_viterbi",
    "constrained_viterbi_batch",
    "decode_batch",
    "decode_global",
    "decode_lagrangian",
    "decode_relations",
    "decode_scored",
    "forbidden_ngrams",
    "from_token_logits",
    "marginals",
    "nbest",
    "relation_ids",
    "rows_constraint",
    "search",
    "usual_cost",
    "viterbi",
    "viterbi_batch",
]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("lcons-decode")
