"""The best 0/1 point that an oracle accepts, found by solving under a learned network and asking.

A network that is right on 99 % of random points is often wrong at its own optimum: the solver looks for the
best of all points that the network accepts, so it finds the mistakes that pay. So the optimum is a question
to an oracle (a test, a simulation, a person), and the answers decide what is asked next:

    repeat:  maximise c . psi   over points not asked, better than the best feasible one,
                                with sum_k ReLU(a_k) <= allowance
             rejected by the oracle   -> the network is too lenient here: lower the allowance by one step
             no such point            -> it may be too strict: raise the allowance by one step

The allowance is 1 at first, which is the network itself; eight steps double it. It is rounded to a multiple
of 2^-10, so that a network accepts exactly these points: with 2^e >= allowance,

    sum_k ReLU(a_k / 2^e) + ReLU(1 - allowance / 2^e) <= 1    iff    sum_k ReLU(a_k) <= allowance

Points whose answer is known are never asked. If no point is left at an allowance that accepts everything, the
best feasible point is optimal.

With `learn`, a new network is learned from the answers after every `every` questions.

Not in the paper.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcons_contrib.oracle._programs import Within, with_rows, with_sets
from lcons_core import InvalidInput, LinearInequalities, RectifierNetwork
from lcons_core._arithmetic import frozen
from lcons_core._network import Conjunction, Network, as_network
from lcons_core._types import Bools, Floats
from lcons_decode import Status
from lcons_decode.ilp import Program, Variable, solve
from lcons_decode.ilp._ground import ground_columns
from lcons_decode.ilp._solver import Solver

Oracle = Callable[[Floats], bool]
Learn = Callable[[Floats, Bools], Any]

QUESTIONS = 100
# With 1, 2, 4 and 8 steps, the mean gap after 100 questions was 1.3, 0.3, 0.1 and 0.03 %.
STEPS = 8
STRICTEST = -6 * STEPS
SMALLEST_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Question:
    """A point that was asked, its objective, the oracle's answer, and the allowance at that time."""

    point: Floats
    value: float
    feasible: bool
    allowance: float


@dataclass(frozen=True, eq=False)
class Answered:
    """The best point that is known to be feasible (None if there is none), its objective, and all questions.

    status: OPTIMAL if every point that is better by `step` was rejected or is not `within`, TIME_LIMIT,
    otherwise OUT_OF_BUDGET.
    settled: whether the last network accepts no better point, except rejected ones.
    """

    point: Floats | None
    value: float
    questions: tuple[Question, ...]
    status: Status
    settled: bool
    network: Network


def optimise_with_oracle(
    objective: ArrayLike,
    network: Any,
    oracle: Oracle,
    *,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    within: Sequence[Within] = (),
    maximise: bool = True,
    questions: int = QUESTIONS,
    enough: float | None = None,
    learn: Learn | None = None,
    every: int = 20,
    step: float | None = None,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
) -> Answered:
    """The best feasible point that at most `questions` questions find, with all of them.

    objective: (d,) of the 0/1 point.
    network: accepts points that are probably feasible: a network, a conjunction, a constraint or a learner.
    oracle: called with one point (d,), returns whether it is truly feasible.
    X, y: points (N, d) with known answers (N,), such as those of training; they are never asked.
    within: rows and trust regions that the point must satisfy, too.
    enough: ends the search when a feasible point has this objective or a better one.
    learn: called with all asked points and answers, returns the next network.
    step: the least improvement; 1 for objectives in whole numbers, otherwise 1e-6 of their absolute sum.

    >>> network = RectifierNetwork([[1.0, 1.0, 1.0]], [-2.0])          # accepts everything
    >>> found = optimise_with_oracle([3, 2, 2], network, lambda point: point.sum() <= 2)
    >>> found.point, found.value, [question.feasible for question in found.questions], found.status
    (array([1., 1., 0.]), 5.0, [False, True], <Status.OPTIMAL: 'optimal'>)
    """
    start: Network = as_network(network, "optimise_with_oracle")
    c = np.array(objective, dtype=np.float64)
    if c.shape != (start.d,) or not np.isfinite(c).all():
        raise InvalidInput(
            f"the objective must be {start.d} finite numbers, one per column of the network, found shape"
            f" {c.shape}."
        )
    if step is not None and not 0 < step < math.inf:
        raise InvalidInput(f"step must be above 0 and finite, found {step}; pass the least improvement.")
    if questions < 0 or every < 1:
        raise InvalidInput(
            f"questions must be at least 0 and every at least 1, found {questions} and {every}."
        )
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    sign = 1.0 if maximise else -1.0
    search = _Search(sign * c, within, step, solver, deadline)
    search.remember(X, y)
    most = math.inf if enough is None else sign * enough
    return search.run(start, oracle, questions, most, learn, every, sign)


def allowance_at(level: int) -> float:
    """The allowance at a level, a multiple of 2^-10 near 2^(level / STEPS)."""
    return round(2.0 ** (level / STEPS + 10)) / 2.0**10


