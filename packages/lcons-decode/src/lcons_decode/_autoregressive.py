"""Exact draws from an autoregressive model under constraints, by rejection with bounds that are learned.

A language model gives p(l | y_1 .. y_{t-1}) and no sums over what follows, so the conditional distribution

    P(y) = w(y) / Z,   w(y) = prod_t p(y_t | y_1 .. y_{t-1}) * exp(soft penalties)

over the labellings that satisfy the hard constraints cannot be drawn label by label without calling the
model on every prefix. Masking what is forbidden draws from another distribution. Here every prefix s has a
bound u(s) >= Z(s), the weight of all that follows it: 1 at first, 0 where no labelling satisfies the
constraints (`LabelLattice`), and, once the model has been called there,

    v(s) = sum_l w(l | s) u(s l),   the bound that the next ones give

A trial draws y label by label with probability w(l | s) u(s l) / v(s), and accepts it with probability

    prod_{0 < t < T} v(y_1 .. y_t) / u(y_1 .. y_t)   <= 1

The product of both is w(y) / v(empty): whatever the bounds are, an accepted y is a draw of P, exactly (up
to the rounding of float64), independent of the draws before it. After each trial the bounds of its prefixes
are replaced by v, so trials are accepted with probability Z / v(empty), which grows towards 1. This is
rejection sampling: where few labellings of the model satisfy the constraints, many trials may be needed at
first.

Not in the paper. Bounds on prefixes that earlier draws tighten are those of ASAp (Park et al. 2024), which
approaches P; the step that rejects makes every draw exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lcons_core import InvalidInput, LconsError
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainScores, Floats, X
from lcons_decode.chains._label_lattice import LabelLattice, State
from lcons_decode.chains._marginals import log_sum
from lcons_decode.chains._windows import ChainConstraints

Following = Callable[[tuple[str, ...]], Floats]
MOST_PREFIXES = 2**16
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Draw:
    """A labelling, and the number of trials that it took."""

    y: tuple[str, ...]
    trials: int


@dataclass(eq=False)
class _Prefix:
    """The state of the lattice after a prefix; weight (L,) of each next label; those that were called
    before."""

    state: State
    weight: Floats
    bound: float
    after: dict[int, _Prefix] = field(default_factory=dict)

    def options(self) -> Floats:
        """(L,) log w(l | s) u(s l)."""
        bounds = np.zeros(len(self.weight))
        for label, prefix in self.after.items():
            bounds[label] = prefix.bound
        return self.weight + bounds


class AutoregressiveSampler:
    """Draws labellings of `length` tokens from a model under constraints.

    `following(prefix)` returns the log probability (L,) of each next label after labels, by name. They may
    sum to less than one: what is missing goes to outputs that are not labellings. It is called once per
    prefix that a trial reaches, as long as no more than `most` are kept.

    >>> from lcons_core import iob2
    >>> labels = ["B", "I", "O"]
    >>> sampler = AutoregressiveSampler(lambda prefix: np.log([0.2, 0.5, 0.3]), 3, labels, [iob2(labels)])
    >>> sampler.draw(np.random.default_rng(0))
    Draw(y=('O', 'B', 'B'), trials=1)
    """

    def __init__(
        self,
        following: Following,
        length: int,
        labels: Sequence[str],
        constraints: Iterable[Constraint] | ChainConstraints = (),
        x: X = None,
        *,
        most: int = MOST_PREFIXES,
    ) -> None:
        names = tuple(labels)
        self.lattice = LabelLattice.of(
            ChainScores(np.zeros((length, len(names))), labels=names), constraints, x
        )
        if self.lattice.log_partition == -np.inf:
            raise InvalidInput(f"no labelling of {length} tokens satisfies the constraints; relax them.")
        self.following = following
        self.most = most
        self.prefixes = 0
        self._root: _Prefix | None = None

    def draw(self, rng: np.random.Generator, most_trials: int = 10**6) -> Draw:
        """One labelling, drawn from the conditional distribution."""

        def chosen(options: Floats) -> int:
            edges = np.cumsum(np.exp(options - options.max()))
            return int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))

        for trial in range(1, most_trials + 1):
            path, y, _, accepted = self.walk(chosen)
            agreed = rng.random() < np.exp(accepted)
            for prefix in reversed(path):
                prefix.bound = float(log_sum(prefix.options(), axis=0))
            if agreed:
                return Draw(tuple(self.lattice.labels[label] for label in y), trial)
        raise LconsError(
            f"no trial of {most_trials:,} was accepted: nearly all that the model draws breaks a constraint;"
            " allow more trials, or decode the best labelling instead."
        )

    def walk(self, choose: Callable[[Floats], int]) -> tuple[list[_Prefix], list[int], float, float]:
        """(prefixes, labels, log probability of the labels, log probability of accepting them) of one
        trial, with labels that `choose` takes from the log weights (L,) of the options."""
        path: list[_Prefix] = []
        y: list[int] = []
        proposed = accepted = known = 0.0
        if not len(self.lattice):
            return path, y, proposed, accepted
        prefix = self._root = self._root or self._called((), self.lattice.start)
        for t in range(len(self.lattice)):
            options = prefix.options()
            total = float(log_sum(options, axis=0))
            if total == -np.inf:
                raise InvalidInput(
                    "the model gives no labelling that satisfies the constraints any probability."
                )
            path.append(prefix)
            if t:
                accepted += total - known
            label = choose(options)
            y.append(label)
            proposed += float(options[label]) - total
            if t + 1 < len(self.lattice):
                known = prefix.after[label].bound if label in prefix.after else 0.0
                prefix = self._next(prefix, label, y)
        return path, y, proposed, accepted

    def _next(self, prefix: _Prefix, label: int, y: Sequence[int]) -> _Prefix:
        found = prefix.after.get(label)
        if found is None:
            names = tuple(self.lattice.labels[own] for own in y)
            found = self._called(names, self.lattice.step(prefix.state, label))
            if self.prefixes < self.most:
                prefix.after[label] = found
                self.prefixes += 1
                found.bound = 0.0
        return found

    def _called(self, names: tuple[str, ...], state: State) -> _Prefix:
        given = np.asarray(self.following(names), dtype=np.float64)
        if given.shape != (len(self.lattice.labels),) or not np.exp(given).sum() <= 1 + _ROUNDING:
            raise InvalidInput(
                f"expected log probabilities of {len(self.lattice.labels)} labels that sum to at most one"
                f" after {list(names[-3:])}, found {given!r:.80}; pass log-softmax values."
            )
        weight = given + self.lattice.gain(state)
        last = state[0] + 1 == len(self.lattice)
        for label in np.flatnonzero(weight > -np.inf).tolist() if last else ():
            weight[label] += self.lattice.sums[self.lattice.step(state, label)]
        return _Prefix(state, weight, 0.0)
