"""Training speed of the BiLSTM-CRF on CoNLL-2000, beside a pytorch-crf model of the same size.

Both read the first 2000 training sentences as the same numbers: word vectors (frozen), learned vectors of
words, suffixes and shapes, a BiLSTM, a CRF, Adam, clipped gradients, batches of 16, one thread. Ours is an
epoch of `lcons_tasks.models._crf_trainer`; theirs is written in the usual way, with batches in random
order, padded, packed and masked, and the loss of pytorch-crf 0.7.2. The epochs take turns; their medians are
compared, and the losses printed beside them. Needs LCONS_DATA_DIR.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from timing import median_seconds, report
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torchcrf import CRF

from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.data import read_columns
from lcons_tasks.models._bilstm_crf import BilstmCrf, one_thread
from lcons_tasks.models._crf_trainer import LARGEST_GRADIENT, BilstmSettings, _Course
from lcons_tasks.models._word_vectors import find_vectors
from lcons_tasks.models.phi._tokens import SUFFIXES, Ints, TokenIds

SENTENCES = 2000
EPOCHS = 5
# The code published with the paper trains its CRF at this many tokens a second.
ORIGINAL = 71


class Padded(nn.Module):
    """The same model on padded batches."""

    def __init__(
        self, L: int, fields: Sequence[int], vectors: Tensor | None, settings: BilstmSettings
    ) -> None:
        super().__init__()
        sizes = settings.sizes
        widths = [sizes.word, *(sizes.suffix for _ in SUFFIXES), sizes.shape]
        self.fields = nn.ModuleList(map(nn.Embedding, fields, widths))
        self.vectors = None
        if vectors is not None:
            self.vectors = nn.Embedding.from_pretrained(vectors)  # type: ignore[no-untyped-call]
        width = sum(widths) + (0 if vectors is None else vectors.shape[1])
        self.dropout = nn.Dropout(settings.dropout)
        self.lstm = nn.LSTM(width, sizes.hidden, bidirectional=True, batch_first=True)
        self.emission = nn.Linear(2 * sizes.hidden, L)
        self.crf = CRF(L, batch_first=True)

    def forward(self, ids: Tensor, lengths: Tensor, mask: Tensor, y: Tensor) -> Tensor:
        """The mean loss a sentence of ids (B, T, 1 + fields) and labels y (B, T), where `mask` holds."""
        parts = [field(ids[..., i + 1]) for i, field in enumerate(self.fields)]
        if self.vectors is not None:
            parts.insert(0, self.vectors(ids[..., 0]))
        inputs = self.dropout(torch.cat(parts, -1))
        packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        likelihood: Tensor = self.crf(self.emission(self.dropout(states)), y, mask, reduction="mean")
        return -likelihood


class UsualCourse:
    """Optimiser, rate and order of batches, as pytorch-crf's users write them."""

    def __init__(self, model: Padded, settings: BilstmSettings) -> None:
        self.model, self.batch = model, settings.batch
        self.learned = [p for p in model.parameters() if p.requires_grad]
        self.adam = torch.optim.Adam(self.learned, lr=settings.learning_rate)
        decay = settings.decay
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.adam, lambda t: 1.0 / (1.0 + decay * t))

    def epoch(self, x: Sequence[Tensor], y: Sequence[Tensor]) -> float:
        """One pass over the sentences; the mean loss a sentence."""
        self.model.train()
        total = 0.0
        for batch in torch.split(torch.randperm(len(x)), self.batch):
            lengths = torch.tensor([len(x[i]) for i in batch])
            ids = pad_sequence([x[i] for i in batch], batch_first=True)
            gold = pad_sequence([y[i] for i in batch], batch_first=True)
            mask = torch.arange(ids.shape[1]) < lengths[:, None]
            loss = self.model(ids, lengths, mask, gold)
            self.adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.learned, LARGEST_GRADIENT)
            self.adam.step()
            self.schedule.step()
            total += loss.item() * len(batch)
        return total / len(x)


def main() -> int:
    path = Path(os.environ["LCONS_DATA_DIR"]) / "conll2000" / "train.txt"
    train = list(islice(read_columns(path), SENTENCES))
    labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
    index = {label: i for i, label in enumerate(labels)}
    tokens = sum(map(len, train))
    settings, vectors = BilstmSettings(), find_vectors()
    torch.manual_seed(0)
    token_ids = TokenIds.of(sentence.x for sentence in train)
    model = BilstmCrf(labels, token_ids, vectors, settings.sizes, settings.dropout)
    x: list[Ints] = [model.ids(sentence.x) for sentence in train]
    y: list[Ints] = [np.array([index[label] for label in sentence.labels]) for sentence in train]
    table = None if vectors is None else torch.from_numpy(vectors.table)
    usual = Padded(len(labels), token_ids.sizes, table, settings)
    ours, theirs = _Course(model, settings, seed=0), UsualCourse(usual, settings)
    tensors = [list(map(torch.from_numpy, arrays)) for arrays in (x, y)]
    losses: list[tuple[str, float]] = []
    with one_thread():
        own, usual_seconds, held = median_seconds(
            lambda: losses.append(("ours", ours.epoch(x, y))),
            lambda: losses.append(("theirs", theirs.epoch(*tensors))),
            lambda: viterbi_ids(model.scores_of_ids(x), threads=1),
            repeats=EPOCHS,
        )
    named = "no word vectors" if vectors is None else f"{vectors.name} of {vectors.dimension}"
    print(f"-- {len(train):,} sentences, {tokens:,} tokens, {len(labels)} labels, {named}")
    for who in ("ours", "theirs"):
        course = " ".join(f"{loss:.2f}" for name, loss in losses if name == who)
        print(
            f"   {who}: {tokens / (own if who == 'ours' else usual_seconds):,.0f} tokens a second,"
            f" losses a sentence {course}"
        )
    print(f"   accuracy of held-out sentences: {tokens / held:,.0f} tokens a second")
    met = [
        report("training, tokens a second over pytorch-crf's", usual_seconds / own, at_least=1.5),
        report("training, tokens a second over the original code's", tokens / own / ORIGINAL, at_least=100),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
