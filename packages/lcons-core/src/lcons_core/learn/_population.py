"""A population of rectifier networks, trained together as one tensor in torch.

M members of at most K units share theta (d + 1, M * K): column m * K + k has the weights of unit k of member
m, and its bias in the last row. For a batch of B examples,

    activations = [psi, 1] @ theta          (B, M * K)
    gradient    = [psi, 1]^T @ G            (d + 1, M * K),   G = dloss / dactivations

Dense psi uses a matrix product. Sparse psi adds the rows of theta at its nonzero columns, and its transpose
adds rows of G. Each such sum (a bag of rows) has a fixed order, so results have the same bits every time.
With 6 ones in 200 columns this is 10 to 20 times as fast as the dense product. A batch keeps its rows during
all of training; only the order of the batches is random.

For an example of weight v as valid and u as invalid, with z = tau * margin,

    loss = v softplus(-z) + u softplus(z) = (v + u) softplus(z) - v z
    dloss / da_k = tau (v - (v + u) sigmoid(z)) [a_k > 0]

and with a penalty the loss also has the term penalty / 2 * |W|^2; then Adam makes a step. If a member has
fewer than K units, the missing units are columns of zeros: their activation and gradient are 0, so they
stay 0.

If a share `noise` of the labels is assumed wrong, a psi is labelled valid with probability q instead of
p = sigmoid(z), and one example cannot cost more than -log(noise):

    q = noise + (1 - 2 noise) p,   loss = -v log q - u log(1 - q)
    dloss / da_k = tau (1 - 2 noise) p (1 - p) (v / q - u / (1 - q)) [a_k > 0]

Paper: Sec. 3; Tables 6, 8, 12 and 13: Adam, betas (0.9, 0.999), epsilon 1e-7.

Not in the paper: tau, class weights, penalty, noise and members trained together. Units that are
inactive on every invalid example have no gradient that could activate them; they start again while invalid
examples are accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from lcons_core._psi import SparsePsi
from lcons_core._types import Floats, Ints
from lcons_core.learn._examples import INVALID, VALID

# A matrix product is faster above this share of nonzero entries, and for small matrices.
DENSE_SHARE = 0.25
SMALL_ENTRIES = 2**14
MOST_DENSE_ENTRIES = 2**26

# Sums of rows of a table: bag i is the sum of weights[p] * table[indices[p]], from p = offsets[i] on.
Bags = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of [psi, 1], as one matrix or as bags, and their weights as valid and as invalid examples,
    (B, folds): each column sums to 1 over all batches and both labels."""

    psi: SparsePsi
    valid: torch.Tensor
    invalid: torch.Tensor
    dense: bool

    def activations(self, theta: torch.Tensor) -> torch.Tensor:
        """(B, U)."""
        return torch.mm(self._matrix, theta) if self.dense else _add_up(theta, self._by_row)

    def gradient(self, signal: torch.Tensor) -> torch.Tensor:
        """(d + 1, U)."""
        return torch.mm(self._matrix.t(), signal) if self.dense else _add_up(signal, self._by_column)

    @cached_property
    def _matrix(self) -> torch.Tensor:
        matrix = np.ones((len(self.psi), self.psi.d + 1), dtype=np.float32)
        matrix[:, :-1] = self.psi.dense()
        return torch.from_numpy(matrix)

    @cached_property
    def _by_row(self) -> Bags:
        row, column, value = self._entries
        return _bags(row, column, value, len(self.psi))

    @cached_property
    def _by_column(self) -> Bags:
        row, column, value = self._entries
        return _bags(column, row, value, self.psi.d + 1)

    @property
    def _entries(self) -> tuple[Ints, Ints, Floats]:
        """Row, column and value of every entry of [psi, 1]."""
        number = len(self.psi)
        return (
            np.concatenate((self.psi.row_of, np.arange(number))),
            np.concatenate((self.psi.indices, np.full(number, self.psi.d))),
            np.concatenate((self.psi.values, np.ones(number))),
        )


def make_batches(
    psi: SparsePsi, weight: Floats, size: int, draw: np.random.Generator | None = None
) -> list[Batch]:
    """psi with weights (N, 2, folds) in batches of about `size` rows: random rows if there is a generator,
    otherwise in order."""
    number = max(1, round(len(psi) / size))
    order = np.arange(len(psi))
    if draw is not None and number > 1:
        order = draw.permutation(len(psi))
    entries = len(psi) * (psi.d + 1)
    dense = entries <= SMALL_ENTRIES or (
        psi.indices.size >= DENSE_SHARE * entries and entries <= MOST_DENSE_ENTRIES
    )
    parts = [np.sort(part) for part in np.array_split(order, number)]
    invalid, valid = (np.ascontiguousarray(weight[:, label], dtype=np.float32) for label in (INVALID, VALID))
    return [
        Batch(psi.take(rows), torch.from_numpy(valid[rows]), torch.from_numpy(invalid[rows]), dense)
        for rows in parts
    ]


