"""A constraint in an optimiser's model, in one line: `add_to(model, constraint, psi)`.

| module | holds |
|---|---|
| `_add` | `add_to` and what it returns; psi by column order or by name; the models that it knows |
| `_system` | the one encoder of a constraint as rows and auxiliary variables |
| `_tool` | such a system, and what a tool must do: make a variable, add a row, read a value |
| `_cpsat`, `_cvxpy`, `_gurobi`, `_highs`, `_mathopt`, `_mip`, `_pulp`, `_pyomo`, `_scip` | one tool each |

A tool is imported only where a model of it is given.
"""
