"""The best point that a network accepts, in Pyomo."""

import pyomo.environ as pyo

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = pyo.ConcreteModel()
model.x = pyo.Var(range(3), domain=pyo.Binary)
model.gain = pyo.Objective(expr=3 * model.x[0] + 2 * model.x[1] + model.x[2], sense=pyo.maximize)
added = add_to(model, network, model.x)
pyo.SolverFactory("appsi_highs").solve(model)
print(added.psi(), added.check())
