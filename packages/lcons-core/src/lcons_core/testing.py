"""Hypothesis strategies and checks for projects that use lcons; needs the extra `test`.

    from hypothesis import given
    from lcons_core.testing import check_theorem1, networks

    @given(networks(max_K=3))
    def test_my_networks_obey_the_theorem(network):
        check_theorem1(network)

Each strategy is named after the objects that it draws. Weights are multiples of 1/16, so float sums are exact
and tests need no tolerance; degenerate networks (zero rows, equal rows, points exactly on the boundary) are
common. `float_networks` and `boundary_cases` have arbitrary floats instead, whose sums round: their verdicts
need rationals. In a boundary case two columns p and q cancel,

    w_kp psi_p + w_kq psi_q = 0,    all other psi_j = 0,    so that a_k = b_k

and the margin is 1 - sum_k ReLU(b_k), which is 0 or 2^-52 to either side, however large the weights are.

`check_theorem1` asserts the theorem on points, in rational arithmetic:

    margin(psi) >= 0   =   every subset's row holds   =   some s fits the lifted rows   =   the cut holds

The coefficients of rows and cuts must be the correctly rounded subset sums. If float sums are exact
(`_arithmetic.py`), these are exactly the rows of the theorem, and their verdicts are asserted as well.
`rows` of your own are held against the network in the same way:

    check_theorem1(network, rows=(coefficients, bias))       coefficients @ psi + bias >= 0, row by row

Paper: Sec. 2.3, Theorem 1, Eq. 8. Not in the paper: the lifted form and cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from lcons_core import _theorem as theorem1
from lcons_core._arithmetic import rational_dot, rounding_bound
from lcons_core._blocks import Block, Requirement, binary, count, integer, one_hot, real
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, MissingExtra, TooLarge
from lcons_core._instance import Instance
from lcons_core._network import Conjunction, LinearInequalities, Network, RectifierNetwork, as_network
from lcons_core._pointset import Given
from lcons_core._psi import SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.features import ConstraintFeature, Counts, Existence, NgramContext, NgramLabels, Tuples

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError:
    raise MissingExtra(
        "lcons_core.testing needs hypothesis, which is not installed; run: pip install hypothesis."
    ) from None

__all__ = [
    "boundary_cases",
    "check_theorem1",
    "conjunctions",
    "constraints",
    "features",
    "float_networks",
    "float_weights",
    "label_sequences",
    "networks",
    "points",
    "spaces",
    "structures",
    "weights",
]

MAX_D = 10
MAX_K = 12
LARGEST_FLOAT = 2.0**64
_LABELS = ("A", "B", "C", "D")
_BOUNDS = st.sampled_from([-3.0, -1.0, -0.1, 0.0, 0.5, 1.0])


def weights(largest: int = 4) -> SearchStrategy[float]:
    """Multiples of 1/16 between -largest and largest."""
    return st.integers(-16 * largest, 16 * largest).map(lambda sixteenths: sixteenths / 16)


@st.composite
def networks(
    draw: DrawFn, max_K: int = 4, max_d: int = 6, K: int | None = None, d: int | None = None
) -> RectifierNetwork:
    """Networks with the given K and d, or with any up to the bounds; often a 0/1 point is on the boundary."""
    K = draw(st.integers(1, max_K)) if K is None else K
    d = draw(st.integers(1, max_d)) if d is None else d
    rows: list[list[float]] = []
    for _ in range(K):
        shapes = [st.lists(weights(), min_size=d, max_size=d), st.just([0.0] * d)]
        if rows:
            shapes.append(st.sampled_from(rows))
            shapes.append(st.sampled_from(rows).map(lambda row: [-w for w in row]))
        rows.append(draw(st.one_of(shapes)))
    W = np.array(rows)
    b = np.array(draw(st.lists(weights(), min_size=K, max_size=K)))
    if draw(st.booleans()):
        # The activation of one unit becomes exactly 0, 1/2 or 1 at a 0/1 point.
        point = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=d, max_size=d))
        k = draw(st.integers(0, K - 1))
        b[k] = draw(st.sampled_from([0.0, 0.5, 1.0])) - W[k] @ np.array(point)
    return RectifierNetwork(W, b)


def float_weights(largest: float = LARGEST_FLOAT) -> SearchStrategy[float]:
    """Floats between -largest and largest: also subnormal ones and negative zero."""
    return st.floats(-largest, largest, allow_nan=False)


@st.composite
def float_networks(
    draw: DrawFn, max_K: int = 4, max_d: int = 5, largest: float = LARGEST_FLOAT
) -> RectifierNetwork:
    """Networks with arbitrary floats, large and small ones side by side: sums of their weights round."""
    K, d = draw(st.integers(1, max_K)), draw(st.integers(1, max_d))
    numbers = st.one_of(float_weights(largest), float_weights(min(largest, 2.0)), weights())
    W = draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=K, max_size=K))
    return RectifierNetwork(W, draw(st.lists(numbers, min_size=K, max_size=K)))


@st.composite
def boundary_cases(
    draw: DrawFn, max_K: int = 4, max_d: int = 5, largest: float = LARGEST_FLOAT
) -> tuple[RectifierNetwork, Floats, int]:
    """(network, psi, side): arbitrary floats W and psi whose exact margin is side * 2^-52; side is 0, 1
    (accepted) or -1 (rejected)."""
    drawn = draw(float_networks(max_K, max(max_d - 1, 1), largest))
    # The new column q cancels column p, so every activation at psi is exactly its bias.
    p = draw(st.integers(0, drawn.d - 1))
    W = np.column_stack([drawn.W, -drawn.W[:, p]])
    psi = np.zeros(drawn.d + 1)
    psi[[p, drawn.d]] = draw(st.one_of(st.sampled_from([1.0, 3.0, 1e-9]), float_weights(largest)))
    side = draw(st.sampled_from([0, 1, -1]))
    # The positive biases add up to 1, exactly: a multiple of 2^-52, the rest, and nothing else.
    share = draw(st.integers(0, 2**51)) * 2.0**-52 if drawn.K > 1 else 0.0
    b = -np.abs(drawn.b)
    b[: min(2, drawn.K)] = [1.0 - share, share][: drawn.K]
    b[0] -= side * 2.0**-52
    return RectifierNetwork(W, b), psi, side


@st.composite
def conjunctions(
    draw: DrawFn, max_parts: int = 3, max_K: int = 3, max_d: int = 5, d: int | None = None
) -> Conjunction:
    """Conjunctions of one to `max_parts` networks."""
    d = draw(st.integers(1, max_d)) if d is None else d
    parts = st.lists(networks(max_K=max_K, d=d), min_size=1, max_size=max_parts)
    return Conjunction(tuple(draw(parts)))


@st.composite
def spaces(
    draw: DrawFn,
    max_blocks: int = 3,
    max_values: int = 3,
    counts: bool = True,
    requires: bool = True,
    reals: bool = False,
) -> FeatureSpace:
    """Spaces that mix one-hot blocks (with and without OTHER), binary, count and integer blocks; `reals`: and
    real blocks, at least one."""
    kinds = ["one-hot", "one-hot", "binary", *(["count", "integer"] if counts else [])]
    blocks: list[Block] = []
    for i in range(draw(st.integers(1, 2)) if reals else 0):
        low, length = draw(_BOUNDS), draw(st.sampled_from([0.1, 0.5, 1.0, 3.0]))
        name = f"real {i}"
        names = [name] if draw(st.booleans()) else ["v0", "v1"]
        blocks.append(real(name, names, low, low + length))
    for i in range(draw(st.integers(0 if reals else 1, max_blocks))):
        values = [f"v{j}" for j in range(draw(st.integers(1, max_values)))]
        kind, name = draw(st.sampled_from(kinds)), f"block {i}"
        if kind == "one-hot":
            blocks.append(one_hot(name, values, other=draw(st.booleans())))
        elif kind == "binary":
            blocks.append(binary(name, values))
        elif kind == "integer":
            low = draw(st.integers(-2, 1))
            blocks.append(integer(name, draw(st.sampled_from([[name], ["v0", "v1"]])), low, low + 2))
        else:
            low = draw(st.integers(0, 1))
            blocks.append(count(name, values[:2], low=low, high=low + draw(st.integers(1, 2))))
    plain = [block for block in blocks if block.kind == "one-hot"]
    rules = []
    if requires and draw(st.booleans()):
        for before, block in pairwise(plain):
            # Never about the first value, so that at least one point is always possible.
            if len(block.values) > 1:
                rules.append(Requirement(block.name, block.values[1], before.name, before.values[:1]))
    return FeatureSpace(blocks, rules)


@st.composite
def points(draw: DrawFn, space: FeatureSpace) -> Floats:
    """psi (d,): points of the domain; a real column is often at a bound."""
    if not space.integral:
        return draw(_real_points(space))
    indices = st.tuples(*(st.integers(0, len(axis) - 1) for axis in space.axes))
    choice = draw(indices.filter(lambda v: bool(space.possible(np.array([v]))[0])))
    return space.vectors(np.array([choice], dtype=np.int64))[0]


@st.composite
def _real_points(draw: DrawFn, space: FeatureSpace) -> Floats:
    finite = space.finite_part
    psi = np.zeros(space.d)
    psi[~space.real_columns] = draw(points(finite))[: int((~space.real_columns).sum())]
    for block in space.blocks:
        if block.kind == "real":
            inside = st.one_of(st.sampled_from([block.low, block.high]), st.floats(block.low, block.high))
            for value in block.values:
                psi[space.column(block.name, value)] = draw(inside) + 0.0
    return psi


@st.composite
def features(draw: DrawFn, max_labels: int = 3, max_n: int = 3) -> ConstraintFeature:
    """Constraint features of all generic kinds."""
    labels = _LABELS[: draw(st.integers(1, max_labels))]
    n, flag = draw(st.integers(1, max_n)), draw(st.booleans())
    padded = max(n, 2) if flag else n
    contexts = ("DT", "NN")[: draw(st.integers(1, 2))]
    kinds: list[ConstraintFeature] = [
        NgramLabels(labels, padded, flag),
        NgramContext(labels, contexts, padded, pad=flag),
        NgramContext(labels, ("punctuation",), padded, "word", "punctuation", flag),
        Existence(labels, n),
        Counts(labels, high=16, spans=flag),
        Tuples(tuple(f"member {i}" for i in range(n)), (labels,) * n),
    ]
    return draw(st.sampled_from(kinds))


def label_sequences(
    labels: Sequence[str] = _LABELS, min_size: int = 0, max_size: int = 8
) -> SearchStrategy[list[str]]:
    """Sequences of labels, also empty ones."""
    return st.lists(st.sampled_from(list(labels)), min_size=min_size, max_size=max_size)


@st.composite
def structures(draw: DrawFn, feature: ConstraintFeature, max_size: int = 8) -> Instance:
    """Structures that the feature can read, with known and unknown contexts."""
    if isinstance(feature, Tuples):
        members = st.tuples(*(st.sampled_from(values) for values in feature.values))
        return Instance({}, draw(st.lists(members, max_size=max_size)))
    y = draw(label_sequences(feature.labels, max_size=max_size))
    words = st.sampled_from(["DT", "NN", "XX", ",", "?!"])
    column = draw(st.lists(words, min_size=len(y), max_size=len(y)))
    return Instance({feature.column or "word": column}, y)


@st.composite
def constraints(draw: DrawFn, feature: bool | None = None, counts: bool = True) -> LearnedConstraint:
    """Constraints of one or several networks, with or without a feature (`feature` decides, if given)."""
    chosen: ConstraintFeature | None = None
    if draw(st.booleans()) if feature is None else feature:
        chosen = draw(features() if counts else features().filter(lambda f: f.kind != "counts"))
        space = chosen.space
    else:
        space = draw(spaces(counts=counts))
    shapes: list[SearchStrategy[Network]] = [
        networks(max_K=3, d=space.d),
        conjunctions(max_parts=2, max_K=2, d=space.d),
    ]
    network: Network = draw(st.one_of(shapes))
    seed = draw(st.integers(0, 2**64))
    return LearnedConstraint(network, space, chosen, {"seed": seed, "note": "drawn"})


def check_theorem1(network: Given, psi: Any = None, *, rows: Any = None) -> None:
    """Asserts that all forms agree on psi (N, d), or without psi on all 0/1 points (d at most 10).

    `rows`, if given, are other people's: `LinearInequalities`, or (coefficients, bias) of the rows
    `coefficients @ psi + bias >= 0`, in any order and without those that follow from others. They must have
    the verdict of the network at each point, in rational arithmetic; rows that name their subsets must also
    have the correctly rounded sums of these.

    An AssertionError names the witness. K may be at most 12 per part, because all 2^K subsets are computed.

    >>> from lcons_core import RectifierNetwork
    >>> check_theorem1(RectifierNetwork([[2.0, 2.0]], [-2.0]), rows=([[-2.0, -2.0]], [3.0]))
    >>> check_theorem1(RectifierNetwork([[2.0, 2.0]], [-2.0]), rows=([[-2.0, -2.0]], [4.0]))
    Traceback (most recent call last):
    AssertionError: all the given rows hold, but the verdict of the rational margin is False at ...
    """
    own: Network = as_network(network, "check_theorem1")
    points = _checked_points(own, psi)
    if max(part.K for part in own.parts) > MAX_K:
        raise TooLarge(
            f"check_theorem1 needs at most {MAX_K} units per part, found K = {own.K}; use"
            " verify(...), which draws random subsets."
        )
    units = [_rationals(part.W[k], part.b[k]) for part in own.parts for k in range(part.K)]
    if rows is not None:
        _check_given_rows(own, _given_rows(rows, own), units, points)
    found_rows, exact = theorem1.to_inequalities(own), _sums_are_exact(own, points)
    _check_rows(units, found_rows)
    different = {tuple(subset) for subset in found_rows.subsets} if found_rows.subsets is not None else set()
    wanted = theorem1.estimate_rows(own).rows
    assert len(found_rows) == len(different) == wanted, f"{len(different)} of {wanted} subsets have a row"
    system = theorem1.lift(own)
    for point in points:
        expected = own.rational_margin(point) >= 0
        least = min(_least_slack(part, point) for part in own.parts)
        cut = theorem1.most_violated(own, point)
        _check_rows(units, cut)
        found = {
            "network.accepts": own.accepts(point),
            "the rows of all subsets, as rationals,": least >= 0,
            "lift(network)": _some_s_fits(system, point),
        }
        if exact:
            value = rational_dot(cut.coefficients[0], point, float(cut.bias[0]))
            found["to_inequalities(network)"] = found_rows.holds(point)
            found["most_violated(network, psi)"] = value >= 0
            # If no unit is active, every row is at least 1, and the cut is one of them.
            assert value == least or least >= 1, _witness(
                own, point, f"the cut has slack {value}, but some row has {least}"
            )
        for form, verdict in found.items():
            assert verdict == expected, _witness(
                own, point, f"{form} is {verdict}, but the verdict of the rational margin is {expected}"
            )


def _given_rows(rows: Any, network: Network) -> LinearInequalities:
    """Rows as `LinearInequalities` of the network's psi."""
    given = rows if isinstance(rows, tuple) else (getattr(rows, "rows", rows),)
    if len(given) == 2:
        found = LinearInequalities(*given)
    elif isinstance(given[0], LinearInequalities):
        found = given[0]
    else:
        raise InvalidInput(
            f"rows must be LinearInequalities or (coefficients, bias), found {type(rows).__name__}; pass"
            " arrays (M, d) and (M,)."
        )
    if found.d != network.d:
        raise InvalidInput(
            f"rows must have {network.d} columns, found {found.d}; pass rows over the same psi."
        )
    return found


