"""Is the generator of negatives that `OneClass` chooses as good as the best one? Synthetic sets, known truth.

Each set has a rule that tells valid from invalid points and a distribution of valid points: half of all bits
(a random knapsack), few bits set, exactly three of twelve, chains of implications, pairs of one-hot values,
counts with a shared limit, a polytope and a ball in real columns. From 300 valid points, `OneClass` learns
with each generator alone and with its own choice. The error on new points is

    rejected share of valid points + mean of the accepted shares of two kinds of invalid points,

those of the uniform distribution and those one change away from a valid point. No invalid point is seen in
training or choice.

Reported: the error of each generator and of the choice, in percent, mean over seeds (and the three shares).
The script fails if the choice, in the mean over all sets, is worse than the best single generator in
hindsight, or if on some set it is more than 2 points, beyond two standard errors, above the best generator
of this set.

Run: .venv/bin/python tools/bench/one_class.py [--seeds 3] [--first 0] [--sets knapsack,...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lcons_core import ConstraintLearner, FeatureSpace, one_hot
from lcons_core.learn import GENERATORS, OneClass
from lcons_core.learn._one_class import Domain

POSITIVES, TESTED = 300, 4000
WORSE = 2.0


@dataclass(frozen=True)
class Problem:
    """`draw` gives points of the distribution of valid ones, once those that are not `valid` are dropped."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    valid: Callable[[np.ndarray], np.ndarray]
    space: FeatureSpace | None = field(default=None)

    def positives(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """`number` valid points."""
        found: list[np.ndarray] = []
        while sum(map(len, found)) < number:
            drawn = self.draw(rng, 20_000)
            found.append(drawn[self.valid(drawn)])
        return np.concatenate(found)[:number]


def bits(d: int, share: float = 0.5) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: (rng.random((n, d)) < share) * 1.0


def _pairs() -> Problem:
    sizes, rng = (5, 4, 3), np.random.default_rng(7)
    names = ("a", "b", "c")
    space = FeatureSpace(
        [one_hot(x, [f"{x}{i}" for i in range(n)]) for x, n in zip(names, sizes, strict=True)]
    )
    forbidden = [rng.random((sizes[i], sizes[j])) < 0.3 for i, j in ((0, 1), (1, 2))]

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return space.vectors(np.stack([rng.integers(0, size, n) for size in sizes], axis=1))

    def valid(psi: np.ndarray) -> np.ndarray:
        a, b, c = (psi[:, s].argmax(1) for s in (slice(0, 5), slice(5, 9), slice(9, 12)))
        return ~(forbidden[0][a, b] | forbidden[1][b, c])

    return Problem(draw, valid, space)


WEIGHTS = np.random.default_rng(5).integers(1, 10, (2, 16))
PROBLEMS = {
    "knapsack": Problem(bits(16), lambda x: x @ WEIGHTS[0] <= WEIGHTS[0].sum() / 2),
    "two knapsacks": Problem(bits(16), lambda x: ((x @ WEIGHTS.T) <= 0.42 * WEIGHTS.sum(1)).all(1)),
    "few bits": Problem(bits(16, 0.15), lambda x: x.sum(1) <= 3),
    "exactly 3 of 12": Problem(bits(12), lambda x: x.sum(1) == 3),
    "chain": Problem(bits(12), lambda x: (x[:, :-1] <= x[:, 1:]).sum(1) >= 10),
    "many columns": Problem(bits(40, 0.3), lambda x: (x[:, :20].sum(1) <= 6) & (x[:, 20:].sum(1) >= 5)),
    "pairs": _pairs(),
    "counts": Problem(
        lambda rng, n: rng.integers(0, 9, (n, 5)) * 1.0, lambda x: (x.sum(1) <= 18) & (x[:, 0] <= x[:, 1])
    ),
    "polytope": Problem(
        lambda rng, n: rng.random((n, 4)) * 10, lambda x: (x.sum(1) <= 18) & (x[:, 0] <= x[:, 1] + 1)
    ),
    "ball": Problem(lambda rng, n: rng.normal(size=(n, 4)), lambda x: (x**2).sum(1) <= 3),
}


def errors(model: OneClass, problem: Problem, domain: Domain, rng: np.random.Generator) -> tuple[float, ...]:
    """(rejected valid, accepted uniform invalid, accepted invalid one change away), in percent."""
    valid = problem.positives(rng, TESTED)
    coordinates = domain.coordinates(valid)
    shares = [100 * float((model.predict(valid) < 0).mean())]
    for name in ("uniform", "change"):
        psi = domain.psi(GENERATORS[name](domain, coordinates, rng, 10 * TESTED))
        invalid = psi[~problem.valid(psi)][:TESTED]
        shares.append(100 * float((model.predict(invalid) > 0).mean()))
    return tuple(shares)


def measure(name: str, seeds: range, verbose: bool) -> dict[str, np.ndarray]:
    """(seeds,) errors of the choice and of each generator."""
    problem, chosen = PROBLEMS[name], []
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in seeds:
        rng = np.random.default_rng([seed, 99])
        positives = problem.positives(rng, POSITIVES)
        domain = Domain.of(problem.positives(rng, TESTED), problem.space)
        auto = OneClass(seed=seed, space=problem.space).fit(positives)
        chosen.append(f"{auto.negatives_} {auto.hidden_}")
        models = {"chosen": auto}
        for generator in dict.fromkeys(row["negatives"] for row in auto.results_):
            # The K that it would choose with this generator alone.
            own = [row for row in auto.results_ if row["negatives"] == generator]
            learner = ConstraintLearner(min(own, key=lambda row: row["sum"])["hidden"], restarts=8)
            model = OneClass(seed=seed, space=problem.space, negatives=generator, learner=learner)
            models[generator] = auto if generator == auto.negatives_ else model.fit(positives)
        for label, model in models.items():
            found.setdefault(label, []).append(errors(model, problem, domain, np.random.default_rng(seed)))
        for row in auto.results_ if verbose else ():
            print(
                "   ", *(value if key == "negatives" else f"{key} {value:.3g}" for key, value in row.items())
            )
    totals = {label: np.array([r + (u + c) / 2 for r, u, c in rows]) for label, rows in found.items()}
    said = ", ".join(
        f"{label} {totals[label].mean():.1f} ({'/'.join(f'{x:.0f}' for x in np.mean(rows, axis=0))})"
        for label, rows in found.items()
    )
    print(f"{name:16} {said}; chosen: {', '.join(chosen)}", flush=True)
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sets", default=",".join(PROBLEMS))
    parser.add_argument("-v", "--verbose", action="store_true", help="print what each choice rests on")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    found = {name: measure(name, seeds, options.verbose) for name in options.sets.split(",")}
    labels = [label for label in ("chosen", *GENERATORS) if all(label in own for own in found.values())]
    means = {label: float(np.mean([own[label].mean() for own in found.values()])) for label in labels}
    print("mean over sets: " + ", ".join(f"{label} {value:.2f}" for label, value in means.items()))
    worse = []
    for name, own in found.items():
        best = min((label for label in own if label != "chosen"), key=lambda label: own[label].mean())
        difference = own["chosen"] - own[best]
        error = difference.std(ddof=1) / np.sqrt(len(seeds)) if len(seeds) > 1 else 0.0
        print(f"{name:16} above the best generator ({best}): {difference.mean():.1f} +- {error:.1f}")
        worse += [name] * bool(difference.mean() - 2 * error > WORSE)
    single = min(value for label, value in means.items() if label != "chosen")
    failed = means["chosen"] > single or bool(worse)
    print("failed" if failed else "as expected")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
