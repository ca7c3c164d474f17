"""Decoded sequences of one's own as a document: what constraints changed and, against gold labels, what that
is worth.

    accuracy = right labels / labels        span F1 = 2 right spans / (found spans + gold spans)

Intervals are paired bootstraps over sequences; of very many, neighbours are drawn together. The headline is
span F1 where labels are IOB, as in the field, else accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import eq, ne
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_tasks.report._decoded import DECODE, Decoded, read_decoded
from lcons_tasks.report._document import (
    Document,
    Figure,
    Gain,
    Gains,
    Headline,
    Section,
    Sentences,
    Table,
    TableCell,
)
from lcons_tasks.report._spans import are_iob, spans_of
from lcons_tasks.stats import Interval, bootstrap_f1, f1, paired_bootstrap

# What is drawn 2000 times.
MOST_DRAWN = 4000

SIDES = {"without": "without constraints", "with": "with constraints"}
HEADLINES = ("span F1", "token accuracy")

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


def _interval(found: Interval, sequences: int) -> Interval | None:
    """The interval; a single sequence says nothing about others."""
    return found if sequences > 1 else None


def decoded_document(path: Path) -> Document:
    """The document of a file that `lcons decode --json` wrote."""
    return document_of(measured(read_decoded(path)), path.name)


def document_of(results: Mapping[str, Any], file: str) -> Document:
    """Counts of changes; with gold labels, a column per measure and the gain of each."""
    sequences, labels, gold = results["sequences"], results["labels"], results["gold"]
    changed = _changed(results)
    figures: Mapping[str, Any] = gold["figures"] if gold else {}
    blocks = _against(figures, sequences["gold"], gold["labels"]) if gold else ()
    return Document(
        "Decoded sequences",
        DECODE,
        "",
        f"{sequences['changed']:,} of {sequences['all']:,} sequences changed, {labels['changed']:,} of"
        f" {labels['all']:,} labels.",
        _headline(figures, sequences["gold"]) if gold else None,
        (
            Section("Results", (*blocks, *changed)),
            Section("Sentences before and after", (Sentences(Path(file).stem, file=file),)),
        ),
    )


def _headline(figures: Mapping[str, Any], sequences: int) -> Headline:
    name = next(name for name in HEADLINES if name in figures)
    own = figures[name]
    without, within = (Figure((own[side],)) for side in SIDES)
    measure = f"{name}, {sequences:,} sequences"
    return Headline(measure, without, within, own["interval"], within_is="with those given")


def _against(figures: Mapping[str, Any], sequences: int, labels: int) -> tuple[Table | Gains, ...]:
    rows: list[tuple[TableCell, ...]] = [
        (row, *(Figure((one[side],)) for one in figures.values())) for side, row in SIDES.items()
    ]
    caption = f"Against gold: {labels:,} labels of {sequences:,} sequences with gold labels, %"
    gains = tuple(
        Gain(f"with over without constraints, {name}", f"{sequences:,} sequences", one["interval"])
        for name, one in figures.items()
        if one.get("interval")
    )
    table = Table(caption, ("labels", *figures), tuple(rows), best=True)
    return (table, Gains("Gains in points, with 95% intervals", gains)) if gains else (table,)


def _changed(results: Mapping[str, Any]) -> list[Table]:
    sequences, labels, gold = results["sequences"], results["labels"], results["gold"]
    rows: list[tuple[TableCell, ...]] = [
        ("in all", sequences["all"], labels["all"]),
        ("changed by constraints", *(_share(own) for own in (sequences, labels))),
    ]
    if gold:
        became = gold["became"]
        rows += [
            ("changed to right", None, became["right"]),
            ("changed from right to wrong", None, became["wrong"]),
            ("changed from wrong to wrong", None, became["neither"]),
        ]
    rows += [(f"decoded: {status}", number, None) for status, number in results["statuses"].items()]
    if sequences["words"] < sequences["all"]:
        rows.append(("no words: positions stand for them", sequences["all"] - sequences["words"], None))
    found = [Table("What the constraints changed", ("", "sequences", "labels"), tuple(rows))]
    broken = results["violations"]
    if broken:
        body = tuple((name, one["sequences"], one["places"]) for name, one in broken.items())
        found.append(Table("Violations that remain", ("constraint", "sequences", "places"), body))
    return found


def _share(own: Mapping[str, int]) -> str:
    return f"{own['changed']:,} ({100 * own['changed'] / max(own['all'], 1):.1f}%)"
