"""Integer programs over named parts, with learned constraints grounded in them, solved by python-mip.

    chain_program, graph_program -> Program
    ground_chain, ground_tuples, ground_columns -> Grounded
    solve(program, [grounded, ...], form=..., solver=...) -> Assignment

`decode_ilp` does all of this for a sequence, and `decode_relations_ilp` for a graph of candidates.

| module | holds |
|---|---|
| `_program` | variables, decisions, rows; graphs as programs |
| `_ground` | psi rows as expressions over a program's variables; exact OR indicators for existence |
| `_encode` | a constraint as a table, rows of Theorem 1, lifted, or as cuts; the choice; the hinge |
| `_solver` | CBC and HiGHS through python-mip |
| `_solve` | the loop of solving and checking outside the solver; no-good rows; which constraints clash |
| `_decoders` | sequences: `decode_ilp`; candidates and relations: `decode_relations_ilp` |
| `_files` | one constraint on the points of its space, as an LP or MPS file |
"""

from lcons_decode.ilp._decoders import decode_ilp
from lcons_decode.ilp._program import Program, Row, Sense, Variable
from lcons_decode.ilp._solve import solve

__all__ = ["Program", "Row", "Sense", "Variable", "decode_ilp", "solve"]
