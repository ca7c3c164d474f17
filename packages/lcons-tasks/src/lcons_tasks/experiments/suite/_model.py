"""The rows of the suite: ways to make a tagger from the same labelled sentences and unlabelled text.

| row | what it is |
|---|---|
| plain | the base model of the labelled sentences: no clusters, no choice of settings, no constraints |
| tuned | the base with clusters as features; penalties and the bias of O are chosen by folds |
| all | `fit` as it is by default |
| self-training | plain, trained again with the half of the unlabelled text that it is surest of |
| the name of a part | `fit` with this part alone and the penalties of plain |
| plain + encoder | plain, which also reads vectors of the encoder |
| all + encoder | `fit` with the encoder |

`self-training` and `bias` (the balance of labels alone) are controls: they have what the parts have, except
for the idea. Each row of a sample is a stage, kept by content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_core._instance import WORD
from lcons_core._types import Ints
from lcons_decode import ChainBatch
from lcons_decode.chains._marginals import marginals_batch
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.fitted._bases import Base
from lcons_tasks.fitted._fit import fit
from lcons_tasks.fitted._settings import PARTS, VECTORS, FitSettings
from lcons_tasks.models import Tagger
from lcons_tasks.models._encoder import Encoder
from lcons_tasks.models._linear_chain import LinearChain

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

PLAIN, TUNED, ALL = "plain", "tuned", "all"
SELF_TRAINING = "self-training"
MAIN = (PLAIN, TUNED, ALL)
ENCODED = PLAIN_ENCODED, ALL_ENCODED = ("plain + encoder", "all + encoder")
ROWS = (*MAIN, *(part for part in PARTS if part != VECTORS), SELF_TRAINING)
# The parts of the tuned base, beside its penalties.
TUNED_PARTS = ("clusters", "bias")

Labels = tuple[tuple[str, ...], ...]
Texts = Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Given:
    """What every row has: labelled sentences, unlabelled text, and the words to label."""

    labelled: tuple[Sentence, ...]
    texts: Texts
    words: Texts
    encoder: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """The labels of the words, and what `fit` chose, if the row has chosen."""

    labels: Labels
    facts: dict[str, Any]


def answer(row: str, given: Given, kept: Stages) -> Answer:
    """The answer of a row, computed now or read from its stage."""
    inputs: dict[str, Any] = {
        "row": row,
        "labelled": hash_sentences(given.labelled),
        "texts": _hash(given.texts),
        "words": _hash(given.words),
        "encoder": Encoder(given.encoder).sha256 if row in ENCODED else "",
    }
    return kept.keep("suite", inputs, partial(_answer, row, given))


def _answer(row: str, given: Given) -> Answer:
    return Answer(_OWN[row](given), {}) if row in _OWN else _fitted(row, given)


def settings_of(row: str, encoder: str = "") -> FitSettings:
    """The settings of a row that `fit` makes."""
    if row in ENCODED:
        settings = FitSettings.plain() if row == PLAIN_ENCODED else FitSettings()
        return replace(settings, encoder=encoder)
    if row == TUNED:
        return FitSettings(parts=TUNED_PARTS)
    if row == ALL:
        return FitSettings()
    return replace(FitSettings.plain(), parts=(row,))


def _fitted(row: str, given: Given) -> Answer:
    found = fit(given.labelled, given.texts, settings_of(row, given.encoder))
    facts = {
        "jackknife": {"base": found.base, "fitted": found.figure},
        "chosen": dict(found.chosen),
        "parts": [one.part for one in found.contributions],
    }
    return Answer(tuple(tuple(one.y) for one in found.tag(given.words)), facts)


def _trained(given: Given, more: Sequence[Sentence] = ()) -> tuple[Base, LinearChain]:
    """The plain base model, as `fit` trains it, of the labelled sentences and more."""
    settings = FitSettings.plain()
    sentences = (*given.labelled, *more)
    base = Base(sentences, given.texts, settings.iterations)
    (model,) = base.train_each([range(len(sentences))], settings.penalties[0])
    return base, model


def _scores(model: Tagger, words: Texts) -> ChainBatch:
    return model.scores([{WORD: one} for one in words])


def _decoded(batch: ChainBatch) -> Labels:
    return _cut(viterbi_ids(batch)[0], batch.labels, batch.offsets)


def _plain(given: Given) -> Labels:
    return _decoded(_scores(_trained(given)[1], given.words))


def _self_trained(given: Given) -> Labels:
    if not given.texts:
        return _plain(given)
    base, model = _trained(given)
    batch = base.unlabelled_scores(model)
    ids, _ = viterbi_ids(batch)
    sure = np.log(np.maximum(marginals_batch(batch)[np.arange(len(ids)), ids], 1e-300))
    bounds = batch.offsets
    means = np.add.reduceat(sure, bounds[:-1]) / np.diff(bounds)
    labels = _cut(ids, batch.labels, bounds)
    half = np.sort(np.argsort(-means, kind="stable")[: len(means) // 2]).tolist()
    added = [Sentence(tuple(given.texts[i]), labels[i]) for i in half]
    return _decoded(_scores(_trained(given, added)[1], given.words))


_OWN: dict[str, Callable[[Given], Labels]] = {
    PLAIN: _plain,
    SELF_TRAINING: _self_trained,
}


def _cut(ids: Ints, names: Sequence[str], offsets: Ints) -> Labels:
    found = [names[i] for i in ids.tolist()]
    return tuple(tuple(found[a:b]) for a, b in pairwise(offsets.tolist()))


def _hash(texts: Texts) -> str:
    return hash_sentences(Sentence(words, words) for words in texts)
