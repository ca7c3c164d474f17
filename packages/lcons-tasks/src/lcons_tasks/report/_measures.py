"""Decoded sequences as figures: what constraints changed and, against gold labels, what that is worth.

    accuracy = right labels / labels        span F1 = 2 right spans / (found spans + gold spans)

Intervals are paired bootstraps over sequences; of very many, neighbours are drawn together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import eq, ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_tasks.report._decoded import Decoded
from lcons_tasks.report._spans import are_iob, spans_of
from lcons_tasks.stats import Interval, bootstrap_f1, f1, paired_bootstrap

# What is drawn 2000 times.
MOST_DRAWN = 4000

Counts = NDArray[np.int64]


def measured(sequences: Iterable[Decoded]) -> dict[str, Any]:
    """Counts of changes, of statuses and of violations that remain; of those with gold labels, figures."""
    kept = list(sequences)
    changed = [sum(map(ne, one.without, one.labels)) for one in kept]
    broken = [Counter(one.broken) for one in kept]
    names = dict.fromkeys(name for one in broken for name in one)
    with_gold = [one for one in kept if one.gold]
    return {
        "sequences": {
            "all": len(kept),
            "changed": sum(map(bool, changed)),
            "gold": len(with_gold),
            "words": sum(one.words is not None for one in kept),
        },
        "labels": {"all": sum(len(one.labels) for one in kept), "changed": sum(changed)},
        "statuses": dict(Counter(one.status for one in kept)),
        "violations": {
            name: {
                "places": sum(one[name] for one in broken),
                "sequences": sum(name in one for one in broken),
            }
            for name in names
        },
        "gold": _against_gold(with_gold) if with_gold else None,
    }


def _against_gold(kept: Sequence[Decoded]) -> dict[str, Any]:
    golds = [one.gold or () for one in kept]
    sides = {"without": [one.without for one in kept], "with": [one.labels for one in kept]}
    sizes = np.array([len(gold) for gold in golds])
    right = {
        name: np.array([sum(map(eq, found, gold)) for found, gold in zip(side, golds, strict=True)])
        for name, side in sides.items()
    }
    figures = {
        "token accuracy": {
            **{name: float(100 * own.sum() / sizes.sum()) for name, own in right.items()},
            "interval": _interval(
                paired_bootstrap([_pooled(right["with"])], [_pooled(right["without"])], _pooled(sizes)),
                len(kept),
            ),
        }
    }
    if are_iob({label for side in (golds, *sides.values()) for labels in side for label in labels}):
        figures |= _of_spans(golds, sides)
    return {"labels": int(sizes.sum()), "became": _became(kept), "figures": figures}


def _of_spans(golds: Sequence[Sequence[str]], sides: dict[str, list[tuple[str, ...]]]) -> dict[str, Any]:
    counts = {
        name: np.array([_span_counts(g, found) for g, found in zip(golds, side, strict=True)])
        for name, side in sides.items()
    }
    total = {name: own.sum(0) for name, own in counts.items()}
    sure = bootstrap_f1([_pooled(counts["with"])], [_pooled(counts["without"])])
    return {
        "span precision": {name: float(100 * own[0] / max(own[1], 1)) for name, own in total.items()},
        "span recall": {name: float(100 * own[0] / max(own[2], 1)) for name, own in total.items()},
        "span F1": {
            **{name: float(f1(own)) for name, own in total.items()},
            "interval": _interval(sure, len(golds)),
        },
    }


def _span_counts(gold: Sequence[str], found: Sequence[str]) -> tuple[int, int, int]:
    there, claimed = set(spans_of(gold, True)), set(spans_of(found, True))
    return len(there & claimed), len(claimed), len(there)


def _became(kept: Sequence[Decoded]) -> dict[str, int]:
    """Of the labels that changed, how many are right now, were right before, and were and are wrong."""
    became = Counter(
        "right" if after == gold else "wrong" if before == gold else "neither"
        for one in kept
        for before, after, gold in zip(one.without, one.labels, one.gold or (), strict=True)
        if before != after
    )
    return {name: became[name] for name in ("right", "wrong", "neither")}


def _pooled(counts: Counts) -> Counts:
    """Counts (N, ...) by sequence, neighbours added up where there are too many to draw from."""
    if len(counts) <= MOST_DRAWN:
        return counts
    firsts = np.linspace(0, len(counts), MOST_DRAWN, endpoint=False).astype(np.intp)
    return np.asarray(np.add.reduceat(counts, firsts, axis=0))


def _interval(found: Interval, sequences: int) -> dict[str, float] | None:
    """Plain data; a single sequence says nothing about others."""
    return asdict(found) if sequences > 1 else None
