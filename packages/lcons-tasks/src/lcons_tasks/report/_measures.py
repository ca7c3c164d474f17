"""Decoded sequences of the user as a document: what constraints changed, and accuracy against gold labels.

    accuracy = right labels / labels        span F1 = 2 right spans / (found spans + gold spans)

Intervals are paired bootstraps over sequences. The headline is span F1 if labels are spans (IOB, BIOES,
BILOU), otherwise accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import ne
from pathlib import Path
from typing import Any

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
from lcons_tasks.stats import Gain as MeasuredGain
from lcons_tasks.stats import LabelTally

SIDES = {"without": "without constraints", "with": "with constraints"}
HEADLINES = ("span F1", "token accuracy")


def measured(sequences: Iterable[Decoded]) -> dict[str, Any]:
    """Counts of changes, of statuses and of remaining violations; and figures on sequences with gold
    labels."""
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
    tally = LabelTally()
    for one in kept:
        tally.add(one.gold or (), one.without, one.labels)
    gains = {gain.measure: gain for gain in tally.gains()}
    accuracy, spans = gains["token accuracy"], gains.get("span F1")
    figures = {accuracy.measure: _figures(accuracy)}
    counts = tally.span_counts()
    if spans is not None and counts is not None:
        sides = dict(zip(SIDES, counts, strict=True))
        for name, i in (("span precision", 1), ("span recall", 2)):
            figures[name] = {side: 100 * own[0] / max(own[i], 1) for side, own in sides.items()}
        figures[spans.measure] = _figures(spans)
    return {"labels": tally.labels, "became": _became(kept), "figures": figures}


def _figures(gain: MeasuredGain) -> dict[str, Any]:
    return {"without": gain.before, "with": gain.after, "interval": gain.interval}


def _became(kept: Sequence[Decoded]) -> dict[str, int]:
    """The numbers of changed labels that are now right, that were right before, and that are neither."""
    became = Counter(
        "right" if after == gold else "wrong" if before == gold else "neither"
        for one in kept
        for before, after, gold in zip(one.without, one.labels, one.gold or (), strict=True)
        if before != after
    )
    return {name: became[name] for name in ("right", "wrong", "neither")}


def decoded_document(path: Path) -> Document:
    """The document of a file in the format of `lcons decode --json`."""
    return document_of(measured(read_decoded(path)), path.name)


def document_of(results: Mapping[str, Any], file: str) -> Document:
    """The document of counts of changes; with gold labels, one column per measure and the gain of each."""
    sequences, labels, gold = results["sequences"], results["labels"], results["gold"]
    changed = _changed(results)
    figures: Mapping[str, Any] = gold["figures"] if gold else {}
    blocks = _against(figures, sequences["gold"], gold["labels"]) if gold else ()
    return Document(
        "Decoded sequences",
        DECODE,
        "",
        f"Constraints changed {sequences['changed']:,} of {sequences['all']:,} sequences and"
        f" {labels['changed']:,} of {labels['all']:,} labels.",
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
    return Headline(measure, without, within, own["interval"], within_is="with the given constraints")


def _against(figures: Mapping[str, Any], sequences: int, labels: int) -> tuple[Table | Gains, ...]:
    rows: list[tuple[TableCell, ...]] = [
        (row, *(Figure((one[side],)) for one in figures.values())) for side, row in SIDES.items()
    ]
    caption = f"Compared with gold: {labels:,} labels of {sequences:,} sequences with gold labels, in percent"
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
        ("all", sequences["all"], labels["all"]),
        ("changed by constraints", *(_share(own) for own in (sequences, labels))),
    ]
    if gold:
        became = gold["became"]
        rows += [
            ("changed from wrong to right", None, became["right"]),
            ("changed from right to wrong", None, became["wrong"]),
            ("changed from wrong to wrong", None, became["neither"]),
        ]
    rows += [
        (f"decoded with status {status}", number, None) for status, number in results["statuses"].items()
    ]
    if sequences["words"] < sequences["all"]:
        rows.append(("without words (shown as positions)", sequences["all"] - sequences["words"], None))
    found = [Table("Changes by constraints", ("count of", "sequences", "labels"), tuple(rows))]
    broken = results["violations"]
    if broken:
        body = tuple((name, one["sequences"], one["places"]) for name, one in broken.items())
        found.append(Table("Remaining violations", ("constraint", "sequences", "places"), body))
    return found


def _share(own: Mapping[str, int]) -> str:
    return f"{own['changed']:,} ({100 * own['changed'] / max(own['all'], 1):.1f}%)"
