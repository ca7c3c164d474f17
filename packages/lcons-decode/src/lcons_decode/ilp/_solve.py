"""The best solution of a program under learned constraints, checked outside the solver.

    repeat:  solve;  check the rounded solution exactly
             accepted                      -> done
             rejected, form CUTS           -> add the row of S* for each rejected psi row
             rejected, nothing to add      -> add a no-good row over the decisions, and count it

With the form AUTO, a program without rows of its own is first solved part by part (`_parts.py`): if one of
its 33 best solutions satisfies all constraints, the first that does is the best, and no solver is asked.

A solver works with tolerances, so its solution may violate a learned row by less than the tolerance; the
verdict of the network decides. Only for the claim that no better solution exists is the solver trusted.
INFEASIBLE comes with the constraints that clash (`find_clash`). The solver breaks ties, not the label order.

Paper: Sec. 4 and Appendices B, C decode by integer programs. Not in the paper: the checks, no-good rows,
hinges.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcons_core import LconsError
from lcons_decode._result import Status, Violation
from lcons_decode.ilp._backend import Answer, Found, MipModel, Solver, check_solver, read_solver
from lcons_decode.ilp._check import Check, check, find_clash, no_good, rounded
from lcons_decode.ilp._forms import (
    MAX_TERMS,
    Form,
    check_names,
    cut,
    encode,
    read_form,
    slack_name,
)
from lcons_decode.ilp._grounded import Grounded
from lcons_decode.ilp._parts import best_accepted, best_of_parts
from lcons_decode.ilp._program import Name, Program, graph_program
from lcons_decode.kernels._arrays import Floats, Ints

MAX_ROUNDS = 10_000
# Of the best solutions without constraints, so many are tried before a solver is asked.
MOST_TRIED = 32
SLACK_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Assignment:
    """The label of every decision, the score (with hinges), status, stats; `values` of the free variables.

    `violations` are the hinges with a cost. Without a solution, the labels are empty and the score is -inf;
    if the status is INFEASIBLE, stats["clash"] names the constraints that cannot hold together.
    """

    labels: Mapping[Hashable, str]
    score: float
    status: Status
    stats: Mapping[str, Any] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    values: Mapping[Name, float] = field(default_factory=dict)


def solve(
    program: Program,
    constraints: Sequence[Grounded] = (),
    *,
    form: Form | str = Form.AUTO,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
    explain: bool = True,
    max_terms: int = MAX_TERMS,
) -> Assignment:
    """The best assignment that satisfies every row and every constraint.

    >>> solve(graph_program({"city": {"Location": 2.0, "Person": 1.0}})).labels
    {'city': 'Location'}
    """
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    search = Search(program, constraints, read_form(form), read_solver(solver), deadline, max_terms)
    result = search.run()
    if result.status is Status.INFEASIBLE and explain:

        def feasible(some: Program, kept: Sequence[Grounded]) -> bool | None:
            found = Search(some.without_objective(), kept, search.form, search.solver, deadline, max_terms)
            return {Status.OPTIMAL: True, Status.INFEASIBLE: False}.get(found.run().status)

        hard = [grounded for grounded in constraints if grounded.weight is None]
        stats = {**result.stats, "clash": find_clash(program, hard, feasible)}
        return Assignment({}, -math.inf, Status.INFEASIBLE, stats)
    return result


def label_pairs_by_ilp(unary: Floats, best: Floats, solver: Solver | str = Solver.CBC) -> Ints:
    """The labels with the largest sum of unary (n, L) and pair values (n, n, L, L), for i < j.

    >>> best = np.zeros((2, 2, 2, 2))
    >>> best[0, 1] = [[0, 1], [2, 0]]
    >>> label_pairs_by_ilp(np.zeros((2, 2)), best).tolist()
    [1, 0]
    """
    n, L = unary.shape
    names = [str(label) for label in range(L)]
    decisions = {i: dict(zip(names, map(float, unary[i]), strict=True)) for i in range(n)}
    factors: dict[tuple[Hashable, Hashable], dict[tuple[str, str], float]] = {
        (i, j): {(names[a], names[b]): float(best[i, j, a, b]) for a in range(L) for b in range(L)}
        for i in range(n)
        for j in range(i + 1, n)
    }
    found = solve(graph_program(decisions, factors), solver=solver)
    if found.status is not Status.OPTIMAL:
        raise LconsError(
            f"the integer program of {n} candidates ended with status {found.status}; use fewer candidates."
        )
    return np.array([int(found.labels[i]) for i in range(n)], dtype=np.int64)


class Search:
    """One run of the loop: a model, the rows added to it, and counts."""

    def __init__(
        self,
        program: Program,
        constraints: Sequence[Grounded],
        form: Form,
        solver: Solver,
        deadline: float | None,
        max_terms: int = MAX_TERMS,
    ) -> None:
        self.program, self.constraints, self.form, self.solver = program, constraints, form, solver
        self.deadline = deadline
        self.max_terms = max_terms
        check_solver(solver)
        check_names(constraints)
        self.full = program
        self.forms: Mapping[str, int] = {}
        self.cuts: set[Name] = set()
        self.rounds = self.no_goods = 0

    def run(self) -> Assignment:
        """Solves until a solution is accepted, no solution is left, or the time limit is reached."""
        if self.form is Form.AUTO and (found := self._without_constraints()) is not None:
            return found
        encoded = encode(self.program, self.constraints, self.form, self.max_terms)
        self.full, self.forms = encoded.program, encoded.forms
        self.model = MipModel(self.full, self.solver)
        answer = Answer(Found.NOTHING)
        while self.rounds < MAX_ROUNDS:
            self.rounds += 1
            answer = self.model.optimise(self._remaining())
            if answer.found is Found.INFEASIBLE:
                return self._nothing(Status.INFEASIBLE, answer)
            if answer.found is Found.NOTHING:
                break
            values = rounded(self.full, answer.values)
            verdict = check(self.program, self.constraints, values)
            if not self._add_rows(verdict, values, answer):
                return self._accepted(verdict, values, answer)
        return self._nothing(Status.TIME_LIMIT, answer)

    def _without_constraints(self) -> Assignment | None:
        """The best solution, if it is known without a solver: one of the best without constraints."""
        values = best_of_parts(self.program)
        if values is None:
            return None
        verdict = check(self.program, self.constraints, values)
        if verdict.rejected and not verdict.broken_rows:
            values = best_accepted(self.program, self.constraints, values, verdict.rejected, MOST_TRIED)
            if values is None:
                return None
            verdict = check(self.program, self.constraints, values)
        if verdict.broken_rows or verdict.rejected or verdict.hinges:
            return None
        answer = Answer(Found.OPTIMAL, bound=self.program.objective(values))
        return self._accepted(verdict, values, answer)

    def _add_rows(self, verdict: Check, values: dict[Name, float], answer: Answer) -> bool:
        """Adds rows that cut off a wrong solution; returns False if the solution is right."""
        added = False
        if self.form is Form.CUTS:
            wanted = [*verdict.rejected, *self._underpaid(verdict, answer)]
            for c, i in wanted:
                row = cut(self.constraints[c], i, verdict.psi[c][i])
                if row.name not in self.cuts:
                    self.cuts.add(row.name)
                    self.model.add(row)
                    added = True
        if not added and not verdict.accepted:
            self.model.add(no_good(self.program, values, self.no_goods))
            self.no_goods += 1
            added = True
        return added

    def _underpaid(self, verdict: Check, answer: Answer) -> list[tuple[int, int]]:
        """The hinges that cost more than in the model."""
        return [
            (c, i)
            for (c, i), hinge in verdict.hinges.items()
            if answer.values[slack_name(self.constraints[c], i)] < hinge - SLACK_TOLERANCE * (1.0 + hinge)
        ]

    def _accepted(self, verdict: Check, values: dict[Name, float], answer: Answer) -> Assignment:
        status = Status.OPTIMAL if answer.found is Found.OPTIMAL else Status.TIME_LIMIT
        own = {name: value for name, value in values.items() if name in self.program.variables}
        penalty = verdict.penalty(self.constraints)
        violations = tuple(
            Violation(self.constraints[c].name, self.constraints[c].positions[i]) for c, i in verdict.hinges
        )
        free = {name: own.get(name, 0.0) for name in self.program.free}
        labels = self.program.labels(values)
        stats = {**self._stats(answer), "penalty": penalty}
        return Assignment(labels, self.program.objective(own) - penalty, status, stats, violations, free)

    def _nothing(self, status: Status, answer: Answer) -> Assignment:
        return Assignment({}, -math.inf, status, self._stats(answer))

    def _stats(self, answer: Answer) -> dict[str, Any]:
        return {
            "solver": str(self.solver),
            "form": str(self.form),
            "forms": self.forms,
            "variables": len(self.full.variables),
            "rows": len(self.full.rows) + len(self.full.decisions) + len(self.cuts) + self.no_goods,
            "rounds": self.rounds,
            "cuts": len(self.cuts),
            "no_goods": self.no_goods,
            "bound": answer.bound,
        }

    def _remaining(self) -> float | None:
        return None if self.deadline is None else self.deadline - time.perf_counter()
