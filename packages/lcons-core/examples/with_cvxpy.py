"""The best point that a network accepts, in cvxpy."""

import cvxpy as cp

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
x = cp.Variable(3, boolean=True)
rows: list[cp.Constraint] = []
added = add_to(rows, network, x)
cp.Problem(cp.Maximize(3 * x[0] + 2 * x[1] + x[2]), rows).solve(solver="HIGHS")
print(added.psi(), added.check())
