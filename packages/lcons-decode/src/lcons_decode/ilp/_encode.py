"""A grounded constraint as rows of a program, in one of several forms of the same set.

    rows, lifted    those of `lcons_core.optimisers`, over the variables that psi is made of
    cuts            no rows at first; each rejected solution adds the row of S* = {k : a_k > 0}
    tables          rows that forbid the combinations of labels that the network rejects

With AUTO, a psi row of a hard constraint that reads one or two decisions, or three that pair
variables link, is a table; others have the shorter of rows and lifted. The network's verdict on every
combination of the labels of the decisions is a table, whatever K is. With indicators y of the labels, and
pair variables p where the program has them (`_program.py`):

    one decision            sum of y[l] over the rejected l  <=  0
    two, with p             sum of p[l, m] over the rejected (l, m)  <=  0
    two, without            sum_{l in A} y1[l] + sum_{m in B} y2[m]  <=  1
    three, p12 and p23      sum_{l in A} p12[l, b] + sum_{m in B} p23[b, m]  <=  y2[b]      for every label b

A x B are rectangles of rejected combinations that cannot be enlarged, and together they contain every
rejected combination, so an integral point satisfies the rows iff its combination is accepted. With p on pairs
of neighbours alone, the vertices of the relaxation are the accepted labellings. One unit is a table only
where pair variables make it tighter than its row.

A hinge has a slack t >= 0 that costs `weight * t`: rows say ... >= -t, lifted sum_k s_k <= 1 + t. The least
t is max(0, sum_k ReLU(a_k) - 1), so the penalty is exact in all forms. The parts of a conjunction share t,
because its margin is the least of theirs.

Paper: Theorem 1 for rows. Not in the paper: the other forms, the hinge.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from lcons_core import InvalidInput, LiftedInequalities, TooLarge, most_violated
from lcons_core._theorem import Form
from lcons_core._types import Bools, Floats
from lcons_core.optimisers._system import as_lifted
from lcons_core.optimisers._system import encode as encode_network
from lcons_decode.ilp._ground import MAX_TERMS, Grounded, PsiRow
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Variable, pair_name

FORMS = (Form.AUTO, Form.ROWS, Form.LIFTED, Form.CUTS)
MOST_NUMBERS = 2**20
MOST_DECISIONS = 3


def encode(
    program: Program, constraints: Sequence[Grounded], form: Form = Form.AUTO
) -> tuple[Program, dict[str, int]]:
    """The program with the constraints, and the number of psi rows in each form; cuts add no rows."""
    names = [grounded.name for grounded in constraints]
    if len({*names}) < len(names):
        raise InvalidInput(f"names of constraints must be distinct, found {names}; rename one.")
    variables: list[Variable] = []
    rows: list[Row] = []
    forms: Counter[str] = Counter()
    tables = _Tables(program)
    for grounded in constraints:
        variables += grounded.variables
        rows += grounded.rows
        others = list(range(len(grounded.psi_rows)))
        if grounded.weight is not None:
            slacks = (slack_name(grounded, i) for i in others)
            variables += (Variable(t, -grounded.weight, 0.0, math.inf, Type.CONTINUOUS) for t in slacks)
        if form is Form.AUTO:
            written = {i: table for i in others if (table := tables.rows(grounded, i)) is not None}
            rows += (row for table in written.values() for row in table)
            forms["table"] += len(written)
            others = [i for i in others if i not in written]
        if form is Form.CUTS or not others:
            forms["cuts"] += len(others)
            continue
        chosen, system = encode_network(grounded.network, None if form is Form.AUTO else form)
        forms[chosen.value] += len(others)
        width = sum(len(terms) for i in others for terms in grounded.psi_rows[i].columns.values())
        if len(system) * width > MAX_TERMS:
            raise TooLarge(
                f"{grounded.name!r} would have up to {len(system) * width:,} terms, above the limit of"
                f" {MAX_TERMS:,}; use form='lifted', which is linear in K, or form='cuts'."
            )
        high = 1.0 if grounded.weight is None else math.inf
        for i in others:
            lifted = (("s", grounded.name, i, k) for k in range(system.K))
            variables += (Variable(s, 0.0, 0.0, high, Type.CONTINUOUS) for s in lifted)
            rows += _rows(grounded, i, system, ("row", grounded.name, i))
    return program.extended(variables, rows), {name: number for name, number in forms.items() if number}


def cut(grounded: Grounded, index: int, psi: Floats) -> Row:
    """The most violated row of Theorem 1 at psi row `index`; its name contains the subset."""
    inequality = most_violated(grounded.network, psi)
    subset = () if inequality.subsets is None else np.flatnonzero(inequality.subsets[0]).tolist()
    [row] = _rows(grounded, index, as_lifted(inequality), ("cut", grounded.name, index, *subset))
    return row


def slack_name(grounded: Grounded, index: int) -> Name:
    """The variable t of psi row `index` of a hinge."""
    return ("t", grounded.name, index)


def _rows(
    grounded: Grounded, index: int, system: LiftedInequalities, prefix: tuple[Hashable, ...]
) -> Iterator[Row]:
    """The rows of a system at one psi row, over the program's variables."""
    names, coefficients, constant = substitute(grounded.psi_rows[index], system.A_psi, -system.rhs)
    for m in range(len(system)):
        terms: list[tuple[Name, float]] = [
            (("s", grounded.name, index, k), float(system.A_s[m, k])) for k in np.flatnonzero(system.A_s[m])
        ]
        terms += [(names[i], float(coefficients[m, i])) for i in np.flatnonzero(coefficients[m])]
        scale, sense = (1.0, Sense.AT_LEAST) if m < system.K or not system.K else (-1.0, Sense.AT_MOST)
        if grounded.weight is not None and (m >= system.K):
            terms.append((slack_name(grounded, index), 1.0))
            # With coefficients of one, CBC concludes that a hinge is integral, and misses optima. Halves are
            # the same row.
            scale *= 0.5 if system.K else 1.0
        scaled = tuple((name, c * scale) for name, c in terms)
        yield Row((*prefix, m), scaled, sense, 0.0 - float(constant[m]) * scale, grounded.name)


