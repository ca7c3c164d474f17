"""The best point that a network accepts, in highspy."""

import highspy

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = highspy.Highs()
model.silent()
x = [model.addBinary() for _ in range(3)]
added = add_to(model, network, x)
model.maximize(3 * x[0] + 2 * x[1] + x[2])
print(added.psi(), added.check())
