"""What do learned label bigrams gain with taggers that decide token by token? The nine sets of the suite.

From the first N sentences of the pool of each set (`lcons run suite` describes them; LCONS_DATA_DIR), a
tagger is trained that gives each word probabilities of its own, and label bigrams are learned as by default
in `lcons learn`. Its test sentences (at most 1,000) are labelled by

    argmax    the best label of each word
    scheme    exact decoding under the designed IOB2 rules alone, where labels are spans
    bigrams   exact decoding under the learned bigrams, as a hard constraint

| tagger | what it is |
|---|---|
| logistic | the features of the linear CRF, trained word by word |
| bert | a BERT of two layers, trained from scratch (`transformers_pipeline.py`; in .venv-integrations) |

Reported: span F1 (accuracy for tags) and gains over argmax, with 95 % intervals of a paired bootstrap over
sentences; then means over the sets, whose intervals draw the sets as well. `strict` counts only spans that
begin with B, as seqeval does in strict mode; otherwise an I without a B begins a span, as in conlleval. All
settings were fixed beforehand. The script fails if bigrams are significantly worse than argmax on some set.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/token_taggers.py [--tagger bert] [--size 1000]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from evidence import train_token

from lcons_core import Recipe, chunks, iob2
from lcons_decode import ChainBatch, ChainScores, constrained_viterbi_batch, viterbi_batch
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.suite._corpus import load_set, set_names
from lcons_tasks.stats import are_spans, bootstrap_f1, f1, strict_chunks

WAYS = ("argmax", "scheme", "bigrams")
DRAWS = 2000

Labels = Sequence[tuple[str, ...]]
Counts = Callable[[tuple[str, ...]], set[Any]]
Scored = tuple[ChainBatch | list[ChainScores], list[tuple[str, ...]]]


def logistic(train: Sequence[Sentence], test: Sequence[Sentence]) -> Scored:
    """The scores of the test sentences, and their labels."""
    return train_token(train).scores([one.x for one in test]), [one.labels for one in test]


def bert(train: Sequence[Sentence], test: Sequence[Sentence]) -> Scored:
    """The same by a small BERT: log probabilities of the first token of each word. Of a sentence that is too
    long for it, the words that fit are tested."""
    import torch
    import transformers_pipeline as tiny

    labels = sorted({label for one in train for label in one.labels})
    tokenizer = tiny.make_tokenizer(train)
    model = tiny.train(train, labels, tokenizer, seed=0)
    scores: list[ChainScores] = []
    gold: list[tuple[str, ...]] = []
    for first in range(0, len(test), 32):
        own = test[first : first + 32]
        words = [list(one.words) for one in own]
        tokens = tokenizer(
            words, is_split_into_words=True, truncation=True, padding=True, return_tensors="pt"
        )
        with torch.no_grad():
            found = torch.log_softmax(model(**tokens).logits.double(), dim=-1).numpy()
        for row, one in enumerate(own):
            ids = tokens.word_ids(row)
            firsts = [t for t, w in enumerate(ids) if w is not None and (t == 0 or ids[t - 1] != w)]
            # A word without a token, such as a lone control character, ends what can be tested.
            kept = next((i for i, t in enumerate(firsts) if ids[t] != i), len(firsts))
            if kept:
                scores.append(ChainScores(found[row, firsts[:kept]], labels=labels))
                gold.append(one.labels[:kept])
    return scores, gold


TAGGERS = {"logistic": logistic, "bert": bert}


@dataclass(frozen=True)
class Cell:
    """(sentences, 3) right, found and gold units of each way; the same of strict spans."""

    counts: dict[str, np.ndarray]
    strict: dict[str, np.ndarray]


def count(gold: Labels, found: Labels, units: Counts) -> np.ndarray:
    """(sentences, 3) right, found and gold units."""
    rows = []
    for y, z in zip(gold, found, strict=True):
        wanted, claimed = units(y), units(z)
        rows.append((len(wanted & claimed), len(claimed), len(wanted)))
    return np.array(rows)


def measure(name: str, tagger: str, size: int) -> Cell:
    """The counts of a set."""
    own = load_set("suite", name)
    train = own.pool[:size]
    rule = Recipe(evidence="auto", hidden="doubled").learn([one.instance for one in train])
    batch, gold = TAGGERS[tagger](train, own.test)
    known = {label for one in train for label in one.labels}
    answers = {"argmax": viterbi_batch(batch), "bigrams": constrained_viterbi_batch(batch, [rule])}
    spans = are_spans(known)
    answers["scheme"] = (
        constrained_viterbi_batch(batch, [iob2(sorted(known))]) if spans else answers["argmax"]
    )
    found = {way: [answer.y for answer in answers[way]] for way in WAYS}

    def units(y: tuple[str, ...]) -> set[Any]:
        return set(chunks(y)) if spans else set(enumerate(y))

    def strict(y: tuple[str, ...]) -> set[Any]:
        return strict_chunks(y) if spans else set(enumerate(y))

    return Cell(
        {way: count(gold, found[way], units) for way in WAYS},
        {way: count(gold, found[way], strict) for way in WAYS},
    )


def mean_gain(sides: Sequence[tuple[np.ndarray, np.ndarray]]) -> str:
    """The mean gain over sets with its interval: sets are drawn, and in each of them sentences."""
    rng = np.random.default_rng(0)
    drawn = np.zeros(DRAWS)
    for k in range(DRAWS):
        gains = []
        for i in rng.integers(len(sides), size=len(sides)):
            better, worse = sides[i]
            at = rng.integers(len(better), size=len(better))
            gains.append(float(f1(better[at].sum(0)) - f1(worse[at].sum(0))))
        drawn[k] = np.mean(gains)
    mean = np.mean([float(f1(better.sum(0)) - f1(worse.sum(0))) for better, worse in sides])
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tagger", choices=TAGGERS, default="logistic")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--sets", nargs="+", default=None)
    options = parser.parse_args()
    cells: dict[str, Cell] = {}
    harmed = []
    print(f"{options.tagger}, {options.size} sentences: F1 of argmax, scheme, bigrams; gains over argmax")
    for name in options.sets or set_names("suite"):
        cell = cells[name] = measure(name, options.tagger, options.size)
        gain, strict = (bootstrap_f1([own["bigrams"]], [own["argmax"]]) for own in (cell.counts, cell.strict))
        figures = " ".join(f"{float(f1(cell.counts[way].sum(0))):5.1f}" for way in WAYS)
        print(f"{name:12} {figures}   bigrams {gain}   strict {strict}", flush=True)
        harmed += [name] * (gain.high < 0)
    for way, base in (("scheme", "argmax"), ("bigrams", "argmax"), ("bigrams", "scheme")):
        sides = [(own.counts[way], own.counts[base]) for own in cells.values()]
        strict_sides = [(own.strict[way], own.strict[base]) for own in cells.values()]
        found = [bootstrap_f1([a], [b]) for a, b in sides]
        better, worse = sum(one.low > 0 for one in found), sum(one.high < 0 for one in found)
        print(
            f"{way} over {base}, mean of {len(sides)} sets: {mean_gain(sides)}, significantly better"
            f" {better}, worse {worse}; strict {mean_gain(strict_sides)}",
            flush=True,
        )
    if harmed:
        print(f"significantly worse than argmax: {', '.join(harmed)}")
    return int(bool(harmed))


if __name__ == "__main__":
    sys.exit(main())
