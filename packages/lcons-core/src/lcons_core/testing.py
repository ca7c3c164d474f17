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
Paper: Sec. 2.3, Theorem 1, Eq. 8. Not in the paper: the lifted form and cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from lcons_core import _theorem as theorem
from lcons_core._arithmetic import rounding_bound
from lcons_core._blocks import Block, Kind, Requirement, binary, count, integer, one_hot, real
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, MissingExtra, TooLarge
from lcons_core._instance import Instance
from lcons_core._network import Conjunction, LinearInequalities, Network, RectifierNetwork, as_network
from lcons_core._pointset import Given
from lcons_core._psi import SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.features._feature import ConstraintFeature
from lcons_core.features._kinds import Counts, Existence, Tuples
from lcons_core.features._ngrams import NgramContext, NgramLabels
from lcons_core.reason._verify import lifted_feasible

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError:
    raise MissingExtra("lcons_core.testing needs hypothesis; run: pip install hypothesis.") from None

__all__ = ["boundary_cases", "check_theorem1", "constraints", "float_networks", "networks"]

MAX_D = 10
MAX_K = 12
LARGEST_FLOAT = 2.0**64
_LABELS = ("A", "B", "C", "D")


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
    blocks: list[Block] = [draw(_real_blocks(f"real {i}")) for i in range(draw(st.integers(1, 2)) * reals)]
    for i in range(draw(st.integers(0 if reals else 1, max_blocks))):
        values = [f"v{j}" for j in range(draw(st.integers(1, max_values)))]
        blocks.append(draw(_finite_blocks(f"block {i}", values, counts)))
    rules = []
    if requires and draw(st.booleans()):
        for before, block in pairwise(block for block in blocks if block.kind is Kind.ONE_HOT):
            # Never about the first value, so that at least one point is always possible.
            if len(block.values) > 1:
                rules.append(Requirement(block.name, block.values[1], before.name, before.values[:1]))
    return FeatureSpace(blocks, rules)


def _finite_blocks(name: str, values: list[str], counts: bool) -> SearchStrategy[Block]:
    """Blocks of one name, of all kinds but real."""
    kinds = [[one_hot(name, values, other) for other in (False, True)]] * 2 + [[binary(name, values)]]
    if counts:
        bounds = ((0, 1), (0, 2), (1, 2), (1, 3))
        kinds.append([count(name, values[:2], high, low) for low, high in bounds])
        kinds.append([integer(name, v, low, low + 2) for v in ([name], ["v0", "v1"]) for low in range(-2, 2)])
    return st.sampled_from(kinds).flatmap(st.sampled_from)


def _real_blocks(name: str) -> SearchStrategy[Block]:
    bounds = product([-3.0, -1.0, -0.1, 0.0, 0.5, 1.0], [0.1, 0.5, 1.0, 3.0], ([name], ["v0", "v1"]))
    return st.sampled_from([real(name, values, low, low + length) for low, length, values in bounds])


@st.composite
def points(draw: DrawFn, space: FeatureSpace) -> Floats:
    """psi (d,): points of the domain; a real column is often at a bound."""
    finite = space.finite_part
    indices = st.tuples(*(st.integers(0, len(axis) - 1) for axis in finite.axes))
    choice = draw(indices.filter(lambda v: bool(finite.possible(np.array([v]))[0])))
    psi = np.zeros(space.d)
    psi[~space.real_columns] = finite.vectors(np.array([choice]))[0, : int((~space.real_columns).sum())]
    for block in space.blocks:
        if block.kind is Kind.REAL:
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
    space = draw(spaces(counts=counts)) if chosen is None else chosen.space
    single, several = networks(max_K=3, d=space.d), conjunctions(max_parts=2, max_K=2, d=space.d)
    network: Network = draw(st.one_of(single, several))
    return LearnedConstraint(network, space, chosen, {"seed": draw(st.integers(0, 2**64)), "note": "drawn"})


