"""Unions: several networks, of which at least one must accept.

    accepts(psi)  iff  margin(psi) = max_m margin_m(psi) >= 0

The set of one network, or of a conjunction, is convex: with two points it contains all points between them.
"x is 0 or at least 4", "all of A or all of B" and two boxes are not convex, but are unions of such sets. The
members of a `Union` are networks or conjunctions. `a | b` of unions is a union and, by distributing, so is
`a & b`.

A union has no single system of rows, so it has no `inequalities`, no `cut` and no simplified rows: these
raise `Unsupported`. Its rows are a disjunction, one system per member (`Union.disjunction`): psi is in the
set iff all rows of one system hold.

The lifted form has one binary z_m per member, which is 1 if the member must accept psi:

    s_mk >= a_mk - U_mk (1 - z_m),   s_mk >= 0,   sum_k s_mk <= 1,   sum_m z_m >= 1

with one budget per part if a member is a conjunction. U_mk is the largest a_mk on the domain, in closed form:
the sum over axes of the largest contribution. If z_m = 0, then s_mk = 0 satisfies the rows of member m; if
z_m = 1, they are those of `lift(member)`. So some s and z exist iff some member accepts psi: exact for every
psi of the domain. The form is written with off_m = 1 - z_m, because then each coefficient is a weight or a
bound, and no sum b - U must be rounded.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._arithmetic import exponent, finite_array, frozen, many, rounding_bound
from lcons_core._coercion import Given, as_network
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._inequalities import (
    Decider,
    LinearInequalities,
    PsiSet,
    check_width,
    least_values,
    row_reach,
)
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._psi import Psi
from lcons_core._space import FeatureSpace
from lcons_core._theorem1 import lift as lift_parts
from lcons_core._types import Bools, Floats, Ints

MOST_MEMBERS = 2**10

Bounds = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Union(PsiSet):
    """The union of the sets that `members` accept; all members have the same d.

    >>> none, some = RectifierNetwork([[2.0]], [0.0]), RectifierNetwork([[-1.0]], [5.0])   # x <= 0, x >= 4
    >>> Union([none, some]).accepts([[0], [1], [3], [4], [9]]).tolist()
    [True, False, False, True, True]
    """

    members: tuple[Network, ...]
    space: ClassVar[None] = None

    def __init__(self, members: Iterable[Network | Union]) -> None:
        found: list[Network] = []
        for member in members:
            if not isinstance(member, RectifierNetwork | Conjunction | Union):
                raise InvalidInput(
                    "the members of a union must be networks, conjunctions or unions, found"
                    f" {type(member).__name__}; combine constraints by a | b."
                )
            found += [_plain(network) for network in member.alternatives()]
        widths = {member.d for member in found}
        if len(widths) != 1:
            raise InvalidInput(
                "the members of a union must have the same number of columns, found"
                f" {sorted(widths) or 'no member'}; combine constraints on one space."
            )
        if len(found) > MOST_MEMBERS:
            raise TooLarge(
                f"a union may have at most {MOST_MEMBERS:,} members, found {many(len(found))}; combine fewer"
                " unions."
            )
        object.__setattr__(self, "members", tuple(found))

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.members[0].d

    @property
    def K(self) -> int:
        """The total number of hidden units of all members."""
        return sum(member.K for member in self.members)

    @property
    def width(self) -> int:
        """The number of affine values that a verdict needs."""
        return self.K

    @property
    def cost(self) -> int:
        """The approximate cost of a verdict on one point, in hidden units."""
        return self.K

    @property
    def rounded(self) -> bool:
        """Whether the rows of some member are rounded to float64."""
        return any(member.rounded for member in self.members)

    @property
    def parts(self) -> tuple[RectifierNetwork, ...]:
        """Raises `Unsupported`: the members of a union are alternatives, and no conjunction."""
        self._refuse("parts that must all accept", "use lift_union(union, space), or its members")

    def alternatives(self) -> tuple[Network, ...]:
        """The sets whose union is the set: its members."""
        return self.members

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set: a union has none."""
        return ()

    def inequalities(self, most: int | None = None) -> LinearInequalities:
        """Raises `Unsupported`: a union has one system of rows per member (`disjunction`)."""
        self._refuse(
            "single system of rows", "use disjunction(), or the lifted form, which has one binary each"
        )

    def cut(self, psi: Any) -> LinearInequalities:
        """Raises `Unsupported`: no row is violated by psi and holds on the whole set."""
        self._refuse("cut", "cut the members")

    def disjunction(self, most: int | None = None) -> tuple[LinearInequalities, ...]:
        """The rows of each member; psi is in the set iff all rows of one member hold. `TooLarge` if a member
        has more than `most` rows."""
        return tuple(member.inequalities(most) for member in self.members)

    def directions(self, most: int) -> tuple[Floats, ...]:
        """Linear forms whose extreme points are worth checking: those of the members."""
        share = max(1, most // len(self.members))
        return tuple(form for member in self.members for form in member.directions(share))

    def landmarks(self, rng: np.random.Generator) -> list[Ints]:
        """Points near the boundary that a search by margins does not reach: none."""
        return []

    def rational_margin(self, psi: Floats) -> Fraction:
        """The largest margin of the members, without rounding."""
        return max(member.rational_margin(psi) for member in self.members)

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) the largest float margin of the members at value indices (N, axes)."""
        return np.max([member.margins(space, assignments) for member in self.members], axis=0)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether some member accepts the points with value indices (N, axes), exactly."""
        return np.any([member.verdicts(space, assignments) for member in self.members], axis=0)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        members = [member.decider(space, split) for member in self.members]
        return lambda head, tail, flat: np.any([member(head, tail, flat) for member in members], axis=0)

    def __or__(self, other: Network | Union) -> Union:
        return Union((self, other))

    def __ror__(self, other: Network) -> Union:
        return Union((other, self))

    def __and__(self, other: Network | Union) -> Union:
        return _all_pairs(self.members, other.alternatives())

    def __rand__(self, other: Network) -> Union:
        return _all_pairs(other.alternatives(), self.members)

    def _margins(self, psi: Psi) -> Floats:
        return np.max([member._margins(psi) for member in self.members], axis=0)

    def _accepted(self, psi: Psi) -> Bools:
        return np.any([member._accepted(psi) for member in self.members], axis=0)

    def _refuse(self, what: str, advice: str) -> NoReturn:
        raise Unsupported(f"a union of {len(self.members)} networks has no {what}; {advice}.")


