"""`OneClass`: a rectifier network from valid psi alone; invalid psi are generated, as fits the data best.

A generator draws psi that are probably invalid, from valid ones:

| generator | draws |
|---|---|
| `uniform` | every axis uniformly over its values |
| `unseen` | all points of the domain that are no positives; where the domain is small |
| `marginals` | every axis from a positive of its own: the product of the marginals |
| `change` | a positive with one axis changed |
| `changes` | a positive with any number of axes changed |

An axis is a column, or a block of one-hot columns if a space is given. None of them is best for all data: if
valid points are spread over the domain, a single change mostly gives another valid point, and if they are
rare, uniform points are too easy. So each generator trains networks on folds of the positives. With P the
distribution of positives and Q_j that of a reference generator j, the one with the smallest

    P(rejected) + mean over j of Q_j(accepted)

is chosen, where the threshold of each network is first lowered until it rejects at most alpha of the fold
that it has not seen. No invalid examples are needed: if a share v of Q_j is valid, and these points are
rejected as often as positives, then

    P(rejected) + Q_j(accepted) = v + (1 - v) (P(rejected) + Q_j(accepted | invalid))

so the sum orders networks as their errors on valid and on invalid points do. It also chooses K: a network
that is too large for the positives accepts little more than them, and so everything, once its threshold is
low enough for others. The chosen generator and K then train on all folds, and other positives, which nothing
has seen, calibrate the network (`thresholds.py`): valid psi are rejected at most alpha of the time.

Not in the paper: all of this.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_contrib.calibrate.thresholds import Calibration, calibrate, needed
from lcons_core import ConstraintLearner, FeatureSpace, InvalidInput, NotFitted, RectifierNetwork, SparsePsi
from lcons_core._types import Floats
from lcons_core.learn._estimator import checked_psi, hidden_values, whole
from lcons_core.learn._evidence import fold_bounds

AUTO = "auto"
# A larger domain is not enumerated.
MOST_POINTS = 2**14
# Integer columns with a wider range count as real ones.
WIDEST = 255
# Real columns extend beyond what was seen by this share of their range, on both sides.
BEYOND = 0.25
FOLDS = 3
REFERENCE = 2000
LEAST_NEGATIVES = 1000


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of every axis: `low` to `high`, whole numbers or reals; `space` if axes are blocks."""

    low: Floats
    high: Floats
    whole: NDArray[np.bool_]
    space: FeatureSpace | None = None

    @classmethod
    def of(cls, psi: Floats, space: FeatureSpace | None) -> Domain:
        """The domain of a space, or the box that contains psi."""
        if space is not None:
            space.check(psi)
            sizes = np.array([len(axis) for axis in space.axes], dtype=np.float64)
            return cls(np.zeros(len(sizes)), sizes - 1, np.ones(len(sizes), dtype=np.bool_), space)
        low, high = psi.min(0), psi.max(0)
        integral = (psi == np.rint(psi)).all(0) & (high - low <= WIDEST)
        bits = integral & (low >= 0) & (high <= 1)
        margin = BEYOND * (high - low)
        low = np.where(bits, 0.0, np.where(integral, low, low - margin))
        high = np.where(bits, 1.0, np.where(integral, high, high + margin))
        return cls(low, high, integral)

    @property
    def points(self) -> float:
        """The number of points; infinite if an axis is real."""
        return float(np.prod(self.high - self.low + 1)) if self.whole.all() else math.inf

    def coordinates(self, psi: Floats) -> Floats:
        """(N, axes) of psi (N, d)."""
        return psi if self.space is None else self.space.assignments(psi).astype(np.float64)

    def psi(self, coordinates: Floats) -> Floats:
        """psi (N, d) of the coordinates (N, axes) that are possible."""
        if self.space is None:
            return coordinates
        assignments = coordinates.astype(np.int64)
        return self.space.vectors(assignments[self.space.possible(assignments)])

    def draw(self, rng: np.random.Generator, number: int) -> Floats:
        """(number, axes) uniform coordinates."""
        drawn = self.low + rng.random((number, len(self.low))) * (self.high - self.low + self.whole)
        return np.where(self.whole, np.minimum(np.floor(drawn), self.high), drawn)

    def every(self) -> Floats:
        """(points, axes) all coordinates."""
        shape = tuple((self.high - self.low + 1).astype(int).tolist())
        flat = np.arange(int(self.points))
        return np.stack(np.unravel_index(flat, shape), axis=1) + self.low


Generator = Callable[[Domain, Floats, np.random.Generator, int], Floats]