def _check_given_rows(
    network: Network, rows: LinearInequalities, units: list[list[Fraction]], points: Floats
) -> None:
    if rows.subsets is not None:
        _check_rows(units, rows)
    for point in points:
        expected = network.rational_margin(point) >= 0
        values = [
            rational_dot(w, point, b) for w, b in zip(rows.coefficients, rows.bias.tolist(), strict=True)
        ]
        broken = [m for m, value in enumerate(values) if value < 0]
        said = "all the given rows hold"
        if broken:
            said = f"the given row {broken[0]} is {float(values[broken[0]]):g} < 0"
        assert expected == (not broken), _witness(
            network, point, f"{said}, but the verdict of the rational margin is {expected}"
        )


def _checked_points(network: Network, psi: Any) -> Floats:
    if psi is not None:
        checked = as_psi(psi, network.d)
        return checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
    if network.d > MAX_D:
        raise InvalidInput(
            f"there are too many 0/1 points for d = {network.d} (d is at most {MAX_D}); pass the points psi."
        )
    return np.array(list(product([0.0, 1.0], repeat=network.d)))


def _sums_are_exact(network: Network, points: Floats) -> bool:
    largest = float(np.abs(points).max(initial=1.0))
    integral = bool((points == np.rint(points)).all())
    return integral and all(
        rounding_bound(part.magnitude(largest), 0, part.exponent) == 0 for part in network.parts
    )