def _plain(network: Network) -> Network:
    """The network itself, for a conjunction of one."""
    return network.parts[0] if len(network.parts) == 1 else network


AnyNetwork = RectifierNetwork | Conjunction | Union


def _all_pairs(left: tuple[Network, ...], right: tuple[Network, ...]) -> Union:
    """(A or B) and (C or D) = (A and C) or (A and D) or (B and C) or (B and D)."""
    if len(left) * len(right) > MOST_MEMBERS:
        raise TooLarge(
            f"the intersection of unions of {len(left):,} and {len(right):,} members has"
            f" {len(left) * len(right):,}, above the limit of {MOST_MEMBERS:,}; pass them to a decoder as a"
            " list."
        )
    return Union(a & b for a, b in product(left, right))


@dataclass(frozen=True, eq=False)
class LiftedUnion:
    """`A_psi @ psi + A_s @ s + A_off @ off >= rhs` with s >= 0 continuous and `off` (M,) binary.

    `off[m]` = 1 - z_m is 1 if member m need not accept psi. Exact for every psi within the bounds.
    """

    A_psi: Floats
    A_s: Floats
    A_off: Floats
    rhs: Floats

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.A_psi.shape[1]

    @property
    def K(self) -> int:
        """The number of auxiliary variables s."""
        return self.A_s.shape[1]

    @property
    def M(self) -> int:
        """The number of binaries, one per member."""
        return self.A_off.shape[1]


