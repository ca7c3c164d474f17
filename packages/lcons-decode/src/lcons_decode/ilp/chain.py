"""Sequences decoded by an integer program: any mix of local and global constraints, exactly.

Paper: Eq. 2. Not in the paper: global constraints on sequences decoded exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lcons_core.constraint import LearnedConstraint
from lcons_core.errors import LconsError
from lcons_core.instance import Instance
from lcons_decode.constraints import Hard
from lcons_decode.decoding import Decoding
from lcons_decode.ilp.backend import Solver
from lcons_decode.ilp.forms import Form
from lcons_decode.ilp.ground import Hinge, ground_chain, read_use
from lcons_decode.ilp.indicators import MAX_TERMS
from lcons_decode.ilp.program import chain_program
from lcons_decode.ilp.solve import solve
from lcons_decode.scores import ChainScores, checked_scores


def decode_ilp(
    scores: ChainScores,
    constraints: Iterable[LearnedConstraint | Hard | Hinge] = (),
    x: Mapping[str, Sequence[str]] | None = None,
    *,
    form: Form | str = Form.LIFTED,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
    max_terms: int = MAX_TERMS,
) -> Decoding:
    """The best labelling that satisfies every constraint; x: the input's columns, for context features.

    Where none does, the status is INFEASIBLE and stats["clash"] names constraints that cannot hold together.

    >>> from lcons_decode.constraints import forbidden_ngrams
    >>> scores = ChainScores([[2.0, 0.0], [0.0, 1.0]], labels=["O", "I"])
    >>> decode_ilp(scores, [forbidden_ngrams(["O", "I"], [("O", "I")])]).y
    ('O', 'O')
    """
    program = chain_program(checked_scores(scores))
    uses = list(constraints)
    named = [read_use(use, "")[2] for use in uses]
    names = [f"constraint {i + 1}" if name == "constraint" else name for i, name in enumerate(named)]
    grounded = [
        ground_chain(program, use, x, name=name, max_terms=max_terms)
        for use, name in zip(uses, names, strict=True)
    ]
    result = solve(program, grounded, form=form, solver=solver, time_limit=time_limit, max_terms=max_terms)
    if "penalty" not in result.stats:  # no solution
        return Decoding((), result.score, result.status, result.stats)
    y = tuple(result.labels[t] for t in range(len(scores)))
    for use, name in zip(uses, names, strict=True):
        learned, weight, _ = read_use(use, name)
        if weight is None and not learned.satisfied(Instance(x or {}, y)):
            raise LconsError(f"the answer breaks {name!r}; this is an error in lcons, please report it.")
    score = scores.score(y) - result.stats["penalty"]
    return Decoding(y, score, result.status, result.stats, result.violations)
