"""Counterexample-guided rounds: points that the learned constraints still allow become negatives.

    repeat:  solve every training program under the network
             z is a counterexample  iff  c_i . z < c_i . z_i  for some training program i
             none -> a fixpoint: no training program has a solution that is cheaper than its optimum
             else add them to the negatives, and learn again

z_i is a proven optimum and costs are integers, so a point that is strictly cheaper for *any* training program
is infeasible: every negative is correct, whichever program it was found for. The same test certifies many
points without a solver: on the way from a counterexample to the optimum of its program, bits are flipped one
by one in a seeded order, and each point that is still certified becomes a negative, too, nearer to the
boundary.

The chosen network is that of the round with the fewest unsolved training programs (the first in a tie). Test
programs are not used.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcons_core import Recipe, RectifierNetwork
from lcons_core._types import Floats
from lcons_tasks.experiments.synthetic._corpus import Programs
from lcons_tasks.experiments.synthetic._model import (
    FIXED,
    Examples,
    Learned,
    flip_examples,
    learn,
    predict,
)


@dataclass(frozen=True)
class RoundSettings:
    """`rounds`: the largest number of networks; `walks`: the ways back to the optimum per counterexample."""

    rounds: int = 12
    walks: int = 1
    learning: Recipe = FIXED

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Round:
    """The counts of one round: negatives in training, training programs that are not solved to their optimal
    cost, infeasible programs, counterexamples, and added negatives."""

    negatives: int
    unsolved: int
    infeasible: int
    counterexamples: int
    added: int


@dataclass(frozen=True, eq=False)
class Rounds:
    """The chosen network, its round, all rounds, the last negatives, and whether a fixpoint was reached."""

    network: RectifierNetwork
    chosen: int
    history: tuple[Round, ...]
    examples: Examples
    fixpoint: bool


def certified(points: Floats, programs: Programs) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(N,) whether a point is strictly cheaper than the proven optimum of some program."""
    return np.asarray((points @ programs.costs.T < programs.values).any(1))


def run_rounds(
    programs: Programs,
    K: int,
    settings: RoundSettings | None = None,
    seed: int = 0,
    first: Learned | None = None,
) -> Rounds:
    """Rounds up to a fixpoint or the budget; the first network is learned from the flips, or given as
    `first`."""
    settings = settings or RoundSettings()
    examples = flip_examples(programs)
    history: list[Round] = []
    best: tuple[int, int, RectifierNetwork] | None = None
    for number in range(settings.rounds):
        learned = first if first is not None and not number else None
        network = (learned or learn(examples, K, settings.learning, seed + number)).network
        found = predict(network, programs.costs)
        missed = (programs.costs * found.points).sum(1) != programs.values
        wrong = np.flatnonzero(certified(found.points, programs))
        if best is None or int(missed.sum()) < best[0]:
            best = (int(missed.sum()), number, network)
        more = counterexamples(found.points[wrong], wrong, programs, settings.walks, seed + number)
        larger = examples.joined(more)
        added = len(larger.negatives) - len(examples.negatives)
        history.append(
            Round(
                len(examples.negatives),
                int(missed.sum()),
                len(found.infeasible),
                len(wrong),
                added,
            )
        )
        if not added:
            break
        examples = larger
    assert best is not None
    return Rounds(best[2], best[1], tuple(history), examples, not history[-1].counterexamples)


def counterexamples(
    points: Floats, owners: Sequence[int] | Any, programs: Programs, walks: int, seed: int
) -> Floats:
    """The points, and the certified points on ways from each to the optimum of its program."""
    random = np.random.default_rng(seed)
    found = [points]
    for point, owner in zip(points, owners, strict=True):
        differs = np.flatnonzero(point != programs.optima[owner])
        for _ in range(walks):
            way = np.repeat(point[None], len(differs), axis=0)
            for step, j in enumerate(random.permutation(differs).tolist()):
                way[step:, j] = programs.optima[owner, j]
            found.append(way[certified(way, programs)])
    return np.concatenate(found) if len(points) else points
