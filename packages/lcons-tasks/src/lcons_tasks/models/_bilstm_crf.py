"""The BiLSTM-CRF: word vectors, affixes and shape, a BiLSTM, and label scores in a chain.

    h = BiLSTM(dropout([vector(w); word(w); suffixes(w); shape(w); contexts]))
    emission = dropout(h) W + b,   score(y) = start + sum emission + sum transition + stop

Paper: Sec. 6 (Huang et al. 2015, GloVe). Word vectors are not trained; without them, the network reads the
learned vectors alone. Differs from the paper: affixes and shapes of the words are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from lcons_core._instance import WORD
from lcons_decode import ChainBatch
from lcons_tasks.models._model_file import Arrays, Saved, read_names
from lcons_tasks.models._word_vectors import WordVectors
from lcons_tasks.models.phi._tokens import SUFFIXES, Columns, Ints, TokenIds

WIDEST_BATCH = 256


@dataclass(frozen=True)
class Sizes:
    """The lengths of the learned vectors of words, suffixes, shapes and contexts, and of the LSTM's state."""

    word: int = 30
    suffix: int = 20
    shape: int = 10
    context: int = 20
    hidden: int = 100


class Dropout(nn.Module):
    """`nn.Dropout`, with its mask drawn from uniform numbers: on a CPU this takes a third of the time."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, values: Tensor) -> Tensor:
        """The values; in training, each is set to zero with probability `rate` and scaled up otherwise."""
        if not self.training or not self.rate:
            return values
        return values * torch.rand_like(values).ge_(self.rate).div_(1.0 - self.rate)


class Network(nn.Module):
    """Embeddings, BiLSTM, emissions, and the scores of the chain."""

    def __init__(
        self, L: int, fields: Sequence[int], vectors: Tensor | None, sizes: Sizes, dropout: float
    ) -> None:
        super().__init__()
        self.vectors = None if vectors is None else nn.Embedding.from_pretrained(vectors)  # type: ignore[no-untyped-call]
        widths = _widths(len(fields), sizes)
        self.fields = nn.ModuleList(map(nn.Embedding, fields, widths))
        width = sum(widths) + (0 if vectors is None else vectors.shape[1])
        self.dropout = Dropout(dropout)
        self.lstm = nn.LSTM(width, sizes.hidden, bidirectional=True, batch_first=True)
        self.emission = nn.Linear(2 * sizes.hidden, L)
        self.transition = nn.Parameter(torch.zeros(L, L))
        self.start = nn.Parameter(torch.zeros(L))
        self.stop = nn.Parameter(torch.zeros(L))

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T, L) emissions of ids (B, T, 1 + fields); the first id of a token is a row of word vectors."""
        parts = [field(ids[..., i + 1]) for i, field in enumerate(self.fields)]
        if self.vectors is not None:
            parts.insert(0, self.vectors(ids[..., 0]))
        states, _ = self.lstm(self.dropout(torch.cat(parts, -1)))
        scores: Tensor = self.emission(self.dropout(states))
        return scores


def _widths(fields: int, sizes: Sizes) -> list[int]:
    """The widths of the embeddings of so many fields."""
    widths = [sizes.word, *(sizes.suffix for _ in SUFFIXES), sizes.shape]
    return widths + [sizes.context] * (fields - len(widths))


