"""What `lcons audit` finds of planted mistakes, beside cleanlab on the same out-of-fold model.

    LCONS_DATA_DIR=... .venv-integrations/bin/python tools/bench/audit.py [--sets lener-br cora] [--size 1500]

Of the spans of the first sentences of the pool of a set (`lcons run suite` describes them), 1, 3 and 5 % are
spoilt: removed, given another type, or moved by one token at one end, each as often. A sentence counts as
right among the first 50 if it holds a spoilt span; recall is the share of the spoilt sentences among as many
first ones. Real data hold mistakes of their own, which count as wrong here: all figures are lower bounds.

| way | sentences are ranked by |
|---|---|
| cleanlab | the least probability of a given label (its default), by the model that the audit reads, too |
| odds | the odds of the audit's findings |
| rarity | their score: the odds, and how rare the confusion is |
| audit | one of these two, as the audit chooses by itself |
| together | the mean of the ranks by cleanlab and by the audit |

The score was chosen on bc5cdr, wikiann-de, snips and wnut17 (`--developed`), which are not among the default
sets; when to use it was chosen on all eight. Exits with 1 if cleanlab is better than the audit on the mean.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

import numpy as np
from cleanlab.token_classification.rank import get_label_quality_scores

from lcons_core.learn import fold_bounds
from lcons_decode.chains import marginals_batch
from lcons_tasks.audit import _audit
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.suite._corpus import load_set
from lcons_tasks.stats import chunks

SETS = ("lener-br", "conll2000", "cora", "anystyle")
DEVELOPED = ("bc5cdr", "wikiann-de", "snips", "wnut17")
FIRST = 50
Span = tuple[str, int, int]


def spoil(sentences: Sequence[Sentence], share: float, seed: int) -> tuple[list[Sentence], set[int]]:
    """The sentences with a share of their spans spoilt, and the numbers of those that hold one."""
    rng = random.Random(seed)
    kinds = sorted({kind for sentence in sentences for kind, _, _ in chunks(sentence.labels)})
    places = [(i, span) for i, sentence in enumerate(sentences) for span in chunks(sentence.labels)]
    chosen = set(rng.sample(places, max(1, round(share * len(places)))))
    spoilt: list[Sentence] = []
    for i, sentence in enumerate(sentences):
        spans: list[Span] = list(chunks(sentence.labels))
        kept = [span for span in spans if (i, span) not in chosen]
        for span in spans:
            if (i, span) in chosen:
                others = {t for other in spans if other != span for t in range(other[1], other[2])}
                kept += _spoilt(span, len(sentence), others, kinds, rng)
        labels = ["O"] * len(sentence)
        for kind, first, stop in kept:
            labels[first:stop] = [f"B-{kind}", *[f"I-{kind}"] * (stop - first - 1)]
        spoilt.append(replace(sentence, labels=tuple(labels)))
    return spoilt, {i for i, _ in chosen}


def _spoilt(span: Span, length: int, others: set[int], kinds: list[str], rng: random.Random) -> list[Span]:
    kind, first, stop = span
    ways = ["removed", "moved", *(["renamed"] if len(kinds) > 1 else [])]
    way = rng.choice(ways)
    if way == "renamed":
        return [(rng.choice([other for other in kinds if other != kind]), first, stop)]
    moved = [(first + 1, stop), (first, stop - 1)] if stop - first > 1 else []
    moved += [(first - 1, stop)] if first and first - 1 not in others else []
    moved += [(first, stop + 1)] if stop < length and stop not in others else []
    if way == "removed" or not moved:
        return []
    return [(kind, *rng.choice(moved))]


def measure(name: str, size: int, share: float, seed: int) -> dict[str, tuple[float, float]]:
    """(precision among the first 50, recall among as many as were spoilt) of each way to rank."""
    spoilt, bad = spoil(load_set("suite", name).pool[:size], share, seed)
    kept: list[np.ndarray] = []
    out_of_fold = _audit._out_of_fold

    def recorded(*arguments, **named):  # type: ignore[no-untyped-def]
        for batch in out_of_fold(*arguments, **named):
            found = marginals_batch(batch)
            kept.extend(found[a:b] for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True))
            yield batch

    _audit._out_of_fold = recorded
    try:
        found = _audit.audit(spoilt)
    finally:
        _audit._out_of_fold = out_of_fold
    assert len(kept) == len(spoilt) == fold_bounds(len(spoilt), 5)[-1][1]
    labels = sorted({label for sentence in spoilt for label in sentence.labels})
    numbers = [[labels.index(label) for label in sentence.labels] for sentence in spoilt]
    quality, _ = get_label_quality_scores(numbers, kept)
    odds, rarity = np.full((2, len(spoilt)), -np.inf)
    for one in found.findings:
        at = one.sentence - 1
        odds[at], rarity[at] = max(odds[at], one.log_odds), max(rarity[at], one.score)
    ways = {"cleanlab": -np.asarray(quality), "odds": odds, "rarity": rarity}
    ways["audit"] = ways[found.rank]
    both = (ways["cleanlab"], ways["audit"])
    ranks = [np.argsort(np.argsort(scores, kind="stable"), kind="stable") for scores in both]
    ways["together"] = np.sum(ranks, axis=0)
    return {way: _figures(scores, bad) for way, scores in ways.items()}


def _figures(scores: np.ndarray, bad: set[int]) -> tuple[float, float]:
    order = [int(i) for i in np.argsort(-scores, kind="stable") if np.isfinite(scores[i])]
    first = sum(i in bad for i in order[:FIRST]) / FIRST
    return first, sum(i in bad for i in order[: len(bad)]) / len(bad)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--developed", action="store_const", const=DEVELOPED, dest="sets")
    parser.add_argument("--size", type=int, default=1500)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.01, 0.03, 0.05])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cells: list[dict[str, tuple[float, float]]] = []
    print(
        f"{'set':<12}{'spoilt':>7}   precision among the first {FIRST} / recall among as many as were spoilt"
    )
    for name in options.sets:
        for share in options.shares:
            cells.append(measure(name, options.size, share, options.seed))
            figures = "  ".join(f"{way} {p:.2f} / {r:.2f}" for way, (p, r) in cells[-1].items())
            print(f"{name:<12}{100 * share:>5.0f} %   {figures}", flush=True)
    for k, measure_name in enumerate(("precision", "recall")):
        means = {way: mean(cell[way][k] for cell in cells) for way in cells[0]}
        print(f"mean {measure_name}:", ", ".join(f"{way} {value:.3f}" for way, value in means.items()))
        for way, base in (("audit", "cleanlab"), ("together", "cleanlab"), ("audit", "odds")):
            # A set has several cells, so sets are drawn.
            gains = np.array([cell[way][k] - cell[base][k] for cell in cells]).reshape(len(options.sets), -1)
            rng = np.random.default_rng(0)
            drawn = gains.mean(axis=1)[rng.integers(len(gains), size=(10_000, len(gains)))].mean(axis=1)
            low, high = np.percentile(drawn, [2.5, 97.5])
            print(f"  {way} over {base}: {gains.mean():+.3f} [{low:+.3f}, {high:+.3f}], sets drawn")
    means = {way: mean(cell[way][0] for cell in cells) for way in cells[0]}
    return 0 if means["audit"] > means["cleanlab"] else 1


if __name__ == "__main__":
    sys.exit(main())