def _uniform(domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    return domain.draw(rng, number)


def _unseen(domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    # Positives among them are dropped, as from every generator.
    return domain.every()


def _marginals(domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    rows = rng.integers(0, len(positives), (number, positives.shape[1]))
    return np.take_along_axis(positives, rows, axis=0)


def _change(domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    return _changed(domain, positives, rng, number, np.ones(number, dtype=np.int64))


def _changes(domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    return _changed(domain, positives, rng, number, rng.integers(1, positives.shape[1] + 1, number))


def _changed(
    domain: Domain, positives: Floats, rng: np.random.Generator, number: int, many: NDArray[np.int64]
) -> Floats:
    """Positives of which `many` axes are changed, each to another value."""
    old = positives[rng.integers(0, len(positives), number)]
    order = rng.random(old.shape).argsort(1)
    new = domain.draw(rng, number)
    sizes = domain.high - domain.low + 1
    # A whole number moves on by 1 to size - 1 places, cyclically.
    steps = 1 + np.floor(rng.random(old.shape) * np.maximum(sizes - 1, 1))
    moved = domain.low + (old - domain.low + steps) % sizes
    new = np.where(domain.whole, moved, new)
    return np.where(order < many[:, None], new, old)


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        "uniform": _uniform,
        "unseen": _unseen,
        "marginals": _marginals,
        "change": _change,
        "changes": _changes,
    }
)
# What accepted shares are measured on.
REFERENCES = ("uniform", "marginals", "change")


class OneClass:
    """Learns which psi are valid from valid ones only.

    alpha: the share of valid psi that may be rejected. A fifth of the positives calibrates the network, at
        least 1 / alpha - 1 of them.
    negatives: the names of generators to choose from, or "auto": all that the domain allows.
    space: the names of the columns; then blocks of one-hot columns change together.
    learner: a `ConstraintLearner` with the settings of training; of several `hidden`, one is chosen together
        with the generator. Default: K = 1, 3 or 10, and 8 restarts.
    seed: the only source of randomness, of the draws and of the learner.

    After `fit`: `network_` (calibrated, exact), `calibration_` (its guarantee), `negatives_` and `hidden_`
    (the chosen generator and K), `results_` (for each that was tried: the rejected share of held-out
    positives, the accepted share of each reference, and the sum, the smallest of which is chosen), and
    `n_features_in_`.

    >>> rng = np.random.default_rng(0)
    >>> bits = rng.integers(0, 2, (1500, 6))
    >>> model = OneClass(0.1, learner=ConstraintLearner(1, restarts=2))
    >>> model = model.fit(bits[bits.sum(1) <= 2])                       # at most two of six
    >>> model.predict([[1, 0, 0, 0, 1, 0], [1, 1, 0, 1, 1, 0]]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        negatives: str | Sequence[str] = AUTO,
        space: FeatureSpace | None = None,
        learner: ConstraintLearner | None = None,
        seed: int = 0,
    ) -> None:
        self.alpha = alpha
        self.negatives = negatives
        self.space = space
        self.learner = learner
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> OneClass:
        """Learns `network_` from valid psi X (N, d); y is ignored."""
        psi = checked_psi(X).dense()
        seed = whole("seed", self.seed, 0)
        train, calibrator = _split(psi, self.alpha, np.random.default_rng(seed))
        domain = Domain.of(psi, self.space)
        learner = ConstraintLearner((1, 3, 10), restarts=8) if self.learner is None else self.learner
        tried = [
            (name, K) for K in hidden_values(learner.hidden, psi.shape[1]) for name in self._names(domain)
        ]
        results: list[dict[str, Any]] = []
        if len(tried) > 1:
            for name, K in tried:
                judged = _judge(name, domain, train, _with(learner, K, seed), self.alpha)
                results.append({"negatives": name, "hidden": K, **judged})
        best = min(range(len(tried)), key=lambda i: results[i]["sum"]) if results else 0
        chosen, K = tried[best]
        network = _train(chosen, domain, train, _with(learner, K, seed))
        self.network_: RectifierNetwork
        self.calibration_: Calibration
        self.network_, self.calibration_ = calibrate(network, calibrator, self.alpha)
        self.negatives_: str = chosen
        self.hidden_: int = K
        self.results_: list[dict[str, Any]] = results
        self.n_features_in_: int = psi.shape[1]
        return self

    def decision_function(self, X: Any) -> Floats:
        """(N,) margins: at least 0 means valid."""
        margin: Floats = self._network().margin(checked_psi(X))
        return margin

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(N,) 1 for valid, -1 for invalid, decided exactly."""
        return np.where(self._network().accepts(checked_psi(X)), 1, -1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in list(inspect.signature(type(self)).parameters)}

    def set_params(self, **params: Any) -> OneClass:
        """Changes settings by name."""
        unknown = sorted(set(params) - set(self.get_params()))
        if unknown:
            raise InvalidInput(
                f"unknown setting {unknown[0]!r}; the settings are {', '.join(self.get_params())}."
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _network(self) -> RectifierNetwork:
        if not hasattr(self, "network_"):
            raise NotFitted("this OneClass is not fitted yet; call fit(X) first.")
        return self.network_

    def _names(self, domain: Domain) -> list[str]:
        """The generators to choose from."""
        small = domain.points <= MOST_POINTS
        if isinstance(self.negatives, str) and self.negatives == AUTO:
            return [name for name in GENERATORS if small or name != "unseen"]
        names = [self.negatives] if isinstance(self.negatives, str) else list(self.negatives)
        for name in names:
            if name not in GENERATORS:
                raise InvalidInput(
                    f"unknown negatives {name!r}; use {AUTO!r} or some of {', '.join(GENERATORS)}."
                )
        if "unseen" in names and not small:
            raise InvalidInput(
                f"negatives by 'unseen' need a domain of at most {MOST_POINTS:,} points, found"
                f" {domain.points:.3g}; use 'uniform'."
            )
        if not names:
            raise InvalidInput("expected the names of generators, found none; pass at least one.")
        return names


def _with(learner: ConstraintLearner, K: int, seed: int) -> ConstraintLearner:
    return ConstraintLearner(**{**learner.get_params(), "hidden": K, "seed": seed})


def _train(name: str, domain: Domain, positives: Floats, learner: ConstraintLearner) -> RectifierNetwork:
    """The network that is trained on positives and the generated negatives that are none of them."""
    rng, number = np.random.default_rng([learner.seed, 1]), max(LEAST_NEGATIVES, 2 * len(positives))
    drawn = _draw(name, domain, domain.coordinates(positives), rng, number)
    known = set(SparsePsi.from_dense(positives).row_keys())
    fresh = np.array([key not in known for key in SparsePsi.from_dense(drawn).row_keys()], dtype=np.bool_)
    if not fresh.any():
        # Everything that can be drawn is valid.
        return RectifierNetwork(np.zeros((1, positives.shape[1])), [0.0])
    psi = np.concatenate([positives, drawn[fresh]])
    with warnings.catch_warnings():
        # Some of what is generated is valid, so a warning that the fit is poor means nothing here.
        warnings.simplefilter("ignore", UserWarning)
        return learner.fit(psi, np.arange(len(psi)) < len(positives)).network_


def _draw(name: str, domain: Domain, positives: Floats, rng: np.random.Generator, number: int) -> Floats:
    return domain.psi(GENERATORS[name](domain, positives, rng, number))


def _judge(
    name: str, domain: Domain, positives: Floats, learner: ConstraintLearner, alpha: float
) -> dict[str, float]:
    """The rejected share of held-out folds, at most about alpha, the accepted shares of references, and the
    sum that is to be smallest."""
    shares: dict[str, list[float]] = {"rejected": []}
    if isinstance(learner.restarts, int):
        # These networks are only compared.
        learner.restarts = max(1, learner.restarts // 2)
    for fold, (first, stop) in enumerate(fold_bounds(len(positives), FOLDS)):
        held_out, rest = positives[first:stop], np.delete(positives, slice(first, stop), axis=0)
        network = _train(name, domain, rest, learner)
        if len(held_out) >= needed(alpha):
            network, _ = calibrate(network, held_out, alpha)
        shares["rejected"].append(1 - float(network.accepts(held_out).mean()))
        # The same references for all generators, other draws than those of training.
        rng = np.random.default_rng([learner.seed, 2, fold])
        for reference in REFERENCES:
            psi = _draw(reference, domain, domain.coordinates(rest), rng, REFERENCE)
            if len(psi):
                shares.setdefault(reference, []).append(float(network.accepts(psi).mean()))
    means = {key: float(np.mean(values)) for key, values in shares.items()}
    accepted = [value for key, value in means.items() if key != "rejected"]
    return {**means, "sum": means["rejected"] + float(np.mean(accepted))}


def _split(psi: Floats, alpha: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(training, calibrating): a fifth calibrates, or as many as alpha needs."""
    least = needed(alpha)
    if 2 * least > len(psi):
        raise InvalidInput(
            f"`alpha={alpha:g}` needs at least {2 * least:,} valid examples, found {len(psi):,}; pass more of"
            " them, or raise the argument `alpha`."
        )
    order = rng.permutation(len(psi))
    number = max(len(psi) // 5, least)
    return psi[order[number:]], psi[order[:number]]
