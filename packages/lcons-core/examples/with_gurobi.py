"""The best point that a network accepts, in gurobipy."""

import gurobipy as gp

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = gp.Model(env=gp.Env(params={"OutputFlag": 0}))
x = model.addMVar(3, vtype="B")
added = add_to(model, network, x)
model.setObjective(3 * x[0] + 2 * x[1] + x[2], gp.GRB.MAXIMIZE)
model.optimize()
print(added.psi(), added.check())
