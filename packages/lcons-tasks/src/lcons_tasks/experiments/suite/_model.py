"""The rows of the suite: ways to make a tagger from the same labelled sentences and unlabelled text.

| row | what it is |
|---|---|
| plain | the base model of the labelled sentences: no clusters, no choice of settings, no constraints |
| tuned | the base with clusters as features; penalties and the bias of O are chosen by folds |
| all | `fit` as it is by default |
| constraints | plain, with what `lcons learn` learns by default as a hard constraint |
| self-training | plain, trained again with the half of the unlabelled text that it is surest of |
| the name of a part | `fit` with this part alone and the penalties of plain |
| penalties | `fit` with no part: only the penalties are chosen |
| no-text | all, without unlabelled text |
| forms | plain with consistency over the forms of words, at a fixed weight |
| random-groups | the same, over random groups of tokens as large as those of the forms |
| confidence | as many labels of plain changed as `all` changes: the least sure become the second best |

`self-training`, `bias` (the balance of labels alone), `random-groups` and `confidence` are controls: they
have what the parts have, except for the idea. Each row of a sample is a stage, kept by content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcons_core import WORD, Ints, Recipe
from lcons_decode import ChainBatch, ChainConstraints, Hard
from lcons_decode.chains import constrained_ids, marginals_batch, viterbi_ids
from lcons_tasks.data import Sentence, hash_sentences
from lcons_tasks.fitted._bases import Base, make_base
from lcons_tasks.fitted._fit import fit
from lcons_tasks.fitted._settings import PARTS, FitSettings
from lcons_tasks.models import Tagger
from lcons_tasks.models._consistent_chain import FORM, CodedKeys, consistent, token_keys

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._jobs import Tell
    from lcons_tasks.experiments.engine._kept import Stages

PLAIN, TUNED, ALL = "plain", "tuned", "all"
CONSTRAINTS, SELF_TRAINING, PENALTIES, NO_TEXT = "constraints", "self-training", "penalties", "no-text"
FORMS, RANDOM_GROUPS, CONFIDENCE = "forms", "random-groups", "confidence"
MAIN = (PLAIN, TUNED, ALL)
CONTROLS = (SELF_TRAINING, FORMS, RANDOM_GROUPS, CONFIDENCE)
ROWS = (*MAIN, CONSTRAINTS, PENALTIES, *PARTS, NO_TEXT, *CONTROLS)
# The parts of the tuned base, beside its penalties.
TUNED_PARTS = ("clusters", "bias")
# The weight of `forms` and `random-groups`.
WEIGHT = 0.7

Labels = tuple[tuple[str, ...], ...]
Texts = Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Given:
    """What every row has: labelled sentences, unlabelled text, the words to label, a kind of base and a
    seed."""

    labelled: tuple[Sentence, ...]
    texts: Texts
    words: Texts
    base: str
    seed: int


@dataclass(frozen=True, eq=False)
class Answer:
    """The labels of the words, and what `fit` chose, if the row has chosen."""

    labels: Labels
    facts: dict[str, Any]


def answer(row: str, given: Given, kept: Stages, tell: Tell) -> Answer:
    """The answer of a row, computed now or read from its stage."""
    inputs: dict[str, Any] = {
        "row": row,
        "labelled": hash_sentences(given.labelled),
        "texts": _hash(given.texts),
        "words": _hash(given.words),
        "base": given.base,
        "seed": given.seed,
    }
    if row == CONFIDENCE:
        sides = [answer(one, given, kept, tell).labels for one in (PLAIN, ALL)]
        inputs["changed"] = sum(a != b for ys in zip(*sides, strict=True) for a, b in zip(*ys, strict=True))

    def make(folder: Path) -> None:
        facts: dict[str, Any] = {}
        if row in _OWN:
            labels = _OWN[row](given)
        elif row == CONFIDENCE:
            labels = _second_best(given, inputs["changed"])
        else:
            labels, facts = _fitted(row, given, tell)
        known = sorted({label for y in labels for label in y})
        number = {label: i for i, label in enumerate(known)}
        ids = np.array([number[label] for y in labels for label in y], dtype=np.int16)
        np.savez_compressed(folder / "answer.npz", ids=ids)
        text = json.dumps({"labels": known, "facts": facts}, ensure_ascii=False)
        (folder / "answer.json").write_text(text, encoding="utf-8")

    def read(folder: Path) -> Answer:
        data = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        with np.load(folder / "answer.npz", allow_pickle=False) as arrays:
            ids = arrays["ids"].astype(np.int64)
        return Answer(_cut(ids, data["labels"], _offsets(given.words)), data["facts"])

    return kept.keep("suite", inputs, make, read)


def settings_of(row: str, base: str, seed: int) -> FitSettings:
    """The settings of a row that `fit` makes."""
    if row == TUNED:
        return FitSettings(base, parts=TUNED_PARTS, seed=seed)
    if row in (ALL, NO_TEXT):
        return FitSettings(base, seed=seed)
    if row == PENALTIES:
        return FitSettings(base, parts=(), seed=seed)
    return replace(FitSettings.plain(base, seed), parts=(row,))


def _fitted(row: str, given: Given, tell: Tell) -> tuple[Labels, dict[str, Any]]:
    def progress(what: str, done: int, total: int) -> None:
        tell(min(done / total, 0.99), f"{row}: {what}")

    texts = () if row == NO_TEXT else given.texts
    found = fit(given.labelled, texts, settings_of(row, given.base, given.seed), progress=progress)
    facts = {
        "jackknife": {"base": found.base, "fitted": found.figure},
        "chosen": dict(found.chosen),
        "parts": [one.part for one in found.contributions],
    }
    return tuple(tuple(one.y) for one in found.tag(given.words)), facts


def _trained(given: Given, more: Sequence[Sentence] = ()) -> tuple[Base, Tagger]:
    """The plain base model, as `fit` trains it, of the labelled sentences and more."""
    settings = FitSettings.plain(given.base, given.seed)
    sentences = (*given.labelled, *more)
    base = make_base(given.base, sentences, given.texts, None, settings.iterations, given.seed)
    return base, base.train(range(len(sentences)), settings.penalties[0])


def _scores(model: Tagger, words: Texts) -> ChainBatch:
    return model.scores([{WORD: one} for one in words])


def _decoded(batch: ChainBatch) -> Labels:
    return _cut(viterbi_ids(batch)[0], batch.labels, batch.offsets)


def _plain(given: Given) -> Labels:
    return _decoded(_scores(_trained(given)[1], given.words))


def _constrained(given: Given) -> Labels:
    recipe = Recipe(evidence="auto", hidden="doubled", seed=given.seed)
    rule = Hard(recipe.learn([sentence.instance for sentence in given.labelled]), "learned")
    batch = _scores(_trained(given)[1], given.words)
    ids, _, _ = constrained_ids(batch, ChainConstraints.of([rule], batch.labels), None)
    return _cut(ids, batch.labels, batch.offsets)


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


def _consistent(given: Given, random: bool) -> Labels:
    """Plain with consistency over forms, or over random groups of tokens: tokens of the unlabelled text
    exchange their forms, and a token to label has the group of a token drawn from it."""
    base, model = _trained(given)
    batch = _scores(model, given.words)
    if not given.texts:
        return _decoded(batch)
    coded = CodedKeys.of(FORM, given.texts, None)
    keys = token_keys(FORM, given.words, None)
    if random:
        rng = np.random.default_rng(given.seed)
        coded = replace(coded, ids=rng.permutation(coded.ids))
        keys = [coded.keys[i] for i in rng.choice(coded.ids, len(keys)).tolist()]
    there = base.unlabelled_scores(model)
    (table,), prior = consistent(there, marginals_batch(there), [coded], [WEIGHT])
    bonus = table.bonus(keys, marginals_batch(batch), prior)
    return _decoded(replace(batch, emission=batch.emission + bonus))


def _second_best(given: Given, changed: int) -> Labels:
    """Plain, with the labels that it is least sure of replaced by the next most probable."""
    batch = _scores(_trained(given)[1], given.words)
    ids = viterbi_ids(batch)[0].copy()
    probability = marginals_batch(batch)
    tokens = np.arange(len(ids))
    own = probability[tokens, ids].copy()
    probability[tokens, ids] = -1
    least = np.argsort(own, kind="stable")[:changed]
    ids[least] = probability[least].argmax(1)
    return _cut(ids, batch.labels, batch.offsets)


_OWN: dict[str, Callable[[Given], Labels]] = {
    PLAIN: _plain,
    CONSTRAINTS: _constrained,
    SELF_TRAINING: _self_trained,
    FORMS: lambda given: _consistent(given, random=False),
    RANDOM_GROUPS: lambda given: _consistent(given, random=True),
}


def _cut(ids: Ints, names: Sequence[str], offsets: Ints) -> Labels:
    found = [names[i] for i in ids.tolist()]
    return tuple(tuple(found[a:b]) for a, b in pairwise(offsets.tolist()))


def _offsets(words: Texts) -> Ints:
    return np.cumsum([0, *map(len, words)])


def _hash(texts: Texts) -> str:
    return hash_sentences(Sentence(words, words) for words in texts)
