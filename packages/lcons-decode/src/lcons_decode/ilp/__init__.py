"""Integer programs over named parts, with learned constraints grounded in them, solved by python-mip.

| module | holds |
|---|---|
| `program` | variables, decisions, rows; chains and graphs as programs |
| `ground` | psi rows as expressions over a program's variables; exact OR indicators for existence |
| `forms` | a grounded constraint as Theorem-1 rows, lifted or as cuts; the hinge |
| `backend` | CBC and HiGHS through python-mip |
| `check` | solutions checked exactly outside the solver; no-good rows |
| `solve` | the loop of solving and checking |
| `clash` | which constraints make a program infeasible |
| `chain` | sequences: `decode_ilp` |
| `relations` | candidates and relations: `decode_relations_ilp` |
| `pairs` | decisions that depend on each other in pairs |
| `constraint_program` | one constraint on the points of its space |
| `formats` | LP and MPS files that keep the names |
"""

from lcons_decode.ilp._backend import Solver
from lcons_decode.ilp._constraint_program import constraint_program
from lcons_decode.ilp._decoders import decode_ilp, decode_relations_ilp, ground_relations, relation_program
from lcons_decode.ilp._formats import program_lines, read_program, write_program
from lcons_decode.ilp._forms import Form, with_constraints
from lcons_decode.ilp._ground import Grounded, Hinge, ground_chain, ground_columns, ground_tuples
from lcons_decode.ilp._indicators import PsiRow
from lcons_decode.ilp._program import Program, Row, Sense, Type, Variable, chain_program, graph_program
from lcons_decode.ilp._solve import Assignment, solve

__all__ = [
    "Assignment",
    "Form",
    "Grounded",
    "Hinge",
    "Program",
    "PsiRow",
    "Row",
    "Sense",
    "Solver",
    "Type",
    "Variable",
    "chain_program",
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
