"""Training the BiLSTM-CRF: Adam on the CRF's loss, batches of equal length, early stopping on dev accuracy.

Paper: Appendix E: learning rates and decays of `lcons_core.learning.grids.BASE_GRIDS`, at most 300 epochs.
The rate at step t is rate / (1 + decay * t). One thread and one seed: the same run gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from lcons_core.errors import InvalidInput
from lcons_decode.viterbi import viterbi_ids
from lcons_tasks.corpus.sentence import Sentence
from lcons_tasks.models.bilstm_crf import BilstmCrf, Sizes, equally_long, one_thread
from lcons_tasks.models.crf_loss import crf_loss
from lcons_tasks.models.token_ids import Ints, TokenIds
from lcons_tasks.models.word_vectors import WordVectors

LARGEST_GRADIENT = 5.0


@dataclass(frozen=True)
class BilstmSettings:
    """How to train. Training ends after `patience` epochs and `patience_steps` batches without a better dev
    accuracy: where data are few, epochs are short and dev accuracy is noisy."""

    learning_rate: float = 0.005
    decay: float = 1e-5
    epochs: int = 300
    patience: int = 5
    patience_steps: int = 2000
    batch: int = 16
    dropout: float = 0.5
    columns: tuple[str, ...] = ()
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True)
class Epoch:
    """What a `progress` callback is told: the loss a sentence, dev accuracy and the best so far."""

    epoch: int
    epochs: int
    loss: float
    dev: float
    best: float


def train_bilstm(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    settings: BilstmSettings | None = None,
    vectors: WordVectors | None = None,
    seed: int = 0,
    progress: Callable[[Epoch], None] | None = None,
) -> BilstmCrf:
    """The model of the epoch that is best on `dev`, which must not be empty."""
    if not any(map(len, train)) or not any(map(len, dev)):
        raise InvalidInput(
            f"training needs train and dev sentences with words, found {len(train)} and {len(dev)} sentences"
            f" of {sum(map(len, train))} and {sum(map(len, dev))} words; give some of each."
        )
    settings = settings or BilstmSettings()
    if settings.epochs < 1:
        raise InvalidInput(f"training needs at least one epoch, found {settings.epochs}; allow more.")
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    index = {label: i for i, label in enumerate(labels)}
    token_ids = TokenIds.of((sentence.x for sentence in train), settings.columns)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BilstmCrf.untrained(labels, token_ids, vectors, settings.sizes, settings.dropout)
        x = [model.ids(sentence.x) for sentence in train]
        y = [np.array([index[label] for label in sentence.labels]) for sentence in train]
        held_out = Held(model, dev, index)
        course = _Course(model, settings, seed)
        best, kept, stale = -1.0, {}, 0
        for epoch in range(1, settings.epochs + 1):
            loss = course.epoch(x, y)
            accuracy = held_out.accuracy()
            stale += 1
            if accuracy > best:
                best, stale = accuracy, 0
                kept = {name: value.clone() for name, value in model.network.state_dict().items()}
            if progress is not None:
                progress(Epoch(epoch, settings.epochs, loss, accuracy, best))
            if stale >= settings.patience and stale * course.batches >= settings.patience_steps:
                break
        model.network.load_state_dict(kept)
    model.network.eval()
    return model


class Held:
    """The token accuracy of a model on sentences held out."""

    def __init__(self, model: BilstmCrf, sentences: Sequence[Sentence], index: dict[str, int]) -> None:
        self._model = model
        self._ids = [model.ids(sentence.x) for sentence in sentences]
        gold = [index.get(label, -1) for sentence in sentences for label in sentence.labels]
        self._gold = np.array(gold)

    def accuracy(self) -> float:
        """The share of tokens that Viterbi labels right."""
        found, _ = viterbi_ids(self._model.scores_of_ids(self._ids), threads=1)
        return float((found == self._gold).mean())


class _Course:
    """Optimiser, rate and order of batches."""

    def __init__(self, model: BilstmCrf, settings: BilstmSettings, seed: int) -> None:
        self.network, self.settings = model.network, settings
        self._learned = [p for p in self.network.parameters() if p.requires_grad]
        self._adam = torch.optim.Adam(self._learned, lr=settings.learning_rate, fused=True)
        rate = lambda step: 1.0 / (1.0 + settings.decay * step)  # noqa: E731
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._adam, rate)
        self._rng = np.random.default_rng(seed)
        self.batches = 0

    def epoch(self, x: Sequence[Ints], y: Sequence[Ints]) -> float:
        """One pass over the sentences; the mean loss a sentence."""
        self.network.train()
        total = 0.0
        batches = equally_long([len(ids) for ids in x], self.settings.batch, self._rng)
        self.batches = len(batches)
        for batch in batches:
            emission = self.network(torch.from_numpy(np.stack([x[i] for i in batch])))
            gold = torch.from_numpy(np.stack([y[i] for i in batch]))
            chain = (self.network.transition, self.network.start, self.network.stop)
            loss = crf_loss(emission, *chain, gold)
            self._adam.zero_grad()
            (loss / len(batch)).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self._learned, LARGEST_GRADIENT)
            self._adam.step()
            self._schedule.step()
            total += loss.item()
        return total / len(x)