def allowing(network: Network, allowance: float) -> Network:
    """The network that accepts the points with `sum_k ReLU(a_k) <= allowance`, in each part."""
    size = 2.0 ** math.ceil(math.log2(allowance))
    rest = 1.0 - allowance / size
    parts = []
    for part in network.parts:
        W, b = part.W / size, part.b / size
        if rest:
            W, b = np.concatenate([W, np.zeros((1, part.d))]), np.append(b, rest)
        parts.append(RectifierNetwork(W, b))
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))


class _Search:
    """The answers so far, and the program of the next question; the objective is maximised."""

    def __init__(
        self,
        c: Floats,
        sets: Sequence[Within],
        step: float | None,
        solver: Solver | str,
        deadline: float | None,
    ) -> None:
        self.c, self.sets, self.solver, self.deadline = c, sets, solver, deadline
        whole = bool((c == np.rint(c)).all())
        self.step = step or (1.0 if whole else SMALLEST_STEP * float(np.abs(c).sum()))
        self.columns = list(range(len(c)))
        program = Program({j: Variable(j, float(c[j])) for j in self.columns})
        self.program = with_sets(program, sets, self.columns)
        self.known: dict[bytes, bool] = {}
        self.rejected: list[Floats] = []
        self.best: Floats | None = None

    def remember(self, X: ArrayLike | None, y: ArrayLike | None) -> None:
        """Stores points with known answers; the best feasible one is the point to improve on."""
        if X is None and y is None:
            return
        points, answers = np.array(X, dtype=np.float64), np.asarray(y)
        if points.shape != (*answers.shape, len(self.c)) or answers.dtype != np.bool_:
            raise InvalidInput(
                f"X must be (N, {len(self.c)}) and y (N,) Boolean, found {points.shape} and {answers.shape}"
                f" ({answers.dtype}); pass both, y as a comparison with the valid label."
            )
        points += 0.0  # so that equal points have equal bytes: -0.0 becomes 0.0
        self.known.update(zip((point.tobytes() for point in points), answers.tolist(), strict=True))
        inside = points[answers & np.all([within.accepts(points) for within in self.sets], axis=0)]
        if len(inside):
            self.best = inside[int((inside @ self.c).argmax())]

    def run(
        self,
        network: Network,
        oracle: Oracle,
        questions: int,
        enough: float,
        learn: Learn | None,
        every: int,
        sign: float,
    ) -> Answered:
        """Asks until no point is left, or the budget is used up."""
        asked: list[Question] = []
        level, settled, learned, status = 0, False, 0, Status.OUT_OF_BUDGET
        while self.value() < enough:
            allowance = allowance_at(level)
            point, outcome = self.candidate(allowing(network, allowance))
            if point is None and outcome is Status.TIME_LIMIT:
                status = outcome
                break
            if point is None:
                settled |= level >= 0 and self.best is not None
                if allowance >= _largest_sum(network):
                    status = Status.OPTIMAL
                    break
                level += 1
                continue
            answer = self.known.get(point.tobytes())
            if answer is None and len(asked) == questions:
                break
            if answer is None:
                answer = self.known[point.tobytes()] = bool(oracle(point.copy()))
                asked.append(Question(frozen(point), sign * float(point @ self.c), answer, allowance))
            if answer:
                self.best = point
            else:
                self.rejected.append(point)
                level = max(STRICTEST, level - 1)
            if learn is not None and len(asked) - learned >= every:
                points, answers = zip(
                    *((question.point, question.feasible) for question in asked), strict=True
                )
                network = as_network(learn(np.array(points), np.array(answers)), "learn")
                level, settled, learned = 0, False, len(asked)
        return Answered(self.best, sign * self.value(), tuple(asked), status, settled, network)

    def value(self) -> float:
        """The objective of the best feasible point."""
        return -math.inf if self.best is None else float(self.best @ self.c)

    def candidate(self, network: Network) -> tuple[Floats | None, Status]:
        """The best point that the network accepts, that is better than the best one and not rejected."""
        program = self.program
        if self.rejected:
            points = np.array(self.rejected)
            differs = LinearInequalities(1.0 - 2.0 * points, points.sum(1) - 1.0)
            program = with_rows(program, differs, self.columns, "rejected")
        if self.best is not None:
            better = LinearInequalities(self.c[None], [-self.value() - self.step])
            program = with_rows(program, better, self.columns, "better")
        left = None if self.deadline is None else self.deadline - time.perf_counter()
        grounded = ground_columns(network, self.columns)
        answer = solve(program, [grounded], solver=self.solver, time_limit=left, explain=False)
        if not answer.values:
            return None, answer.status
        return np.array([answer.values[j] for j in self.columns]), answer.status


def _largest_sum(network: Network) -> float:
    """The largest value of `sum_k ReLU(a_k)` on 0/1 points that any part could have."""
    return max(
        float(np.maximum(part.b + np.maximum(part.W, 0.0).sum(1), 0.0).sum()) for part in network.parts
    )
