"""The best point that a network accepts, in OR-Tools MathOpt."""

from ortools.math_opt.python import mathopt

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = mathopt.Model()
x = [model.add_binary_variable(name=f"x{j}") for j in range(3)]
added = add_to(model, network, x)
model.maximize(3 * x[0] + 2 * x[1] + x[2])
result = mathopt.solve(model, mathopt.SolverType.HIGHS)
print(added.psi(result), added.check(result))
