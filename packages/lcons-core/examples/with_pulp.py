"""The best point that a network accepts, in PuLP."""

import pulp

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = pulp.LpProblem("example", pulp.LpMaximize)
x = [model.add_variable(f"x{j}", cat="Binary") for j in range(3)]
model += 3 * x[0] + 2 * x[1] + x[2]
added = add_to(model, network, x)
model.solve(pulp.HiGHS(msg=False))
print(added.psi(), added.check())