def lift_union(
    given: Given, space: FeatureSpace | None = None, *, bounds: Bounds | None = None
) -> LiftedUnion:
    """The rows of `lift(member)` for each member, switched off by its binary, then `-sum off_m >= 1 - M`.

    The domain is that of `space`, by default the space of a constraint, or all psi with `low <= psi <= high`
    for `bounds` = (low, high), each (d,).

    >>> none, some = RectifierNetwork([[2.0]], [0.0]), RectifierNetwork([[-1.0]], [5.0])   # x <= 0, x >= 4
    >>> lifted = lift_union(Union([none, some]), bounds=([0.0], [9.0]))
    >>> lifted.A_psi.tolist(), lifted.A_s.tolist()
    ([[-2.0], [0.0], [1.0], [0.0], [0.0]], [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    >>> lifted.A_off.tolist(), lifted.rhs.tolist()
    ([[18.0, 0.0], [0.0, 0.0], [0.0, 5.0], [0.0, 0.0], [-1.0, -1.0]], [0.0, -1.0, 5.0, -1.0, -1.0])
    """
    union = Union([as_network(given, "lift_union")])
    if bounds is None and space is None:
        space = getattr(given, "space", None)
    pieces = [lift_parts(member) for member in union.members]
    M, rows = len(pieces), sum(len(piece) for piece in pieces)
    A_psi, A_s = np.zeros((rows + 1, union.d)), np.zeros((rows + 1, union.K))
    A_off, rhs = np.zeros((rows + 1, M)), np.zeros(rows + 1)
    row = unit = 0
    for m, (member, piece) in enumerate(zip(union.members, pieces, strict=True)):
        own = slice(row, row + len(piece))
        A_psi[own], rhs[own] = piece.A_psi, piece.rhs
        A_s[own, unit : unit + piece.K] = piece.A_s
        A_off[row : row + piece.K, m] = greatest_activations(member, space, bounds=bounds)
        row, unit = own.stop, unit + piece.K
    A_off[-1], rhs[-1] = -1.0, 1.0 - M
    return LiftedUnion(frozen(A_psi), frozen(A_s), frozen(A_off), frozen(rhs))


def greatest_activations(
    network: Network, space: FeatureSpace | None = None, *, bounds: Bounds | None = None
) -> Floats:
    """(K,) for each unit, max(0, its largest activation on the domain), never rounded down."""
    if (space is None) == (bounds is None):
        raise InvalidInput(
            "the lifted form of a union needs the bounds of psi: pass the space that it was learned on, or"
            " bounds=(low, high) with one number per column, and not both."
        )
    W = np.concatenate([part.W for part in network.parts])
    b = np.concatenate([part.b for part in network.parts])
    if space is not None:
        check_width(network, space)
        space = space if space.integral else space.corners()
        terms, integral = len(space.axes), all(_integral(axis.coefficients) for axis in space.axes)
        highest, total = -least_values(space, -W, -b), row_reach(space, W)
    else:
        low, high = _read_bounds(bounds, network.d)
        terms, integral = network.d, _integral(low) and _integral(high)
        highest = np.maximum(W * low, W * high).sum(1) + b
        total = (np.abs(W) * np.maximum(np.abs(low), np.abs(high))).sum(1)
    q = exponent(W, b) if integral else None
    error = rounding_bound(float((total + np.abs(b)).max()), 2 * terms + 2, q)
    return np.maximum(np.nextafter(highest + error, np.inf) if error else highest, 0.0)


def _integral(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())


def _read_bounds(bounds: Any, d: int) -> tuple[Floats, Floats]:
    low, high = (finite_array(bound, "bounds", 1) for bound in bounds)
    if low.shape != (d,) or high.shape != (d,) or (low > high).any():
        raise InvalidInput(
            f"bounds must be low and high of shape ({d},) with low <= high, found shapes {low.shape} and"
            f" {high.shape}; pass one pair per column of psi."
        )
    return low, high
