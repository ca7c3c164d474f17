"""The structured SVM, trained by block-coordinate Frank-Wolfe.

    P(w)   = lambda / 2 |w|^2 + 1/n sum_i H_i(w)
    H_i(w) = max_y Delta(y_i, y) - w . (phi(x_i, y_i) - phi(x_i, y))

with lambda = 1 / (C n). Each step finds the worst labelling of one example (loss-augmented inference) and
moves that example's share of w towards it by the step that is best for the dual D, so there is no learning
rate. For any weights and shares, the duality gap P - D bounds the distance of the objective from its optimum.
Training stops when the gap of the averaged weights is below a tolerance.

Why not cutting planes: they solve one quadratic program per round and need a solver. Frank-Wolfe needs only
the inference, and computes the gap at no extra cost.

Without regularisation (C = None, Appendix D of the paper) P is the mean H_i alone. Its optimum is at least
0, so P itself bounds the distance from the optimum. A step changes w by just as much as separates the
example. If no weights separate the examples, this does not find the least P, and all passes are run.

Paper: Sec. 5 (Tsochantaridis et al. 2004). The algorithm: Lacoste-Julien et al. 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lcons_core import InvalidInput
from lcons_decode.kernels._arrays import Floats, Ints

# Computing the gap costs one pass over the examples, so it is computed only once per this many passes.
EVERY = 10


class Problem(Protocol):
    """Examples with their labellings, and `dimension` weights."""

    size: int
    dimension: int

    def support(self, i: int) -> Ints:
        """The weights that example i reads."""

    def worst(self, i: int, w: Floats) -> tuple[Floats, float]:
        """phi of the gold labelling minus phi of the worst one, over the support of example i, and the loss
        of the worst one."""


@dataclass(frozen=True)
class SvmSettings:
    """How to train.

    C: weighs the examples against the size of w; None: no regularisation.
    tolerance, passes: training stops when the gap is below `tolerance`, or after `passes`.
    """

    C: float | None = 1.0
    tolerance: float = 0.01
    passes: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        regular = self.C is None or 0 < self.C < np.inf
        if not (regular and self.passes >= 1 and self.tolerance >= 0):
            raise InvalidInput(f"`C` and `passes` must be above 0, and `tolerance` at least 0: got {self}.")


@dataclass(frozen=True)
class Checked:
    """The objective after some passes, and a bound on how far it is from its optimum."""

    passes: int
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class TrainedSvm:
    """The weights, and the gap after each round of passes."""

    weights: Floats
    history: tuple[Checked, ...]

    @property
    def gap(self) -> float:
        """The duality gap at the end."""
        return self.history[-1].gap


def train_svm(problem: Problem, settings: SvmSettings | None = None) -> TrainedSvm:
    """Weights that separate the examples' labellings from all others, by a margin as large as the loss: the
    average of w over the steps."""
    settings = settings or SvmSettings()
    if not problem.size:
        raise InvalidInput("training needs at least one example: got none; pass some.")
    state: Any = _Mending(problem) if settings.C is None else _FrankWolfe(problem, settings.C)
    rng = np.random.default_rng(settings.seed)
    history: list[Checked] = []
    for done in range(1, settings.passes + 1):
        for i in rng.permutation(problem.size).tolist():
            state.step(i)
        if done % EVERY == 0 or done == settings.passes:
            weights = state.average
            history.append(Checked(done, *state.certify(weights)))
            if history[-1].gap <= settings.tolerance:
                break
    return TrainedSvm(weights.copy(), tuple(history))


class _Weights:
    """w, and the average of w over steps with weight t at step t.

    A change at step t is in every later w, so sum_t t w_t = S_K w_K - sum_t S_{t-1} change_t with S_t = t (t
    + 1) / 2: the average costs no more than the changes.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.w = np.zeros(problem.dimension)
        self.late = np.zeros(problem.dimension)
        self.steps = 0

    def change(self, where: Ints, by: Floats) -> None:
        """Adds `by` to the weights `where`, as one step."""
        self.w[where] += by
        self.late[where] += by * (self.steps * (self.steps + 1) / 2)
        self.steps += 1

    @property
    def average(self) -> Floats:
        """The average of w so far."""
        return self.w - self.late / max(self.steps * (self.steps + 1) / 2, 1.0)

    def hinges(self, weights: Floats) -> float:
        """The mean of H_i at some weights."""
        total = 0.0
        for i in range(self.problem.size):
            difference, loss = self.problem.worst(i, weights)
            total += max(0.0, loss - float(weights[self.problem.support(i)] @ difference))
        return total / self.problem.size


class _FrankWolfe(_Weights):
    """Each example's share of w over its own support, its share of the loss, and their averages."""

    def __init__(self, problem: Problem, C: float) -> None:
        super().__init__(problem)
        self.penalty = 1 / (C * problem.size)
        self.shares = [np.zeros(len(problem.support(i))) for i in range(problem.size)]
        self.losses = np.zeros(problem.size)
        self.late_loss = 0.0

    def step(self, i: int) -> None:
        """Moves the share of example i towards its worst labelling, as far as is best for the dual."""
        difference, lost = self.problem.worst(i, self.w)
        target, loss = difference / (self.penalty * self.problem.size), lost / self.problem.size
        away = self.shares[i] - target
        size = self.penalty * float(away @ away)
        weights_read = self.w[self.problem.support(i)]
        gain = self.penalty * float(away @ weights_read) - float(self.losses[i]) + loss
        # A labelling may have the same features and a larger loss: then the share moves all the way to it.
        best = float(np.clip(gain / size, 0.0, 1.0)) if size > 0 else float(gain > 0)
        change, lost = best * (target - self.shares[i]), best * (loss - float(self.losses[i]))
        self.shares[i] += change
        self.losses[i] += lost
        self.late_loss += lost * (self.steps * (self.steps + 1) / 2)
        self.change(self.problem.support(i), change)

    def certify(self, weights: Floats) -> tuple[float, float]:
        """The objective at `weights`, and its distance from the dual."""
        loss = float(self.losses.sum()) - self.late_loss / (self.steps * (self.steps + 1) / 2)
        # Not `weights @ weights`, whose rounding depends on the number of BLAS's threads.
        half = self.penalty / 2 * float(np.square(weights).sum())
        objective = half + self.hinges(weights)
        return objective, objective - (loss - half)


class _Mending(_Weights):
    """No regularisation: each example that is not separated changes w by just as much as separates it."""

    def step(self, i: int) -> None:
        """Changes w so that example i is separated."""
        difference, loss = self.problem.worst(i, self.w)
        where = self.problem.support(i)
        missing, size = loss - float(self.w[where] @ difference), float(difference @ difference)
        if missing > 0 and size > 0:
            self.change(where, missing / size * difference)
        else:
            self.steps += 1

    def certify(self, weights: Floats) -> tuple[float, float]:
        """The mean of H_i, which also bounds its distance from the optimum."""
        objective = self.hinges(weights)
        return objective, objective
