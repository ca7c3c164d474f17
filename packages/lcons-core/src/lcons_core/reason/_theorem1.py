"""Theorem 1 asserted on points, in rational arithmetic: for tests.

    margin(psi) >= 0   =   every subset's row holds   =   some s fits the lifted rows   =   the cut holds

Rows and cuts must have the correctly rounded subset sums as coefficients. Where float sums are exact
(`exact.py`) that makes them the rows themselves, and their verdicts are asserted as well.

Paper: Sec. 2.3, Theorem 1, Eq. 8. Not in the paper: the lifted form and cuts.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from lcons_core import _cuts as cuts
from lcons_core import _inequalities as theorem1
from lcons_core import _lifted as lifted
from lcons_core._arithmetic import Floats, rational_dot, rounding_bound
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._network import Network, RectifierNetwork
from lcons_core._psi import SparsePsi, as_psi

MAX_D = 10
MAX_K = 12


def check_theorem1(network: Network, psi: Any = None) -> None:
    """Asserts that all forms agree on psi (N, d), or on all 0/1 points where d is at most 10.

    An AssertionError names the witness. K may be at most 12 a part: all 2^K subsets are formed.
    """
    points = _points(network, psi)
    if max(part.K for part in network.parts) > MAX_K:
        raise TooLarge(
            f"check_theorem1 forms all subsets of at most {MAX_K} units, found K = {network.K}; use"
            " verify(...), which samples."
        )
    rows, exact = theorem1.to_inequalities(network), _sums_are_exact(network, points)
    units = [_rationals(part.W[k], part.b[k]) for part in network.parts for k in range(part.K)]
    _check_rows(units, rows)
    different = {tuple(subset) for subset in rows.subsets} if rows.subsets is not None else set()
    wanted = theorem1.estimate_rows(network).rows
    assert len(rows) == len(different) == wanted, f"{len(different)} of {wanted} subsets have a row"
    system = lifted.lift(network)
    for point in points:
        expected = network.rational_margin(point) >= 0
        least = min(_least_slack(part, point) for part in network.parts)
        cut = cuts.most_violated(network, point)
        _check_rows(units, cut)
        found = {
            "network.accepts": network.accepts(point),
            "the rows of all subsets, as rationals,": least >= 0,
            "lift(network)": _some_s_fits(system, point),
        }
        if exact:
            value = rational_dot(cut.coefficients[0], point, float(cut.bias[0]))
            found["to_inequalities(network)"] = rows.holds(point)
            found["most_violated(network, psi)"] = value >= 0
            # Where no unit is active every row is at least 1, and the cut is one of them.
            assert value == least or least >= 1, _witness(
                network, point, f"the cut has slack {value}, but some row has {least}"
            )
        for form, verdict in found.items():
            assert verdict == expected, _witness(
                network, point, f"{form} says {verdict}, the rational margin says {expected}"
            )


def _points(network: Network, psi: Any) -> Floats:
    if psi is not None:
        checked = as_psi(psi, network.d)
        return checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
    if network.d > MAX_D:
        raise InvalidInput(
            f"there are too many 0/1 points for d = {network.d} (at most {MAX_D}); pass the points psi."
        )
    return np.array(list(product([0.0, 1.0], repeat=network.d)))


def _sums_are_exact(network: Network, points: Floats) -> bool:
    largest = float(np.abs(points).max(initial=1.0))
    integral = bool((points == np.rint(points)).all())
    return integral and all(
        rounding_bound(part.magnitude(largest), 0, part.exponent) == 0 for part in network.parts
    )


def _least_slack(part: RectifierNetwork, point: Floats) -> Fraction:
    """The least value of 1 - sum_{k in S} a_k over all non-empty S."""
    sums = [Fraction(0)]
    for w, b in zip(part.W, part.b, strict=True):
        activation = rational_dot(w, point, float(b))
        sums += [total + activation for total in sums]
    return 1 - max(sums[1:])


def _some_s_fits(system: lifted.LiftedInequalities, point: Floats) -> bool:
    """Whether some s >= 0 satisfies the lifted rows at this psi.

    A row in which one s_k is positive bounds that s_k from below; the other rows only ask for small s.
    So some s fits iff the least one does.
    """
    least = [Fraction(0)] * system.K
    budgets = []
    for a_psi, a_s, rhs in zip(system.A_psi, system.A_s, system.rhs, strict=True):
        needed = -rational_dot(a_psi, point, -float(rhs))
        involved = np.flatnonzero(a_s)
        if (a_s[involved] < 0).all():
            budgets.append((a_s, needed))
            continue
        assert len(involved) == 1, f"a lifted row mixes s variables: {a_s}"
        k = int(involved[0])
        least[k] = max(least[k], needed / Fraction(float(a_s[k])))
    values = (sum(Fraction(float(a)) * s for a, s in zip(a_s, least, strict=True)) for a_s, _ in budgets)
    return all(value >= needed for value, (_, needed) in zip(values, budgets, strict=True))


def _rationals(w: Floats, b: float) -> list[Fraction]:
    return [Fraction(float(x)) for x in (*w, b)]


def _check_rows(units: list[list[Fraction]], rows: theorem1.LinearInequalities) -> None:
    """Asserts that each row has the correctly rounded sums of its subset; `units` are rows of (W, b)."""
    assert rows.subsets is not None, "the rows do not say which subsets made them"
    for coefficients, bias, subset in zip(rows.coefficients, rows.bias, rows.subsets, strict=True):
        members = np.flatnonzero(subset).tolist()
        *sums, b = (sum(column) for column in zip(*(units[k] for k in members), strict=True))
        expected = [*(float(-total) for total in sums), float(1 - b)]
        found = [*coefficients.tolist(), float(bias)]
        assert found == expected, f"the row of S = {members} is {found} instead of {expected}"


def _witness(network: Network, point: Floats, problem: str) -> str:
    parts = "; ".join(f"W = {part.W.tolist()}, b = {part.b.tolist()}" for part in network.parts)
    return f"{problem} at psi = {point.tolist()} for {parts}"