def _bags(bag: Ints, index: Ints, value: Floats, number: int) -> Bags:
    order = np.argsort(bag, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(bag, minlength=number))[:-1]))
    indices, values = index[order].astype(np.int32), value[order].astype(np.float32)
    weights = None if (value == 1.0).all() else torch.from_numpy(values)
    return torch.from_numpy(indices), torch.from_numpy(offsets.astype(np.int32)), weights


def _add_up(table: torch.Tensor, bags: Bags) -> torch.Tensor:
    """(bags, U)."""
    indices, offsets, weights = bags
    total: torch.Tensor = torch.embedding_bag(table, indices, offsets, False, 0, False, weights)[0]
    return total


BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7
TAU = 4.0
# Half of `LARGEST_WEIGHT` in `_arithmetic.py`, so that rounding never raises.
LARGEST_TRAINED = 2.0**9


@dataclass(frozen=True)
class Member:
    """One network to train. It competes with its `group`; `fold` is its column of example weights. The
    penalty is in units of the mean squared length of scaled psi; `noise` is the share of labels that is
    assumed to be wrong."""

    hidden: int
    learning_rate: float
    decay: float
    penalty: float = 0.0
    noise: float = 0.0
    group: int = 0
    fold: int = 0


@dataclass(frozen=True)
class Evaluation:
    """Per member (M,): weighted accuracy, loss, smallest signed margin; per unit (M * K,): activity."""

    accuracy: Floats
    loss: Floats
    clearance: Floats
    accepts_invalid: NDArray[np.bool_]
    active: torch.Tensor


