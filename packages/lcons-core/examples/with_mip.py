"""The best point that a network accepts, in python-mip."""

import mip

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
model.verbose = 0
x = [model.add_var(var_type="B") for _ in range(3)]
added = add_to(model, network, x)
model.objective = 3 * x[0] + 2 * x[1] + x[2]
model.optimize()
print(added.psi(), added.check())
