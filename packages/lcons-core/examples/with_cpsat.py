"""The best point that a network accepts, in OR-Tools CP-SAT."""

from ortools.sat.python import cp_model

from lcons_core import RectifierNetwork, add_to

network = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
model = cp_model.CpModel()
x = [model.new_bool_var(f"x{j}") for j in range(3)]
added = add_to(model, network, x)
model.maximize(3 * x[0] + 2 * x[1] + x[2])
solver = cp_model.CpSolver()
solver.solve(model)
print(added.psi(solver), added.check(solver))
