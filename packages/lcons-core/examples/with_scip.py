"""The best point that a network accepts, in PySCIPOpt."""

import pyscipopt

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = pyscipopt.Model()
model.hideOutput()
x = [model.addVar(vtype="B") for _ in range(3)]
added = add_to(model, network, x)
model.setObjective(3 * x[0] + 2 * x[1] + x[2], "maximize")
model.optimize()
print(added.psi(), added.check())