def _shapes(
    L: int, fields: Sequence[int], table: tuple[int, ...], sizes: Sizes
) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights of a network; `table` is that of its word vectors, () without any."""
    widths, H = _widths(len(fields), sizes), sizes.hidden
    shapes: dict[str, tuple[int, ...]] = {"vectors.weight": table} if table else {}
    shapes |= {f"fields.{i}.weight": shape for i, shape in enumerate(zip(fields, widths, strict=True))}
    for end in ("l0", "l0_reverse"):
        shapes[f"lstm.weight_ih_{end}"] = (4 * H, sum(widths) + sum(table[1:]))
        shapes[f"lstm.weight_hh_{end}"] = (4 * H, H)
        shapes |= {f"lstm.bias_{part}_{end}": (4 * H,) for part in ("ih", "hh")}
    chain = {"transition": (L, L), "start": (L,), "stop": (L,)}
    return {**shapes, "emission.weight": (L, 2 * H), "emission.bias": (L,), **chain}


class BilstmCrf(Saved):
    """A BiLSTM-CRF; a new one has torch's random weights."""

    kind = "bilstm-crf"

    def __init__(
        self,
        labels: tuple[str, ...],
        token_ids: TokenIds,
        vectors: WordVectors | None,
        sizes: Sizes,
        dropout: float = 0.0,
    ) -> None:
        self.labels, self.token_ids, self.vectors, self.sizes = labels, token_ids, vectors, sizes
        table = None if vectors is None else torch.from_numpy(vectors.table)
        self.network = Network(len(labels), token_ids.sizes, table, sizes, dropout).eval()

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model reads."""
        return tuple(self.token_ids.contexts)

    def ids(self, x: Columns) -> Ints:
        """(T, 1 + fields): the row of the word vector, then the fields of `token_ids`."""
        own = self.token_ids(x)
        rows = np.zeros(len(own), np.int64) if self.vectors is None else self.vectors.rows(x[WORD])
        return np.concatenate([rows[:, None], own], axis=1)

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""
        return self.scores_of_ids([self.ids(x) for x in xs])

    def scores_of_ids(self, ids: Sequence[Ints]) -> ChainBatch:
        """The scores of inputs that `ids` has already turned into numbers."""
        offsets = np.cumsum([0, *map(len, ids)])
        emission = np.zeros((offsets[-1], len(self.labels)))
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad(), one_thread():
            for batch in equally_long([len(i) for i in ids], WIDEST_BATCH):
                found = self.network(torch.from_numpy(np.stack([ids[i] for i in batch]))).double().numpy()
                for i, rows in zip(batch, found, strict=True):
                    emission[offsets[i] : offsets[i + 1]] = rows
        self.network.train(was_training)
        chain = (self.network.transition, self.network.start, self.network.stop)
        transition, start, stop = (part.detach().double().numpy().copy() for part in chain)
        return ChainBatch(emission, offsets, transition, start, stop, self.labels)

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file, word vectors included."""
        arrays: Arrays = {name: tensor.numpy() for name, tensor in self.network.state_dict().items()}
        header: dict[str, Any] = {"kind": self.kind, "labels": list(self.labels), "vectors": None}
        header |= {"token_ids": self.token_ids.to_dict(), "sizes": asdict(self.sizes)}
        if self.vectors is not None:
            header["vectors"] = {"name": self.vectors.name, "words": list(self.vectors.words)}
        return header, arrays

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        vectors, named = None, header["vectors"]
        if named is not None:
            vectors = WordVectors(named["name"], read_names(named["words"]), arrays["vectors.weight"][1:])
        ids, labels = TokenIds.from_dict(header["token_ids"]), read_names(header["labels"], distinct=True)
        if len(ids.suffixes) != len(SUFFIXES):
            raise ValueError(f"suffixes of {len(ids.suffixes)} lengths")
        if any(array.dtype != np.float32 for array in arrays.values()):
            raise ValueError("an array is not of type float32")
        sizes = Sizes(**header["sizes"])
        table = () if vectors is None else vectors.table.shape
        found = {name: array.shape for name, array in arrays.items()}
        if found != _shapes(len(labels), ids.sizes, table, sizes):
            raise ValueError("arrays of other shapes")
        # The weights come from the file, and those that are drawn here are dropped; they are as large. The
        # device `meta` would draw none, but imports for more than a second.
        with torch.random.fork_rng(devices=[]):
            model = cls(labels, ids, vectors, sizes)
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        model.network.load_state_dict(state, assign=True)
        return model


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread within the block: sums keep one order, and jobs do not compete for cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def equally_long(
    lengths: Sequence[int], most: int, rng: np.random.Generator | None = None
) -> list[list[int]]:
    """Batches of indices of inputs of equal length, at most `most` per batch; `rng` shuffles the batches.

    No batch is empty and inputs of length 0 are in none. A batch is a full rectangle: no padding, no masks.
    """
    sizes = np.asarray(lengths)
    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    order = order[np.argsort(sizes[order], kind="stable")]
    order = order[sizes[order] > 0]
    edges = np.flatnonzero(np.diff(sizes[order])) + 1
    runs = np.split(order, edges) if len(order) else []
    batches = [run[i : i + most].tolist() for run in runs for i in range(0, len(run), most)]
    if rng is not None:
        batches = [batches[i] for i in rng.permutation(len(batches))]
    return batches
