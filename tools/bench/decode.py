"""Decoding speed on CoNLL-2000 (2012 sentences, 47,377 tokens), beside pytorch-crf's unconstrained decode.

Emissions are smoothed log-probabilities of labels given words and suffixes, transitions those of label
bigrams, and constraints POS n-grams with K = 10, all from the first sentences of the training file. Times are
medians of the same tokens in one run, from scores and tags to label indices; lists of allowed n-grams are
found before. "codes" gives the tags as one `CodedColumn`, "strings" as lists. Relaxed decoding has a
constraint that also rejects half of the training windows, so that most sentences cannot satisfy it.

Needs LCONS_DATA_DIR. Run: ./tools/venv python tools/bench/decode.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import median_seconds, report
from torchcrf import CRF

from lcons_core import CodedColumn, LearnedConstraint, Recipe, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch, ChainConstraints, ChainScores, Hard, Soft, constrained_ids
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_decode.kernels._arrays import How

Columns = Mapping[str, Any] | Sequence[dict[str, list[str]]]
Sentence = tuple[dict[str, list[str]], list[str]]


def read(name: str) -> list[Sentence]:
    text = (Path(os.environ["LCONS_DATA_DIR"]) / "conll2000" / name).read_text()
    blocks = [[line.split() for line in block.splitlines()] for block in text.strip().split("\n\n")]
    return [({"word": [r[0] for r in b], "pos": [r[1] for r in b]}, [r[2] for r in b]) for b in blocks]


def model(train: list[Sentence], test: list[Sentence]) -> list[ChainScores]:
    """A simple tagger's scores of the test sentences."""
    labels = sorted({label for _, y in train for label in y})
    index = {label: i for i, label in enumerate(labels)}
    prior = np.zeros(len(labels))
    counts: dict[str, np.ndarray] = {}
    transition = np.full((len(labels), len(labels)), 0.1)
    start = np.full(len(labels), 0.1)
    for x, y in train:
        ids = [index[label] for label in y]
        start[ids[0]] += 1
        np.add.at(transition, (ids[:-1], ids[1:]), 1)
        for word, i in zip(x["word"], ids, strict=True):
            prior[i] += 1
            for key in (word, "-" + word[-3:]):
                counts.setdefault(key, np.zeros(len(labels)))[i] += 1
    prior /= prior.sum()

    def emission(word: str) -> np.ndarray:
        by_suffix = counts.get("-" + word[-3:], 0) + 2 * prior
        by_word = counts.get(word, 0) + by_suffix / by_suffix.sum()
        return np.log(by_word / by_word.sum()) - np.log(prior)

    # Counts tie exactly, and ties are broken differently elsewhere: a little noise makes optima unique.
    rng = np.random.default_rng(0)

    def scored(words: list[str]) -> np.ndarray:
        return np.stack([emission(word) for word in words]) + rng.normal(0, 1e-3, (len(words), len(labels)))

    weights = (np.log(transition / transition.sum(1, keepdims=True)), np.log(start / start.sum()), None)
    return [ChainScores(scored(x["word"]), *weights, labels=labels) for x, _ in test]


def constraint(train: list[Sentence], n: int) -> LearnedConstraint:
    feature = NgramContext.from_instances(train, n=n)
    recipe = Recipe(feature, negatives="relabel", many=3, hidden=10, restarts=2, epochs=60)
    return recipe.learn(train)


def pytorch_crf(scores: list[ChainScores]) -> list[tuple[CRF, torch.Tensor, torch.Tensor]]:
    crf = CRF(scores[0].L, batch_first=True)
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor(scores[0].transition))
        crf.start_transitions.copy_(torch.tensor(scores[0].start))
        crf.end_transitions.copy_(torch.tensor(scores[0].stop))
    batches = []
    for first in range(0, len(scores), 64):
        some = scores[first : first + 64]
        longest = max(map(len, some))
        emission = torch.zeros(len(some), longest, scores[0].L)
        mask = torch.zeros(len(some), longest, dtype=torch.bool)
        for i, own in enumerate(some):
            emission[i, : len(own)] = torch.tensor(own.emission)
            mask[i, : len(own)] = True
        batches.append((crf, emission, mask))
    return batches


def decode_all(batches: list[tuple[CRF, torch.Tensor, torch.Tensor]]) -> list[list[int]]:
    with torch.no_grad():
        return [path for crf, emission, mask in batches for path in crf.decode(emission, mask)]


def strict(use: LearnedConstraint, train: list[Sentence]) -> LearnedConstraint:
    """The constraint with biases raised until it rejects half of the windows of the training sentences."""
    feature = use.feature
    assert isinstance(feature, NgramContext)
    (part,) = use.network.parts
    raised = bisect_bias(np.concatenate([part.activations(feature.psi(pair)) for pair in train]))
    return replace(use, network=RectifierNetwork(part.W, part.b + raised))


def bisect_bias(activations: np.ndarray) -> float:
    """The multiple of 1/16 that, added to all activations, rejects half of the rows."""
    low, high = 0, 160
    while high - low > 1:
        middle = (low + high) // 2
        rejected = np.maximum(activations + middle / 16, 0.0).sum(1) > 1
        low, high = (low, middle) if rejected.mean() >= 0.5 else (middle, high)
    return high / 16


# Training sentences and n of the constraints; by n, the least speeds in times of pytorch-crf's.
SETTINGS = ((80, 3), (2000, 3), (2000, 4))
TARGETS = {
    3: {"viterbi": 3.0, "hard codes": 10.0, "hard strings": 6.0, "relaxed codes": 4.0, "soft codes": 3.0},
    4: {"hard codes": 4.0, "soft codes": 3.0},
}


def measure(size: int, n: int) -> bool:
    """Whether decoding under the constraint of these training sentences is fast enough in every way."""
    train, test = read("train.txt")[:size], read("test.txt")
    xs = [x for x, _ in test]
    scores = model(train, test)
    batch, batches = ChainBatch.of(scores), pytorch_crf(scores)
    use = constraint(train, n)
    uses = (Hard(use), Hard(strict(use, train)), Soft(use, 1.0))
    hard, strict_hard, soft = (ChainConstraints.of([own], batch.labels) for own in uses)
    fits = np.flatnonzero(constrained_ids(batch, hard, xs)[2] != How.RELAXED)
    breaks = np.flatnonzero(constrained_ids(batch, strict_hard, xs)[2] == How.RELAXED)
    every = np.arange(len(test))
    ways = {
        "viterbi": (None, every),
        "hard codes": (hard, fits),
        "hard strings": (hard, fits),
        "relaxed codes": (strict_hard, breaks),
        "soft codes": (soft, every),
    }
    met = []
    for way, target in TARGETS[n].items():
        compiled, chosen = ways[way]
        own = ChainBatch.of([scores[i] for i in chosen])
        tags = [xs[i]["pos"] for i in chosen]
        coded, texts = {"pos": CodedColumn.joined(tags)}, [xs[i] for i in chosen]
        columns: Columns = coded if "codes" in way else texts
        decode = (
            partial(viterbi_ids, own)
            if compiled is None
            else partial(constrained_ids, own, compiled, columns)
        )
        decode()  # makes lists, and compiles
        seconds, reference = median_seconds(decode, partial(decode_all, batches))
        speed = (len(own.emission) / seconds) / (len(batch.emission) / reference)
        claim = f"{size} training sentences, n = {n}, {way}: {len(own.emission):,} tokens"
        met.append(report(claim, speed, at_least=target))
    return all(met)


def main() -> int:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    met = [measure(size, n) for size, n in SETTINGS]
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
