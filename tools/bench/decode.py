"""Decoding speed on CoNLL-2000 (2012 sentences, 47,377 tokens), beside pytorch-crf's unconstrained decode.

Emissions are smoothed log-probabilities of labels given words and suffixes, transitions those of label
bigrams, and constraints POS n-grams with K = 10, all from the first sentences of the training file. Times are
of the same tokens in one run, medians, from scores and tags to label indices; lists of allowed n-grams are
found once, and compared with version 0.1.0. "codes" gives the tags as one `CodedColumn`, "strings" as lists.
Relaxed decoding is timed with a constraint that also rejects half of the training windows, so that most
sentences cannot satisfy it. Beside each figure: the share of the kernels alone, and of writing the answer, as
the names of labels. Needs LCONS_DATA_DIR. Arguments select parts by words of their names: `decode.py "hard
n=3" lists`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, cycle, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from released import run_released
from timing import median_seconds, report
from torchcrf import CRF

from lcons_core import (
    LearnedConstraint,
    Recipe,
    RectifierNetwork,
)
from lcons_core.features import NgramContext
from lcons_decode import (
    ChainBatch,
    ChainConstraints,
    ChainScores,
    Hard,
    Soft,
    beam_search,
    constrained_viterbi_batch,
    decode_batch,
)
from lcons_decode.chains._beam import beam_search_batch

if sys.argv[1:2] != ["--lists"]:  # run by 0.1.0, too, which lacks these names
    from lcons_core import CodedColumn
    from lcons_decode import constrained_ids
    from lcons_decode.chains._viterbi import viterbi_ids
    from lcons_decode.chains._windows import lay_out
    from lcons_decode.kernels import _compiled, share_rows
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


def first_lists(constraint_file: Path, scores_file: Path) -> float:
    """Seconds that the first decoding of the test sentences takes, with the lcons that is imported; kernels
    are compiled before."""
    from lcons_core import load

    use, arrays = load(constraint_file), np.load(scores_file)
    labels = tuple(arrays["labels"].tolist())
    names = ("transition", "start", "stop")
    whole = ChainScores(arrays["emission"], *(arrays[name] for name in names), labels=labels)
    ends = np.cumsum([len(y) for _, y in read("test.txt")])[:-1]
    parts = np.split(whole.emission, ends)
    model = (whole.transition, whole.start, whole.stop)
    batch = ChainBatch.of([ChainScores(part, *model, labels=labels) for part in parts])
    xs = [x for x, _ in read("test.txt")]
    few = [i for i in range(len(xs)) if len(parts[i]) > 20][:70]
    constrained_viterbi_batch(
        [ChainScores(parts[i], *model, labels=labels) for i in few], [Hard(use)], [xs[i] for i in few]
    )
    compiled = ChainConstraints.of([Hard(use)], labels)
    begin = time.perf_counter()
    constrained_viterbi_batch(batch, compiled, xs)
    return time.perf_counter() - begin


def lists_ratio(use: LearnedConstraint, batch: ChainBatch) -> bool:
    """The first decoding, with lists of all windows, over that of 0.1.0."""
    with TemporaryDirectory() as folder:
        constraint_file, scores_file = Path(folder) / "constraint", Path(folder) / "scores.npz"
        use.save(constraint_file)
        names = ("emission", "transition", "start", "stop")
        arrays = {name: getattr(batch, name) for name in names}
        np.savez(scores_file, **arrays, labels=np.array(batch.labels))
        arguments = [__file__, "--lists", str(constraint_file), str(scores_file)]
        ours = float(subprocess.run([sys.executable, *arguments], check=True, capture_output=True).stdout)
        theirs = float(run_released(*arguments))
    print(f"   the first decoding, with its lists: {ours:.2f} s, 0.1.0 {theirs:.2f} s")
    return report("the first decoding over 0.1.0, n = 4", theirs / ours, at_least=4.8)


def shares(batch: ChainBatch, compiled: ChainConstraints, columns: Columns, seconds: float) -> str:
    """How much of a time the kernels alone take, and how much writing the names of labels would add."""
    layout = lay_out(batch, compiled, columns)
    y, scores = np.zeros(len(batch.emission), dtype=np.int64), np.zeros(len(batch))
    how = np.zeros(len(batch), dtype=np.int64)

    def run(first: int, last: int) -> None:
        if compiled.hard or not compiled.soft:
            _compiled.constrained_many(layout.chain, layout.lists, first, last, y, scores, how)
        if compiled.soft:
            _compiled.soft_many(
                layout.chain, layout.lists, layout.units, layout.m, first, last, y, scores, how
            )

    def write() -> list[str]:
        return list(map(batch.labels.__getitem__, y.tolist()))

    alone, written = median_seconds(lambda: share_rows(run, len(batch)), write, repeats=5)
    kernel_share, written_share = 100 * alone / seconds, 100 * written / seconds
    return f"kernels {kernel_share:.0f} % of the time; writing labels adds {written_share:.0f} %"


WEIGHTS = (0.5, 1.0, 2.0)
# Times pytorch-crf's unconstrained decode.
TARGETS = {
    ("hard codes", 3): 15.0,
    ("hard strings", 3): 8.0,
    ("relaxed codes", 3): 4.0,
    ("soft", 3): 4.0,
    ("hard codes", 4): 4.0,
    ("soft", 4): 4.0,
}


def selected(size: int, n: int) -> list[str]:
    """The parts to run with the constraint of `size` training sentences: those that have all words of one of
    the arguments, or all parts."""
    names = ["hard codes", "hard strings", "relaxed codes", *(f"soft {w:g} codes" for w in WEIGHTS)]
    names += ["lists"] if n == 4 else ["viterbi", "beam", "growth"] if size == 80 else []
    given = [set(argument.split()) for argument in sys.argv[1:]] or [set()]
    return [name for name in names if any(own <= {*name.split(), f"n={n}", str(size)} for own in given)]


def main() -> int:
    train, test = read("train.txt"), read("test.txt")
    xs = [x for x, _ in test]
    tokens = sum(len(y) for _, y in test)
    column = CodedColumn.joined([x["pos"] for x in xs])
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    met = []
    for size, n in ((80, 3), (2000, 3), (2000, 4)):
        parts = selected(size, n)
        if not parts:
            continue
        scores = model(train[:size], test)
        batch, batches = ChainBatch.of(scores), pytorch_crf(scores)
        use = constraint(train[:size], n)
        print(f"-- first {size} training sentences, n = {n}, {len(scores[0].labels)} labels")
        hard = ChainConstraints.of([Hard(use)], batch.labels)
        relaxed = ChainConstraints.of([Hard(strict(use, train[:size]))], batch.labels)
        softs = {w: ChainConstraints.of([Soft(use, w)], batch.labels) for w in WEIGHTS}
        every = np.arange(len(test))
        fits = np.flatnonzero(constrained_ids(batch, hard, xs)[2] != How.RELAXED)
        breaks = np.flatnonzero(constrained_ids(batch, relaxed, xs)[2] == How.RELAXED)
        runs = {"hard codes": (hard, fits), "hard strings": (hard, fits), "relaxed codes": (relaxed, breaks)}
        runs |= {f"soft {w:g} codes": (soft, every) for w, soft in softs.items()}
        reference, free = median_seconds(partial(decode_all, batches), partial(viterbi_ids, batch), repeats=5)
        print(f"   pytorch-crf {tokens / reference:,.0f} tokens a second")
        if "viterbi" in parts:
            theirs = np.concatenate(decode_all(pytorch_crf(scores, torch.float64)))
            same = np.array_equal(theirs, viterbi_ids(batch)[0])
            print(f"   the same labels as pytorch-crf in float64: {same}")
            met.append(same)
            met.append(report("viterbi, tokens a second over pytorch-crf's", reference / free, at_least=3))
        for name, (compiled, which) in runs.items():
            own = ChainBatch.of([scores[i] for i in which]) if len(which) else batch
            if name not in parts or len(own.emission) < 2000:
                continue  # a handful of sentences would time the overhead of a call
            pieces = [column[batch.offsets[i] : batch.offsets[i + 1]] for i in which]
            packed: Columns = {"pos": CodedColumn.joined(pieces)}
            columns = [xs[i] for i in which] if "strings" in name else packed
            constrained_ids(own, compiled, columns)
            decode = partial(constrained_ids, own, compiled, columns)
            seconds, again = median_seconds(decode, partial(decode_all, batches), repeats=7)
            speed = len(own.emission) / seconds / (tokens / again)
            target = TARGETS.get((name.split()[0] if "soft" in name else name, n))
            claim = f"{name}, n = {n}, {len(own.emission):,} tokens"
            print(f"   {len(own.emission) / seconds:,.0f} a second; {shares(own, compiled, packed, seconds)}")
            if target is not None:
                met.append(report(claim, speed, at_least=target))
            else:
                print(f"     {claim}: {speed:.2f}x")
        if "lists" in parts:
            met.append(lists_ratio(use, batch))
        if "beam" in parts:
            met += beam_ratio(scores, use, hard, xs, tokens)
        if "growth" in parts:
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
    if sys.argv[1:2] == ["--lists"]:
        print(first_lists(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        sys.exit(main())
