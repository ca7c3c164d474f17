"""The points of a feature space as the solutions of a program.

A one-hot block is a decision among its values (OTHER is one of them, and has no column), a binary column is a
binary variable, and a count is `low + sum_i 2^i bit_i`, at most `high`. `requires` are implications
`y[value] <= sum of y[needed values]`. So every point is a 0/1 solution and every solution a point. Without
bits, which a model for people has no use for, a count is an integer variable.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from lcons_core.exact import Floats
from lcons_core.space import Block, FeatureSpace, Kind
from lcons_decode.ilp.indicators import Expression, PsiRow
from lcons_decode.ilp.program import Name, Program, Row, Sense, Type, Values, Variable


@dataclass(frozen=True)
class SpaceProgram:
    """A program whose solutions are the points of `space`; `row` is psi over its variables."""

    space: FeatureSpace
    program: Program
    row: PsiRow

    def psi(self, values: Values) -> Floats:
        """(d,) the point that a solution is."""
        psi = np.zeros(self.space.d)
        for j, value in self.row.constant.items():
            psi[j] = value
        for j, expression in self.row.columns.items():
            psi[j] += sum(c * values.get(name, 0.0) for name, c in expression)
        return psi


def space_program(space: FeatureSpace, bits: bool = True) -> SpaceProgram:
    """The program of a space, without an objective.

    >>> from lcons_core.space import count
    >>> points = space_program(FeatureSpace([count("number", ["a"], low=1, high=6)]))
    >>> points.row.constant, points.row.columns
    ({0: 1.0}, {0: ((('number', 'a', 0), 1.0), (('number', 'a', 1), 2.0), (('number', 'a', 2), 4.0))})
    """
    variables: dict[Name, Variable] = {}
    decisions: dict[Hashable, dict[str, Name]] = {}
    rows: list[Row] = []
    constant: dict[int, float] = {}
    columns: dict[int, Expression] = {}
    for axis in space.axes:
        block = space.block(axis.block)
        if block.kind is Kind.ONE_HOT:
            decisions[axis.name] = {value: (axis.name, value) for value in axis.values}
            for value, j in zip(axis.values, axis.columns.tolist(), strict=True):
                variables[axis.name, value] = Variable((axis.name, value))
                if j >= 0:
                    columns[j] = (((axis.name, value), 1.0),)
            continue
        j = int(axis.columns[0])
        if not bits:
            variables[space.columns[j]] = _whole(block, space.columns[j])
            columns[j] = ((space.columns[j], 1.0),)
            continue
        terms_of_bits = _bits(block, space.columns[j])
        variables |= {name: Variable(name) for name, _ in terms_of_bits}
        columns[j] = terms_of_bits
        if block.kind is Kind.COUNT:
            constant[j] = float(block.low)
            most = float(block.high - block.low)
            rows.append(Row(("most", *space.columns[j]), terms_of_bits, Sense.AT_MOST, most))
    for i, rule in enumerate(space.requires):
        needed = [((rule.needs_block, value), -1.0) for value in dict.fromkeys(rule.needs_values)]
        terms: dict[Name, float] = {}
        for name, c in [((rule.block, rule.value), 1.0), *needed]:
            terms[name] = terms.get(name, 0.0) + c
        rows.append(Row(("requires", i), tuple(terms.items()), Sense.AT_MOST, 0.0))
    return SpaceProgram(space, Program(variables, decisions, tuple(rows)), PsiRow(constant, columns))


def _whole(block: Block, column: tuple[str, str]) -> Variable:
    if block.kind is Kind.BINARY:
        return Variable(column)
    return Variable(column, low=float(block.low), high=float(block.high), type=Type.INTEGER)


def _bits(block: Block, column: tuple[str, str]) -> Expression:
    most = block.high - block.low if block.kind is Kind.COUNT else 1
    return tuple(((*column, i), float(2**i)) for i in range(most.bit_length()))