def check_theorem1(network: Given, psi: Any = None) -> None:
    """Asserts that all forms agree on psi (N, d), or without psi on all 0/1 points (d at most 10).

    An AssertionError names the witness. K may be at most 12 per part, because all 2^K subsets are computed.

    >>> from lcons_core import RectifierNetwork
    >>> check_theorem1(RectifierNetwork([[2.0, 2.0]], [-2.0]))
    """
    whole = as_network(network, "check_theorem1")
    points = _checked_points(whole, psi)
    if max(part.K for part in whole.parts) > MAX_K:
        raise TooLarge(f"check_theorem1 needs at most {MAX_K} units per part; verify draws random subsets.")
    listed, system = theorem.to_inequalities(whole), theorem.lift(whole)
    exact = _sums_are_exact(whole, points)
    _check_sums(whole, listed)
    subsets = {tuple(subset) for subset in np.asarray(listed.subsets)}
    wanted = theorem.estimate_rows(whole).rows
    assert len(listed) == len(subsets) == wanted, f"{len(subsets)} of {wanted} subsets have a row"
    for point in points:
        least = min(_least_slack(part, point) for part in whole.parts)
        cut = theorem.most_violated(whole, point)
        _check_sums(whole, cut)
        verdicts = {
            "network.accepts": whole.accepts(point),
            "the rows of all subsets, as rationals,": least >= 0,
            "lift(network)": bool(lifted_feasible(system, point[None])[0]),
        }
        if exact:
            verdicts["to_inequalities(network)"] = listed.holds(point)
            verdicts["most_violated(network, psi)"] = cut.rational_margin(point) >= 0
        expected = whole.rational_margin(point) >= 0
        parts = "; ".join(f"W = {part.W.tolist()}, b = {part.b.tolist()}" for part in whole.parts)
        where = f"at psi = {point.tolist()} for {parts}"
        for form, verdict in verdicts.items():
            problem = f"{form} is {verdict}, but the verdict of the rational margin is {expected} {where}"
            assert verdict == expected, problem
        # If no unit is active, every row is at least 1, and the cut is one of them.
        smallest = not exact or cut.rational_margin(point) == least or least >= 1
        assert smallest, f"the cut is not the smallest row, {least}, {where}"


def _checked_points(network: Network, psi: Any) -> Floats:
    if psi is not None:
        checked = as_psi(psi, network.d)
        return checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
    if network.d > MAX_D:
        raise InvalidInput(f"there are too many 0/1 points for d = {network.d}; pass the points psi.")
    return np.array(list(product([0.0, 1.0], repeat=network.d)))


def _sums_are_exact(network: Network, points: Floats) -> bool:
    largest = float(np.abs(points).max(initial=1.0))
    bounds = [rounding_bound(part.magnitude(largest), 0, part.exponent) for part in network.parts]
    return bool((points == np.rint(points)).all()) and not any(bounds)


def _least_slack(part: RectifierNetwork, point: Floats) -> Fraction:
    """The smallest value of 1 - sum_{k in S} a_k over all non-empty S."""
    sums = [Fraction(0)]
    for activation in part.rational_activations(point):
        sums += [total + activation for total in sums]
    return 1 - max(sums[1:])


def _check_sums(network: Network, rows: LinearInequalities) -> None:
    """Asserts that each row has the correctly rounded sums of its subset."""
    units = [[Fraction(x) for x in (*w, b)] for p in network.parts for w, b in zip(p.W, p.b, strict=True)]
    assert rows.subsets is not None, "the rows have no subsets"
    for coefficients, bias, subset in zip(rows.coefficients, rows.bias, rows.subsets, strict=True):
        members = np.flatnonzero(subset).tolist()
        *sums, b = (sum(column) for column in zip(*(units[k] for k in members), strict=True))
        expected = [*(float(-total) for total in sums), float(1 - b)]
        stored = [*coefficients.tolist(), float(bias)]
        assert stored == expected, f"the row of S = {members} is {stored} instead of {expected}"