class Population:
    """Parameters, moments and best snapshots of the members that are still in training."""

    def __init__(self, members: Sequence[Member], d: int, spread: float, generator: torch.Generator) -> None:
        self.K = max(member.hidden for member in members)
        self._spread, self._generator = spread, generator
        self.noise = torch.tensor([member.noise for member in members])
        self.rate, self.decay, self.penalty = (
            self._per_unit(torch.tensor([getattr(member, name) for member in members]))
            for name in ("learning_rate", "decay", "penalty")
        )
        self._decays, self._penalised, self._noisy = (
            bool((values > 0).any()) for values in (self.decay, self.penalty, self.noise)
        )
        hidden = torch.tensor([member.hidden for member in members])
        self.present = (torch.arange(self.K) < hidden[:, None]).flatten()
        folds = torch.tensor([member.fold for member in members])
        self._folds = folds if bool((folds != folds[0]).any()) else folds[:1]
        self.theta = self._drawn(d + 1, len(members) * self.K) * self.present
        self.first, self.second = torch.zeros_like(self.theta), torch.zeros_like(self.theta)
        self.best = self.theta.clone()
        self.steps = 0

    def __len__(self) -> int:
        return self.theta.shape[1] // self.K

    def step(self, data: Batch, scale: float) -> None:
        """One step of Adam on the loss of a batch, times `scale`."""
        valid, invalid = self._weights(data)
        active = data.activations(self.theta)
        by_unit = active.view(len(active), -1, self.K)
        margins = 1.0 - torch.relu_(by_unit).sum(-1)
        probability = margins.mul_(TAU).sigmoid_()
        signal = torch.addcmul(valid, valid + invalid, probability, value=-1.0)
        if self._noisy:
            seen = self._seen(probability)
            pull = probability * (1.0 - probability) * (valid / seen - invalid / (1.0 - seen))
            signal = torch.where(self.noise > 0, (1.0 - 2.0 * self.noise) * pull, signal)
        active.sign_()
        by_unit.mul_(signal.mul_(scale * TAU).unsqueeze(2))
        gradient = data.gradient(active)
        if self._penalised:
            gradient[:-1] += self.penalty * self.theta[:-1]
        self._adam(gradient)

    def _adam(self, gradient: torch.Tensor) -> None:
        self.steps += 1
        t = self.steps
        self.first.lerp_(gradient, 1.0 - BETA_1)
        self.second.mul_(BETA_2).addcmul_(gradient, gradient, value=1.0 - BETA_2)
        denominator = self.second.sqrt().mul_((1.0 - BETA_2**t) ** -0.5).add_(EPSILON)
        rate = self.rate / (1.0 + self.decay * t) if self._decays else self.rate
        self.theta.addcdiv_(self.first * rate, denominator, value=-1.0 / (1.0 - BETA_1**t))

    def evaluate(self, data: Sequence[Batch]) -> Evaluation:
        """The accuracy and loss of the current weights, clipped to 2^9, on all batches."""
        self.theta.clamp_(-LARGEST_TRAINED, LARGEST_TRAINED)
        right = torch.zeros(len(self), dtype=torch.float64)
        loss, missed = torch.zeros_like(right), torch.zeros_like(right)
        clearance = torch.full((len(self),), torch.inf)
        active = torch.zeros(self.theta.shape[1], dtype=torch.bool)
        for piece in data:
            valid, invalid = self._weights(piece)
            hidden = piece.activations(self.theta)
            by_unit = hidden.view(len(hidden), -1, self.K)
            margins = 1.0 - torch.relu_(by_unit).sum(-1)
            logits = TAU * margins
            accepted = margins >= 0
            right += torch.where(accepted, valid, invalid).sum(0)
            missed += torch.where(accepted, invalid, 0.0).sum(0)
            softplus = torch.nn.functional.softplus(logits)
            each = (valid + invalid) * softplus - valid * logits
            if self._noisy:
                seen = self._seen(logits.sigmoid())
                each = torch.where(self.noise > 0, -valid * seen.log() - invalid * (1.0 - seen).log(), each)
            loss += each.sum(0)
            for weight, signed in ((valid, margins), (invalid, -margins)):
                worst = torch.where(weight > 0, signed, torch.inf).amin(0)
                clearance = torch.minimum(clearance, worst)
            by_unit.mul_((invalid > 0).unsqueeze(2))
            active |= hidden.amax(0) > 0
        if self._penalised:
            squares = (self.penalty / 2 * self.theta[:-1].square().sum(0)).view(-1, self.K)
            loss += squares.sum(1)
        return Evaluation(right.numpy(), loss.numpy(), clearance.double().numpy(), missed.numpy() > 0, active)

    def remember(self, improved: NDArray[np.bool_]) -> None:
        """Stores the current weights of these members as their best."""
        chosen = self._per_unit(torch.from_numpy(improved))
        self.best = torch.where(chosen, self.theta, self.best)

    def slow_down(self, members: NDArray[np.bool_], factor: float) -> None:
        """Multiplies the learning rate of these members by `factor`."""
        chosen = self._per_unit(torch.from_numpy(members))
        self.rate = torch.where(chosen, factor * self.rate, self.rate)

    def revive(self, now: Evaluation, members: NDArray[np.bool_]) -> None:
        """Restarts inactive units of these members, if a member still accepts invalid examples."""
        wanting = self._per_unit(torch.from_numpy(members & now.accepts_invalid))
        units = (wanting & self.present & ~now.active).nonzero()[:, 0]
        if len(units):
            self.theta[:, units] = self._drawn(self.theta.shape[0], len(units))
            self.first[:, units] = 0.0
            self.second[:, units] = 0.0

    def keep(self, members: NDArray[np.bool_]) -> None:
        """Continues training with only these members."""
        chosen = torch.from_numpy(np.flatnonzero(members))
        units = (chosen[:, None] * self.K + torch.arange(self.K)).flatten()
        if len(self._folds) > 1:
            self._folds = self._folds[chosen]
        self.noise = self.noise[chosen]
        for name in ("rate", "decay", "penalty", "present"):
            setattr(self, name, getattr(self, name)[units])
        for name in ("theta", "first", "second", "best"):
            setattr(self, name, getattr(self, name)[:, units].contiguous())

    def snapshot(self, member: int) -> tuple[Floats, Floats]:
        """The best W (K, d) and b (K,) of a member, without missing units."""
        columns = slice(member * self.K, (member + 1) * self.K)
        weights = self.best[:, columns][:, self.present[columns]].double().numpy()
        return np.ascontiguousarray(weights[:-1].T), weights[-1].copy()

    def _weights(self, data: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, M), or (B, 1) if all members have the same weights."""
        if data.valid.shape[1] == 1:
            return data.valid, data.invalid
        return data.valid[:, self._folds], data.invalid[:, self._folds]

    def _seen(self, probability: torch.Tensor) -> torch.Tensor:
        """(B, M) the probability of the label valid if labels may be wrong, from that of being valid."""
        return self.noise + (1.0 - 2.0 * self.noise) * probability

    def _per_unit(self, values: torch.Tensor) -> torch.Tensor:
        return values.repeat_interleave(self.K)

    def _drawn(self, rows: int, units: int) -> torch.Tensor:
        return self._spread * (2.0 * torch.rand(rows, units, generator=self._generator) - 1.0)
