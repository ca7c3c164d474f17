"""Decoding speed on CoNLL-2000 (2012 sentences, 47,377 tokens), beside pytorch-crf's unconstrained decode.

Emissions are smoothed log-probabilities of labels given words and suffixes, transitions those of label
bigrams, and constraints POS n-grams with K = 10, all from the first sentences of the training file. Times are
of the same tokens in one run, medians, from scores and tags to label indices; lists of allowed n-grams are
found once and reported beside it. Needs LCONS_DATA_DIR.
"""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from collections import Counter
from functools import partial
from itertools import chain, cycle, repeat
from pathlib import Path

import numpy as np
import torch
from timing import median_seconds, report
from torchcrf import CRF

from lcons_core import ConstraintLearner, LearnedConstraint, learn_from_examples, make_examples
from lcons_core.features import NgramContext
from lcons_decode import (
    ChainBatch,
    ChainConstraints,
    ChainScores,
    Hard,
    Soft,
    beam_search,
    beam_search_batch,
    decode_batch,
)
from lcons_decode.chains import constrained_ids, lay_out, viterbi_ids
from lcons_decode.kernels import How

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
    examples = make_examples(train, feature, negatives="relabel", many=3)
    learner = ConstraintLearner(hidden=10, restarts=2, epochs=60)
    return learn_from_examples(examples, learner, feature)


def pytorch_crf(
    scores: list[ChainScores], dtype: torch.dtype = torch.float32
) -> list[tuple[CRF, torch.Tensor, torch.Tensor]]:
    crf = CRF(scores[0].L, batch_first=True).to(dtype)
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor(scores[0].transition))
        crf.start_transitions.copy_(torch.tensor(scores[0].start))
        crf.end_transitions.copy_(torch.tensor(scores[0].stop))
    batches = []
    for first in range(0, len(scores), 64):
        some = scores[first : first + 64]
        longest = max(map(len, some))
        emission = torch.zeros(len(some), longest, scores[0].L, dtype=dtype)
        mask = torch.zeros(len(some), longest, dtype=torch.bool)
        for i, own in enumerate(some):
            emission[i, : len(own)] = torch.tensor(own.emission)
            mask[i, : len(own)] = True
        batches.append((crf, emission, mask))
    return batches


def decode_all(batches: list[tuple[CRF, torch.Tensor, torch.Tensor]]) -> list[list[int]]:
    with torch.no_grad():
        return [path for crf, emission, mask in batches for path in crf.decode(emission, mask)]


def plain_beam(scores: ChainScores, use: LearnedConstraint, x: dict[str, list[str]], width: int) -> list[str]:
    """The paper's beam, plainly: the network is asked about every candidate's newest n-gram."""
    feature = use.feature
    assert isinstance(feature, NgramContext)
    beam: list[tuple[float, list[str]]] = [(0.0, [])]
    for t in range(len(scores)):
        candidates = []
        for score, prefix in beam:
            for label in scores.labels:
                i = scores.labels.index(label)
                arc = scores.transition[scores.labels.index(prefix[-1]), i] if prefix else scores.start[i]
                candidates.append((score + arc + scores.emission[t, i], [*prefix, label]))
        candidates.sort(key=lambda pair: -pair[0])
        satisfying = []
        for pair in candidates:
            window = slice(max(0, t + 1 - feature.n), t + 1)
            if use.satisfied(({"pos": x["pos"][window]}, pair[1][window])):
                satisfying.append(pair)
        beam = satisfying[:width] or candidates[:width]
    return max(beam, key=lambda pair: pair[0])[1]


