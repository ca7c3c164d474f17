"""Training the BiLSTM-CRF: Adam on the CRF's loss, batches of equal length, early stopping on dev accuracy.

The loss is the negative log-likelihood of a linear-chain CRF:

    loss = log Z - score(y),   d log Z / d emission[t, c] = p(y_t = c),
    d log Z / d transition[b, c] = sum_t p(y_t = b, y_{t+1} = c)

Scaled forward-backward sums compute log Z and all marginals together, so autograd keeps no graph of T steps.
The score is that of `lcons_decode`: start, emissions, transitions [from, to] and stop. It is the same in
training, Viterbi and beam.

Differs from the paper: its beam adds log-softmaxed scores and no stop score, which is not what it trains.

Paper: Appendix E: learning rates and decays of its grid, at most 300 epochs.
The rate at step t is rate / (1 + decay * t). Training uses one thread and one seed, so it is reproducible bit
for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lcons_core import InvalidInput
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.data._sentence import Sentence
from lcons_tasks.models._bilstm_crf import BilstmCrf, Sizes, equally_long, one_thread
from lcons_tasks.models._word_vectors import WordVectors
from lcons_tasks.models.phi._tokens import Ints, TokenIds

HEADROOM = 350.0


def crf_loss(emission: Tensor, transition: Tensor, start: Tensor, stop: Tensor, y: Tensor) -> Tensor:
    """The loss summed over a batch of equally long sequences: emission (B, T, L), y (B, T)."""
    loss: Tensor = _CrfLoss.apply(emission, transition, start, stop, y)  # type: ignore[no-untyped-call]
    return loss


class _CrfLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, emission: Tensor, transition: Tensor, start: Tensor, stop: Tensor, y: Tensor
    ) -> Tensor:
        scores = emission.double().transpose(0, 1)
        arcs, first, last = transition.double(), start.double(), stop.double()
        log_partition, unary, pairwise = _sums(scores, arcs, first, last)
        gold = scores.gather(2, y.t().unsqueeze(2)).sum() + first[y[:, 0]].sum() + last[y[:, -1]].sum()
        gold = gold + arcs[y[:, :-1], y[:, 1:]].sum()
        ones = torch.ones(y.shape, dtype=torch.float64)
        unary = unary.transpose(0, 1).scatter_add(2, y.unsqueeze(2), -ones.unsqueeze(2))
        pairwise.index_put_((y[:, :-1], y[:, 1:]), -ones[:, 1:], accumulate=True)
        kind = emission.dtype
        ends = unary[:, 0].sum(0).to(kind), unary[:, -1].sum(0).to(kind)
        context.save_for_backward(unary.to(kind), pairwise.to(kind), *ends)
        return (log_partition.sum() - gold).to(kind)

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return (*(upstream * gradient for gradient in context.saved_tensors), None)


def _sums(scores: Tensor, arcs: Tensor, start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """log Z (B,), label marginals (T, B, L) and summed pair marginals (L, L); scores are (T, B, L)."""
    T = len(scores)
    # Every score is exponentiated relative to the largest score of its step, so that nothing overflows, and
    # minus a headroom, so that small values do not vanish before they are divided by their scale. Emissions
    # may be of any size; transitions, starts and stops may each span 500.
    tops = scores.amax(2, keepdim=True) - HEADROOM
    top, first_top, last_top = arcs.max(), start.max(), stop.max()
    gains, A = (scores - tops).exp(), (arcs - top).exp()
    first, last = (start - first_top).exp(), (stop - last_top).exp()
    forward, scale = torch.empty_like(gains), torch.empty_like(tops)
    # `unbind` indexes the tensors once: indexing them at every step would cost as much as the sums.
    f, g, z = forward.unbind(), gains.unbind(), scale.unbind()
    current = first * g[0]
    for t in range(T):
        if t:
            current = torch.mm(f[t - 1], A).mul_(g[t])
        torch.sum(current, 1, keepdim=True, out=z[t])
        torch.div(current, z[t], out=f[t])
    ending = (forward[-1] * last).sum(1, keepdim=True)
    backward, arriving = torch.empty_like(gains), torch.empty_like(gains)
    backward[-1] = last / ending
    a, b, g, onward = arriving.unbind(), backward.unbind(), (gains / scale).unbind(), A.t().contiguous()
    for t in range(T - 1, 0, -1):
        torch.mul(g[t], b[t], out=a[t])
        torch.mm(a[t], onward, out=b[t - 1])
    L = scores.shape[2]
    pairwise = A * (forward[:-1].reshape(-1, L).t() @ arriving[1:].reshape(-1, L))
    log_partition = (tops + scale.log()).sum((0, 2)) + ending.squeeze(1).log()
    return log_partition + (T - 1) * top + first_top + last_top, forward * backward, pairwise


LARGEST_GRADIENT = 5.0


@dataclass(frozen=True)
class BilstmSettings:
    """How to train. Training ends after `patience` epochs and `patience_steps` batches without a better dev
    accuracy. Both must pass: with few data, epochs are short and dev accuracy is noisy."""

    learning_rate: float = 0.005
    decay: float = 1e-5
    epochs: int = 300
    patience: int = 5
    patience_steps: int = 2000
    batch: int = 16
    dropout: float = 0.5
    columns: tuple[str, ...] = ()
    sizes: Sizes = field(default_factory=Sizes)


def train_bilstm(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    settings: BilstmSettings | None = None,
    vectors: WordVectors | None = None,
    seed: int = 0,
) -> BilstmCrf:
    """The model of the epoch that is best on `dev`, which must not be empty."""
    if not any(map(len, train)) or not any(map(len, dev)):
        raise InvalidInput("training needs words in `train` and `dev`; pass some of each.")
    settings = settings or BilstmSettings()
    if settings.epochs < 1:
        raise InvalidInput(f"`epochs` must be at least 1: got {settings.epochs}; pass more.")
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    index = {label: i for i, label in enumerate(labels)}
    token_ids = TokenIds.of((sentence.x for sentence in train), settings.columns)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BilstmCrf(labels, token_ids, vectors, settings.sizes, settings.dropout)
        x, held_out = ([model.ids(sentence.x) for sentence in part] for part in (train, dev))
        y = [np.array([index[label] for label in sentence.labels]) for sentence in train]
        gold = np.array([index.get(label, -1) for sentence in dev for label in sentence.labels])
        course = _Course(model, settings, seed)
        best, weights, stale = -1.0, {}, 0
        for _ in range(settings.epochs):
            course.epoch(x, y)
            answer, _ = viterbi_ids(model.scores_of_ids(held_out), threads=1)
            accuracy = float((answer == gold).mean())
            stale += 1
            if accuracy > best:
                best, stale = accuracy, 0
                weights = {name: value.clone() for name, value in model.network.state_dict().items()}
            if stale >= settings.patience and stale * course.batches >= settings.patience_steps:
                break
        model.network.load_state_dict(weights)
    model.network.eval()
    return model


class _Course:
    """The course of a training: optimiser, learning rate and order of batches."""

    def __init__(self, model: BilstmCrf, settings: BilstmSettings, seed: int) -> None:
        self.network, self.settings = model.network, settings
        self._learned = [p for p in self.network.parameters() if p.requires_grad]
        self._first = [torch.zeros_like(p) for p in self._learned]
        self._second = [torch.zeros_like(p) for p in self._learned]
        self._counts = [torch.zeros(()) for _ in self._learned]
        self._rng = np.random.default_rng(seed)
        self.batches = self.steps = 0

    def epoch(self, x: Sequence[Ints], y: Sequence[Ints]) -> float:
        """The mean loss per sentence of one pass over the sentences, which trains the model."""
        self.network.train()
        total = 0.0
        batches = equally_long([len(ids) for ids in x], self.settings.batch, self._rng)
        self.batches = len(batches)
        for batch in batches:
            emission = self.network(torch.from_numpy(np.stack([x[i] for i in batch])))
            gold = torch.from_numpy(np.stack([y[i] for i in batch]))
            chain = (self.network.transition, self.network.start, self.network.stop)
            loss = crf_loss(emission, *chain, gold)
            self.network.zero_grad()
            (loss / len(batch)).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self._learned, LARGEST_GRADIENT)
            rate = self.settings.learning_rate * (1.0 / (1.0 + self.settings.decay * self.steps))
            self._step(rate)
            self.steps += 1
            total += loss.item()
        return total / len(x)

    @torch.no_grad()
    def _step(self, rate: float) -> None:
        """One step of Adam by the kernel of `torch.optim.Adam`, whose import takes two seconds."""
        gradients = [p.grad for p in self._learned if p.grad is not None]
        torch._foreach_add_(self._counts, 1)
        torch._fused_adam_(
            tuple(self._learned),
            gradients,
            self._first,
            self._second,
            [],
            self._counts,
            lr=rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )
