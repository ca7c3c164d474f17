"""Linear programs in exact integers: the minimum of linear functions over {x >= 0 : A x <= b}.

The simplex method on a dictionary D / q of integers with one common denominator q. A pivot on row r and
column s, p = D[r, s], is

    D'[i, j] = (p D[i, j] - D[i, s] D[r, j]) / q,   D'[i, s] = -D[i, s],   D'[r, j] = D[r, j],   D'[r, s] = q

with the new denominator p; the division has no remainder (Edmonds, Bareiss). Every number is an integer, so
every answer is exact, whatever the weights. A first phase finds a vertex; then many functions can be
minimised, each from the vertex at which the last one ended. The entering variable is that of the largest
coefficient, and after some pivots without progress that of the smallest index (Bland), so it always ends.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lcons_core._errors import TooLarge
from lcons_core._types import Objects

STALLED = 12


class Polytope:
    """{x >= 0 : A x <= b} for integers A (m, n) and b (m,), bounded; at most `pivots` pivots in total."""

    def __init__(self, A: Objects, b: Objects, pivots: int = 10**6) -> None:
        m, n = A.shape
        self.n, self.pivots = n, pivots
        self.q = 1
        # Columns: the variables, the artificial one, the right-hand side. The last row is the function.
        self.D = np.zeros((m + 1, n + 2), dtype=object)
        self.D[:m, :n], self.D[:m, n], self.D[:m, -1] = A, -1, b
        self.columns = list(range(n + 1))
        self.rows = list(range(n + 1, n + 1 + m))
        self.empty = not self._find_vertex()

    def minimum(self, c: Sequence[int]) -> tuple[Fraction, list[Fraction]]:
        """The minimum of c . x and a vertex where it is attained; the polytope must not be empty."""
        self._set_function(c)
        self._optimise()
        return -Fraction(int(self.D[-1, -1]), self.q), self.vertex()

    def vertex(self) -> list[Fraction]:
        """The vertex at which the last search ended."""
        x = [Fraction(0)] * self.n
        for i, variable in enumerate(self.rows):
            if variable < self.n:
                x[variable] = Fraction(int(self.D[i, -1]), self.q)
        return x

    def _find_vertex(self) -> bool:
        artificial = self.n
        m = len(self.rows)
        if m and min(self.D[:m, -1]) < 0:
            self._pivot(int(np.argmin(self.D[:m, -1])), artificial)
            self._set_function([0] * self.n + [1])
            self._optimise()
            if self.D[-1, -1] != 0:
                return False
            if artificial in self.rows:
                row = self.rows.index(artificial)
                entering = np.flatnonzero(self.D[row, :-1] != 0)
                if entering.size:
                    self._pivot(row, int(entering[0]))
        if artificial in self.columns:
            column = self.columns.index(artificial)
            self.D = np.delete(self.D, column, axis=1)
            self.columns.pop(column)
        return True

    def _set_function(self, c: Sequence[int]) -> None:
        """The last row for the minimum of c . x, as the maximum of -c . x."""
        cost = dict(enumerate(c))
        function = np.zeros(self.D.shape[1], dtype=object)
        for j, variable in enumerate(self.columns):
            function[j] = self.q * cost.get(variable, 0)
        for i, variable in enumerate(self.rows):
            if cost.get(variable, 0):
                function -= cost[variable] * self.D[i]
        self.D[-1] = function

    def _optimise(self) -> None:
        still, last = 0, None
        while True:
            function = self.D[-1, :-1]
            falling = np.flatnonzero(function < 0)
            if not falling.size:
                return
            if still < STALLED:
                column = int(falling[np.argmin(function[falling])])
            else:
                column = int(min(falling, key=lambda j: self.columns[j]))
            entries = self.D[:-1, column]
            limits = [
                (Fraction(int(self.D[i, -1]), int(entries[i])), self.rows[i], int(i))
                for i in np.flatnonzero(entries > 0)
            ]
            # A bounded polytope always has such a row.
            self._pivot(min(limits)[2], column)
            value = Fraction(int(self.D[-1, -1]), self.q)
            still, last = (still + 1 if value == last else 0), value

    def _pivot(self, r: int, s: int) -> None:
        self.pivots -= 1
        if self.pivots < 0:
            raise TooLarge("the linear programs need more pivots than allowed.")
        p, row, column = self.D[r, s], self.D[r].copy(), self.D[:, s].copy()
        D = (p * self.D - np.outer(column, row)) // self.q
        D[r], D[:, s], D[r, s] = row, -column, self.q
        if p < 0:
            D, p = -D, -p
        self.D, self.q = D, p
        self.rows[r], self.columns[s] = self.columns[s], self.rows[r]