def main() -> int:
    train, test = read("train.txt"), read("test.txt")
    xs = [x for x, _ in test]
    tokens = sum(len(y) for _, y in test)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    met = []
    for size, n in ((80, 3), (2000, 3), (2000, 4)):
        scores = model(train[:size], test)
        batch, batches = ChainBatch.of(scores), pytorch_crf(scores)
        use = constraint(train[:size], n)
        print(f"-- first {size} training sentences, n = {n}, {len(scores[0].labels)} labels")
        hard = ChainConstraints.of([Hard(use)], batch.labels)
        begin = time.perf_counter()
        layout = lay_out(batch, hard, xs)
        kinds = len(layout.lists.indptr) - 1
        print(f"   lists of {kinds:,} distinct windows in {time.perf_counter() - begin:.2f} s (first time)")
        _, _, how = constrained_ids(batch, hard, xs)
        fits = np.flatnonzero(how != How.RELAXED)
        softs = {w: ChainConstraints.of([Soft(use, w)], batch.labels) for w in (0.5, 1.0, 2.0)}
        runs = {"relaxed": (hard, np.flatnonzero(how == How.RELAXED)), "hard": (hard, fits)}
        runs |= {f"soft {w:g}": (soft, np.arange(len(test))) for w, soft in softs.items()}
        reference, free = median_seconds(partial(decode_all, batches), partial(viterbi_ids, batch), repeats=5)
        print(f"   pytorch-crf {tokens / reference:,.0f} tokens a second; how {dict(Counter(how.tolist()))}")
        if size == 80:
            theirs = np.concatenate(decode_all(pytorch_crf(scores, torch.float64)))
            same = np.array_equal(theirs, viterbi_ids(batch)[0])
            print(f"   the same labels as pytorch-crf in float64: {same}")
            met.append(same)
            met.append(report("viterbi, tokens a second over pytorch-crf's", reference / free, at_least=3))
        for name, (compiled, which) in runs.items():
            # A handful of sentences would time the overhead of a call.
            if sum(len(scores[i]) for i in which) < 2000:
                continue
            own, own_xs = ChainBatch.of([scores[i] for i in which]), [xs[i] for i in which]
            constrained_ids(own, compiled, own_xs)
            (seconds,) = median_seconds(partial(constrained_ids, own, compiled, own_xs), repeats=5)
            speed = len(own.emission) / seconds / (tokens / reference)
            target = (5.0 if name == "hard" else 1.0) if n == 3 else 0.25
            met.append(report(f"{name}, n = {n}, {len(own.emission):,} tokens", speed, at_least=target))
        if n == 3 and size == 80:
            met += beam_ratio(scores, use, hard, xs, tokens)
            met += [growth(batch, hard, xs), flat_memory(batch, hard, xs)]
    return 0 if all(met) else 1


def beam_ratio(
    scores: list[ChainScores],
    use: LearnedConstraint,
    hard: ChainConstraints,
    xs: list[dict[str, list[str]]],
    tokens: int,
) -> list[bool]:
    """The batched beam over the plain one, timed on a few sentences and scaled; the same labels."""
    batch = ChainBatch.of(scores)
    (ours,) = median_seconds(lambda: beam_search_batch(batch, hard, xs, width=10), repeats=3)
    sample = range(0, len(scores), 400)
    begin = time.perf_counter()
    plain = [plain_beam(scores[i], use, xs[i], 10) for i in sample]
    seconds = time.perf_counter() - begin
    same = all(list(beam_search(scores[i], hard, xs[i]).y) == y for i, y in zip(sample, plain, strict=True))
    ratio = seconds / sum(len(scores[i]) for i in sample) / (ours / tokens)
    return [report(f"beam of width 10 over a plain one (same labels: {same})", ratio, at_least=500), same]


def growth(batch: ChainBatch, hard: ChainConstraints, xs: list[dict[str, list[str]]]) -> bool:
    """Ten times the tokens take at most eleven times as long."""
    some = list(batch)[:200]
    small, large = ChainBatch.of(some), ChainBatch.of(some * 10)
    once, ten = median_seconds(
        lambda: constrained_ids(small, hard, xs[:200]),
        lambda: constrained_ids(large, hard, xs[:200] * 10),
        repeats=9,
    )
    return report("ten times the tokens", ten / once, at_most=11)


def flat_memory(batch: ChainBatch, hard: ChainConstraints, xs: list[dict[str, list[str]]]) -> bool:
    """A stream ten times as long peaks at the same memory, once its lists are known."""
    some = list(batch)[:200]

    def peak(times: int) -> int:
        tracemalloc.start()
        for _ in decode_batch(chain.from_iterable(repeat(some, times)), hard, cycle(xs[:200]), chunk=100):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak(1)
    return report("memory of a stream ten times as long", peak(10) / peak(1), at_most=1.1)


if __name__ == "__main__":
    sys.exit(main())
