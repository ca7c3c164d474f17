"""One cell of the suite, a set with N labelled sentences from one starting point: all its rows.

| row | what it is |
|---|---|
| plain | the base model of the labelled sentences: no clusters, no choice of settings, no constraints |
| tuned | the base with clusters as features; penalties and the bias of O are chosen by folds |
| all | `fit` as it is by default |
| plain + encoder | plain, which also reads vectors of the encoder |
| all + encoder | `fit` with the encoder |

Each row is a stage of its own, kept by content, so a run with an encoder uses those of earlier runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from lcons_core._instance import WORD
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell, rows_with_counts
from lcons_tasks.experiments.suite._corpus import load_set
from lcons_tasks.fitted._bases import Base
from lcons_tasks.fitted._fit import fit
from lcons_tasks.fitted._settings import FitSettings
from lcons_tasks.models._encoder import Encoder
from lcons_tasks.stats import count_right, f1

ROWS = PLAIN, TUNED, ALL = "plain", "tuned", "all"
ENCODED = PLAIN_ENCODED, ALL_ENCODED = "plain + encoder", "all + encoder"
# The parts of the tuned base, beside its penalties.
TUNED_PARTS = ("clusters", "bias")
# Span F1, or token accuracy where labels are no spans.
FIGURE = "figure"

Labels = tuple[tuple[str, ...], ...]
Texts = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Cell:
    """A sample of a set by the number of its labelled sentences and its starting point, and the name of an
    encoder, which adds rows."""

    corpus: str
    name: str
    size: int
    start: int
    encoder: str = ""

    def __str__(self) -> str:
        return f"{self.name}, N = {self.size}, start {self.start + 1}"

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of its rows."""
        return (*ROWS, *ENCODED) if self.encoder else ROWS


def answers(cell: Cell, kept: Stages) -> Record:
    """The record of a cell."""
    sampled = load_set(cell.corpus, cell.name)
    labelled, texts = sampled.sample(cell.size, cell.start)
    words = tuple(sentence.words for sentence in sampled.test)
    gold = [sentence.labels for sentence in sampled.test]
    counts = {}
    for row in cell.rows:
        inputs = {
            "row": row,
            "labelled": hash_sentences(labelled),
            "texts": hash_sentences(Sentence(text, text) for text in texts),
            "words": hash_sentences(Sentence(text, text) for text in words),
            "encoder": Encoder(cell.encoder).sha256 if row in ENCODED else "",
        }
        labels = kept.keep("suite", inputs, partial(label, cell, row, labelled, texts, words))
        counts[row] = {FIGURE: count_right(gold, labels, sampled.spans)}
    at: dict[str, Coordinate] = {"set": cell.name, "size": cell.size, "start": cell.start}
    facts = {
        "measure": "span F1" if sampled.spans else "token accuracy",
        "offset": sampled.offset(cell.size, cell.start),
        "unlabelled": len(texts),
        "test": len(gold),
        "sha256": sampled.sha256,
    }
    name = f"{cell.name}-{cell.size}-{cell.start + 1}"
    rows = {row: {FIGURE: round(float(f1(counts[row][FIGURE].sum(0))), 4)} for row in cell.rows}
    units = tuple(range(len(gold)))
    filled = RecordCell(name, at, rows, facts, rows_with_counts(counts, cell.rows), units)
    return Record((filled,), {"corpus": {"name": cell.corpus, "part": "test"}})


def label(cell: Cell, row: str, labelled: Sequence[Sentence], texts: Texts, words: Texts) -> Labels:
    """The labels that a row gives to the words."""
    if row == PLAIN:
        return _plain(labelled, texts, words)
    settings = {
        TUNED: FitSettings(parts=TUNED_PARTS),
        PLAIN_ENCODED: replace(FitSettings.plain(), encoder=cell.encoder),
        ALL_ENCODED: FitSettings(encoder=cell.encoder),
    }.get(row, FitSettings())
    tagger = fit(labelled, texts, settings)
    return tuple(tuple(decoding.y) for decoding in tagger.tag(words))


def _plain(labelled: Sequence[Sentence], texts: Texts, words: Texts) -> Labels:
    """The labels of the plain base model, as `fit` trains it."""
    settings = FitSettings.plain()
    base = Base(labelled, texts, settings.iterations)
    (model,) = base.train_each([range(len(labelled))], settings.penalties[0])
    batch = model.scores([{WORD: sentence} for sentence in words])
    labels = [batch.labels[i] for i in viterbi_ids(batch)[0].tolist()]
    return tuple(tuple(labels[first:last]) for first, last in pairwise(batch.offsets.tolist()))
