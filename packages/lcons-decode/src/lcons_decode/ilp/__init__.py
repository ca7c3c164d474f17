"""Integer programs over named parts, with learned constraints grounded in them, solved by python-mip.

    chain_program, graph_program -> Program
    ground_chain, ground_tuples, ground_columns -> Grounded
    solve(program, [grounded, ...], form=..., solver=...) -> Assignment

`decode_ilp` does all of this for a sequence, and `decode_relations_ilp` for a graph of candidates.

| module | holds |
|---|---|
| `_program` | variables, decisions, rows; graphs as programs |
| `_ground` | psi rows as expressions over a program's variables; exact OR indicators for existence |
| `_grounded` | psi over a program's variables, and bounds on it |
| `_forms` | a constraint as a table, rows of Theorem 1, lifted, or as cuts; the choice; the hinge |
| `_combinations`, `_reduced` | rows of rejected combinations; units and rows that matter within bounds |
| `_backend` | CBC and HiGHS through python-mip |
| `_check` | solutions checked exactly outside the solver; no-good rows; which constraints clash |
| `_solve` | the loop of solving and checking |
| `_decoders` | sequences: `decode_ilp`; candidates and relations: `decode_relations_ilp` |
| `_constraint_program` | one constraint on the points of its space |
| `_compare` | two constraints on a space too large to enumerate: `compare_by_ilp` |
| `_formats`, `_linear_model` | LP and MPS files that keep the names |
"""

from lcons_decode.ilp._backend import Answer, Found, MipModel, Solver
from lcons_decode.ilp._compare import compare_by_ilp
from lcons_decode.ilp._constraint_program import Scores, constraint_program
from lcons_decode.ilp._decoders import (
    chain_program,
    decode_ilp,
    decode_relations_ilp,
    ground_relations,
    relation_program,
)
from lcons_decode.ilp._formats import program_lines, read_program, write_program
from lcons_decode.ilp._forms import Form, with_constraints
from lcons_decode.ilp._ground import Hinge, ground_chain, ground_columns, ground_tuples
from lcons_decode.ilp._grounded import Grounded, PsiRow
from lcons_decode.ilp._program import Program, Row, Sense, Type, Variable, graph_program
from lcons_decode.ilp._solve import Assignment, solve

__all__ = [
    "Answer",
    "Assignment",
    "Form",
    "Found",
    "Grounded",
    "Hinge",
    "MipModel",
    "Program",
    "PsiRow",
    "Row",
    "Scores",
    "Sense",
    "Solver",
    "Type",
    "Variable",
    "chain_program",
    "compare_by_ilp",
    "constraint_program",
    "decode_ilp",
    "decode_relations_ilp",
    "graph_program",
    "ground_chain",
    "ground_columns",
    "ground_relations",
    "ground_tuples",
    "program_lines",
    "read_program",
    "relation_program",
    "solve",
    "with_constraints",
    "write_program",
]