def substitute(row: PsiRow, W: Floats, b: Floats) -> tuple[list[Name], Floats, Floats]:
    """`W psi + b` as `C v + c` over the variables v that psi is made of: their names, C and c."""
    constant = b.copy()
    for j, value in row.constant.items():
        constant += W[:, j] * value
    terms = [(name, j, c) for j, expression in row.columns.items() for name, c in expression]
    index = {name: i for i, name in enumerate(dict.fromkeys(name for name, _, _ in terms))}
    coefficients = np.zeros((len(W), len(index)))
    for name, j, c in terms:
        coefficients[:, index[name]] += W[:, j] * c
    return list(index), coefficients, constant


Terms = list[tuple[Name, float]]


class _Tables:
    """Writes tables; psi rows with the same network and the same layout share the verdicts."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._order = {decision: i for i, decision in enumerate(program.decisions)}
        self._linked = {
            name[1:3] for name in program.variables if isinstance(name, tuple) and name[0] == "pair"
        }
        self._known: dict[Hashable, Bools | None] = {}

    def rows(self, grounded: Grounded, index: int) -> list[Row] | None:
        """The rows of psi row `index`; None if it is no table."""
        columns, decision_of = grounded.psi_rows[index].columns, self.program.decision_of
        names = {name for expression in columns.values() for name, _ in expression}
        if grounded.weight is not None or not names <= decision_of.keys():
            return None
        decisions = sorted({decision_of[name] for name in names}, key=self._order.__getitem__)
        linked = all(pair in self._linked for pair in pairwise(decisions))
        if len(decisions) > MOST_DECISIONS - (not linked) or (grounded.network.K == 1 and not linked):
            return None
        rejected = self._rejected(grounded, index, decisions)
        if rejected is None:
            return None
        y = [list(self.program.decisions[decision].items()) for decision in decisions]
        return [
            Row(("table", grounded.name, index, m), tuple(terms), Sense.AT_MOST, rhs, grounded.name)
            for m, (terms, rhs) in enumerate(_forbidden(rejected, linked, decisions, y))
        ]

    def _rejected(self, grounded: Grounded, index: int, decisions: Sequence[Hashable]) -> Bools | None:
        """The network's verdicts on all combinations of labels, one axis per decision; None if too large."""
        row, network = grounded.psi_rows[index], grounded.network
        axes = [self.program.decisions[decision].values() for decision in decisions]
        place = {name: (axis, i) for axis, names in enumerate(axes) for i, name in enumerate(names)}
        terms = tuple((j, *place[name], c) for j, terms in row.columns.items() for name, c in terms)
        shape = tuple(map(len, axes))
        key = (id(network), tuple(row.constant.items()), terms, shape)
        if key not in self._known and math.prod(shape) * network.d <= MOST_NUMBERS:
            psi = np.zeros((*shape, network.d))
            for j, value in row.constant.items():
                psi[..., j] += value
            for j, axis, i, c in terms:
                np.moveaxis(psi, axis, 0)[i, ..., j] += c
            self._known[key] = ~network.accepts(psi.reshape(-1, network.d)).reshape(shape)
        return self._known.get(key)


def _forbidden(
    rejected: Bools, linked: bool, decisions: Sequence[Hashable], y: Sequence[Sequence[tuple[str, Name]]]
) -> Iterator[tuple[Terms, float]]:
    """Rows `terms <= rhs` that every accepted combination satisfies, and no rejected one."""

    def pair(axis: int, i: int, j: int) -> tuple[Name, float]:
        return pair_name(decisions[axis], decisions[axis + 1], y[axis][i][0], y[axis + 1][j][0]), 1.0

    if not rejected.any():
        return
    if rejected.ndim == 0:
        yield [], -1.0
    elif rejected.ndim == 1:
        yield [(y[0][i][1], 1.0) for i in _indices(rejected)], 0.0
    elif rejected.ndim == 2 and linked:
        yield [pair(0, i, j) for i, j in np.argwhere(rejected).tolist()], 0.0
    elif rejected.ndim == 2:
        for A, B in rectangles(rejected):
            yield [*((y[0][i][1], 1.0) for i in A), *((y[1][j][1], 1.0) for j in B)], 1.0
    else:
        for b, (_, indicator) in enumerate(y[1]):
            for A, B in rectangles(rejected[:, b]):
                sides = [*(pair(0, i, b) for i in A), *(pair(1, b, j) for j in B)]
                yield [*sides, (indicator, -1.0)], 0.0


def rectangles(rejected: Bools) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Maximal A x B of rejected pairs that contain every rejected pair: one per distinct row or column.

    >>> rectangles(np.array([[True, False], [True, True]]))
    [((0, 1), (0,)), ((1,), (0, 1))]
    """
    by_rows = {((rejected | ~B).all(1).tobytes(), B.tobytes()) for B in np.unique(rejected, axis=0)}
    by_columns = {(A.tobytes(), (rejected.T | ~A).all(1).tobytes()) for A in np.unique(rejected.T, axis=0)}
    sides = [[_indices(np.frombuffer(side, np.bool_)) for side in pair] for pair in by_rows | by_columns]
    return sorted((A, B) for A, B in sides if A and B)


def _indices(members: Bools) -> tuple[int, ...]:
    return tuple(np.flatnonzero(members).tolist())
