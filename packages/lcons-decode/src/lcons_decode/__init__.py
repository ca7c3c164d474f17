"""Decoding under learned constraints: the best output that satisfies them, exactly or by search.

    scores + constraints -> viterbi, beam, constrained viterbi, n-best, Lagrangian, ILP -> Decoding

| package | holds |
|---|---|
| `lcons_decode` | `ChainScores` or `RelationScores`, with `Hard` or `Soft` constraints -> `Decoding` |
| `chains` | the decoders of label sequences, also as arrays of label indices, for speed |
| `gliner2` | GLiNER2's candidate lattices, decoded exactly; schemas for it |
| `files` | scores and constraints read from files, answers written as text |
| `ilp` | integer programs over named parts, with constraints grounded in them |
| `kernels` | the inner loops, compiled and in numpy |
| `transformers` | token classifiers of Hugging Face, decoded and trained under constraints |

Importing this package needs only numpy. numba is imported at the first decoding, and mip when
`lcons_decode.ilp` first solves a program.
"""

from typing import Any

from lcons_core import forward_modules
from lcons_decode._adapters import CrfsuiteScores, from_pytorch_crf, from_token_logits
from lcons_decode._autoregressive import AutoregressiveSampler, Draw
from lcons_decode._certificate import NotCertified, operating_point
from lcons_decode._constrained_crf import ConstrainedCRF
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
from lcons_decode._lattice import (
    Lattice,
    LatticeCertificate,
    LatticeDecoding,
    LatticeEdge,
    LatticeNode,
    LatticeRules,
    decode_lattice,
)
from lcons_decode._logits_processor import LabelLogitsProcessor
from lcons_decode._operating_point import Guarantee, OperatingPoint, TransitionBiases
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
from lcons_decode.chains._label_lattice import LabelLattice, sample
from lcons_decode.chains._lagrangian import decode_lagrangian
from lcons_decode.chains._marginals import Marginals, marginals
from lcons_decode.chains._viterbi import viterbi, viterbi_batch
from lcons_decode.chains._windows import ChainConstraints

__all__ = [
    "COSTS",
    "DECODERS",
    "AutoregressiveSampler",
    "ChainBatch",
    "ChainConstraints",
    "ChainScores",
    "ConstrainedCRF",
    "Constraint",
    "ConstraintSet",
    "CrfsuiteScores",
    "Decoder",
    "Decoding",
    "Draw",
    "Guarantee",
    "Hard",
    "LabelLattice",
    "LabelLogitsProcessor",
    "Lattice",
    "LatticeCertificate",
    "LatticeDecoding",
    "LatticeEdge",
    "LatticeNode",
    "LatticeRules",
    "Marginals",
    "NotCertified",
    "OperatingPoint",
    "RelationDecoding",
    "RelationIds",
    "RelationRules",
    "RelationScores",
    "Scored",
    "Soft",
    "Status",
    "TransitionBiases",
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
    "decode_lattice",
    "decode_relations",
    "decode_scored",
    "forbidden_ngrams",
    "from_pytorch_crf",
    "from_token_logits",
    "marginals",
    "nbest",
    "operating_point",
    "relation_ids",
    "rows_constraint",
    "sample",
    "search",
    "usual_cost",
    "viterbi",
    "viterbi_batch",
]


# As 0.1.0 had it.
forward_modules({"lcons_decode.score_files": ("lcons_decode.files",)}, until="0.3")


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("lcons-decode")
