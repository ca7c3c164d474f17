"""Comparison of two constraints on a domain that is too large to enumerate, by integer programs.

Is there a point that `a` accepts and a part of `b` rejects? The program is over the points psi of the space,
with `a` lifted, and for the part of `b`

    sum_k r_k >= 1 + h,    0 <= r_k <= a_k + L_k (1 - z_k),    r_k <= U_k z_k,    z_k binary

where -L_k <= a_k <= U_k are bounds over the space: some r satisfies these iff sum_k ReLU(a_k) >= 1 + h. There
is one program per part of `b`.
Counts are written in bits, so every point is a 0/1 point and can be cut off by a no-good row.

Why EQUAL is a proof: weights are multiples of 2^-q, so sum_k ReLU(a_k) is at least 1 + 2^-q for a rejected
point and at most 1 for an accepted one. Both thresholds are half-way, at 1 + h with h = 2^-q / 2. A real
difference then satisfies every row with a slack of h, and tolerances only enlarge the set that a solver
accepts. So a solver that finds no point at tolerance 1e-9 has shown that there is none, if h is far above the
tolerance and the rounding of its arithmetic; this is checked. Both networks decide exactly on every point
that a solver finds, and the point is cut off if it is not a difference. Otherwise the outcome is UNDECIDED.

Not in the paper.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_core import (
    Comparison,
    Conjunction,
    FeatureSpace,
    Fitted,
    Floats,
    Network,
    OnProgress,
    PointSet,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    as_points,
    compare,
)
from lcons_core._theorem import rows_of
from lcons_core.reason import ENUMERATION_LIMIT, Outcome, common_space, least_values, row_reach
from lcons_decode.ilp._backend import Found, MipModel, Solver, read_solver
from lcons_decode.ilp._check import no_good, rounded
from lcons_decode.ilp._constraint_program import SpaceProgram, space_program
from lcons_decode.ilp._forms import Form, with_constraints
from lcons_decode.ilp._grounded import Grounded, affine
from lcons_decode.ilp._program import Program, Row, Sense, Type, Variable

MAX_CANDIDATES = 100
LEAST_HALF_STEP = 1e-7  # one hundred times the solvers' tolerance
ROUNDING = 1e-11  # of a solver's arithmetic, relative to the largest terms


def compare_by_ilp(
    a: PointSet | Fitted,
    b: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
    limit: int = ENUMERATION_LIMIT,
    witnesses: int = 10,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Comparison:
    """The comparison of `lcons_core.reason`; if it is UNDECIDED, integer programs search for a difference.

    >>> from lcons_core._space import binary
    >>> space = FeatureSpace([binary("bit", map(str, range(40)))])
    >>> at_most_two = RectifierNetwork(np.ones((1, 40)), [-1.0])
    >>> almost = RectifierNetwork(np.ones((1, 40)) + np.eye(1, 40), [-1.0])
    >>> compare_by_ilp(at_most_two, almost, space).only_a > 0
    True
    """
    solver = read_solver(solver)
    sets = (as_points(a, "compare_by_ilp"), as_points(b, "compare_by_ilp"))
    space = common_space(space, *sets)
    first = compare(*sets, space, limit=limit, witnesses=witnesses, seed=seed, progress=progress)
    if first.outcome is not Outcome.UNDECIDED or not space.integral:
        return first  # between real margins there is no least difference, so a solver proves nothing
    try:
        networks = (_network(sets[0]), _network(sets[1]))
    except (TooLarge, Unsupported) as error:
        return replace(first, how=f"{first.how}; no network for an integer program: {error}")
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    searches = []
    for inside, outside in (networks, networks[::-1]):
        left = None if deadline is None else deadline - time.perf_counter()
        searches.append(find_difference(inside, outside, space, solver=solver, time_limit=left))
        if searches[-1].witness is not None:
            return _different(space, searches)
    undecided = [search.doubt for search in searches if search.doubt]
    if undecided:
        return replace(first, how=f"{first.how}; by integer programs: {'; '.join(undecided)}")
    how = f"{solver} proved that neither accepts a point that the other rejects"
    return replace(first, outcome=Outcome.EQUAL, how=how)


@dataclass(frozen=True)
class Difference:
    """A point that one accepts and the other rejects, or else the reason why a point may have been missed
    ("": proved that there is none)."""

    witness: Floats | None = None
    doubt: str = ""


def find_difference(
    inside: Network,
    outside: Network,
    space: FeatureSpace,
    *,
    solver: Solver | str = Solver.CBC,
    time_limit: float | None = None,
) -> Difference:
    """A point of the space that `inside` accepts and `outside` rejects."""
    solver, points = read_solver(solver), space_program(space)
    deadline = None if time_limit is None else time.perf_counter() + time_limit
    doubts = []
    for part in outside.parts:
        if part in inside.parts:
            continue  # it accepts every point that `inside` accepts
        found = _part_difference(points, inside, part, solver, deadline)
        if found.witness is not None:
            return found
        if found.doubt:
            doubts.append(found.doubt)
    return Difference(doubt="; ".join(dict.fromkeys(doubts)))


def _part_difference(
    points: SpaceProgram,
    inside: Network,
    part: RectifierNetwork,
    solver: Solver,
    deadline: float | None,
) -> Difference:
    """A point that `inside` accepts and the part rejects."""
    program = _rejected(points, part, _accepted(points, inside))
    if program is None:
        return Difference()
    model = MipModel(program, solver)
    for number in range(MAX_CANDIDATES):
        answer = model.optimise(None if deadline is None else deadline - time.perf_counter())
        if answer.found is Found.INFEASIBLE:
            return Difference(doubt=_doubt(points.space, (*inside.parts, part)))
        if answer.found is Found.NOTHING:
            return Difference(doubt="the time limit was reached")
        values = rounded(program, answer.values)
        psi = points.psi(values)
        if inside.accepts(psi) and not part.accepts(psi):
            return Difference(psi)
        model.add(no_good(points.program, values, number))
    return Difference(doubt=f"{MAX_CANDIDATES} points within the solver's tolerance were no difference")


def _accepted(points: SpaceProgram, network: Network) -> Program:
    """The points that the network accepts, with a slack of half a step."""
    grounded = Grounded("inside", network, (points.row,), lambda values: points.psi(values)[None])
    lifted = with_constraints(points.program, [grounded], Form.LIFTED)
    half = half_step(network.parts)
    variables = {
        name: replace(v, high=2.0) if v.type is Type.CONTINUOUS else v for name, v in lifted.variables.items()
    }
    rows = tuple(
        replace(row, rhs=row.rhs + half) if isinstance(row.name, tuple) and row.name[0] == "budget" else row
        for row in lifted.rows
    )
    return Program(variables, lifted.decisions, rows)


def _rejected(points: SpaceProgram, part: RectifierNetwork, program: Program) -> Program | None:
    """The points of the program that the part rejects, the most rejected first; None if it rejects none."""
    high = -least_values(points.space, -part.W, -part.b)
    low = least_values(points.space, part.W, part.b)
    if part.error_bound(points.space):  # bounds may be too wide, never too narrow
        margin = ROUNDING * (1.0 + row_reach(points.space, part.W) + np.abs(part.b))
        high, low = high + margin, low - margin
    active = np.flatnonzero(high > 0).tolist()
    half = half_step((part,))
    if high[active].sum() < 1.0 + half:
        return None
    activation = affine(points.row, part.W, part.b)
    variables, rows = [], []
    for k in active:
        r, z = ("r", k), ("z", k)
        variables.append(Variable(r, 1.0, 0.0, float(high[k]), Type.CONTINUOUS))
        terms, rhs = [(r, 1.0), *activation.terms(k, -1.0)], float(activation.constant[k])
        if low[k] < 0.0 and len(active) > 1:
            variables.append(Variable(z))
            rows.append(Row(("off", k), ((r, 1.0), (z, -float(high[k]))), Sense.AT_MOST, 0.0))
            terms, rhs = [*terms, (z, -float(low[k]))], rhs - float(low[k])
        rows.append(Row(("on", k), tuple(terms), Sense.AT_MOST, rhs))
    total = tuple((("r", k), 1.0) for k in active)
    rows.append(Row(("rejected",), total, Sense.AT_LEAST, 1.0 + half))
    return program.extended(variables, rows)


def half_step(parts: tuple[RectifierNetwork, ...]) -> float:
    """Half of the least difference of two margins, as the weights allow."""
    return float(np.ldexp(0.5, -max(part.exponent for part in parts)))


def _doubt(space: FeatureSpace, parts: tuple[RectifierNetwork, ...]) -> str:
    """The reason why a solver's proof cannot be trusted; "" if it can."""
    magnitude = max(float((row_reach(space, part.W) + np.abs(part.b)).sum()) for part in parts)
    half = half_step(parts)
    if half >= max(LEAST_HALF_STEP, ROUNDING * magnitude):
        return ""
    return (
        f"no difference found, but margins may differ by as little as {2 * half:.1e}, too near to the"
        " solver's tolerance for a proof; round the weights to multiples of 2^-20"
    )


def _different(space: FeatureSpace, searches: list[Difference]) -> Comparison:
    named: list[tuple[dict[str, Any], ...]] = [(), ()]
    for side, search in enumerate(searches):
        if search.witness is not None:
            named[side] = (space.describe(search.witness),)
    numbers = [len(side) for side in named]
    how = "a witness found by an integer program"
    return Comparison(
        Outcome.DIFFERENT, sum(numbers), 0, numbers[0], numbers[1], named[0], named[1], False, how
    )


def _network(constraint: PointSet) -> Network:
    if parts := constraint.networks():
        return parts[0] if len(parts) == 1 else Conjunction(parts)
    rows = rows_of(constraint)
    if not len(rows):
        return RectifierNetwork(np.zeros((1, rows.d)), [0.0])
    if any(Fraction(1.0 - b) != 1 - Fraction(b) for b in rows.bias.tolist()):
        raise Unsupported("the bias of a row would be rounded; use rows of dyadic weights.")
    pairs = zip(rows.coefficients, rows.bias, strict=True)
    return Conjunction(tuple(RectifierNetwork(0.0 - w[None], [1.0 - b]) for w, b in pairs))
