"""The best point under a learned constraint, with questions to an oracle and with known solutions.

| module | holds |
|---|---|
| `_search` | solve, ask, learn: the best point that an oracle accepts |
| `_known` | known solutions as exact rows: outer polytope, equality hull, trust region |
| `_programs` | these rows in a program of `lcons_decode.ilp` |
| `_preference` | known optima as a preference for their bits |

Not in the paper: all of it.
"""

from lcons_contrib.oracle._known import RegionRows, TrustRegion, equality_hull, outer_polytope
from lcons_contrib.oracle._preference import KnownOptima, choose_known
from lcons_contrib.oracle._programs import with_region, with_rows
from lcons_contrib.oracle._search import Answered, Question, optimise_with_oracle

__all__ = [
    "Answered",
    "KnownOptima",
    "Question",
    "RegionRows",
    "TrustRegion",
    "choose_known",
    "equality_hull",
    "optimise_with_oracle",
    "outer_polytope",
    "with_region",
    "with_rows",
]