def _least_slack(part: RectifierNetwork, point: Floats) -> Fraction:
    """The smallest value of 1 - sum_{k in S} a_k over all non-empty S."""
    sums = [Fraction(0)]
    for w, b in zip(part.W, part.b, strict=True):
        activation = rational_dot(w, point, float(b))
        sums += [total + activation for total in sums]
    return 1 - max(sums[1:])


def _some_s_fits(system: theorem1.LiftedInequalities, point: Floats) -> bool:
    """Whether some s >= 0 satisfies the lifted rows at this psi.

    A row with a positive coefficient of one s_k is a lower bound on this s_k; the other rows only need small
    s. So some s satisfies all rows iff the smallest one does.
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


def _check_rows(units: list[list[Fraction]], rows: LinearInequalities) -> None:
    """Asserts that each row has the correctly rounded sums of its subset; `units` are rows of (W, b)."""
    assert rows.subsets is not None, "the rows have no subsets"
    for coefficients, bias, subset in zip(rows.coefficients, rows.bias, rows.subsets, strict=True):
        members = np.flatnonzero(subset).tolist()
        *sums, b = (sum(column) for column in zip(*(units[k] for k in members), strict=True))
        expected = [*(float(-total) for total in sums), float(1 - b)]
        found = [*coefficients.tolist(), float(bias)]
        assert found == expected, f"the row of S = {members} is {found} instead of {expected}"


def _witness(network: Network, point: Floats, problem: str) -> str:
    parts = "; ".join(f"W = {part.W.tolist()}, b = {part.b.tolist()}" for part in network.parts)
    return f"{problem} at psi = {point.tolist()} for {parts}"
