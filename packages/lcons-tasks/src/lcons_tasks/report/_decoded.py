"""The output of `lcons decode --json` as a document: what constraints changed, and accuracy against gold.

    {"id", "words", "pos", "gold", ..., "labels", "without", "score", "status", "changed", "violations"}

One sequence per line; `without` are the best labels by the scores alone. The file of scores determines the
columns; `words` and `gold` have a meaning here. Other programs may have written the file, so pydantic checks
every line.

    accuracy = right labels / labels        span F1 = 2 right spans / (found spans + gold spans)

Intervals are paired bootstraps over sequences. The headline is span F1 if labels are spans (IOB, BIOES,
BILOU), otherwise accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import ne
from pathlib import Path

from lcons_tasks.report import _document as blocks
from lcons_tasks.report._document import Change
from lcons_tasks.report._predictions import read_predictions
from lcons_tasks.stats import LabelTally

# The name of the task of such files.
DECODE = "decode"
OUTCOMES = {"right": "from wrong to right", "wrong": "from right to wrong", "neither": "from wrong to wrong"}


def decoded_document(path: Path) -> blocks.Document:
    """The document of a file: counts of changes and, with gold labels, figures with their gains."""
    sequences = read_predictions(path)
    changes = [sequence.change for sequence in sequences]
    with_gold = [change for change in changes if change.gold]
    headline, figures = _against_gold(with_gold) if with_gold else (None, [])
    changed = [sum(map(ne, change.before, change.after)) for change in changes]
    labels = sum(len(change.after) for change in changes)
    became = Counter(
        "right" if after == gold else "wrong" if before == gold else "neither"
        for change in with_gold
        for before, after, gold in zip(change.before, change.after, change.gold or (), strict=True)
        if before != after
    )
    broken = Counter(name for sequence in sequences for name in set(sequence.broken))
    places = Counter(name for sequence in sequences for name in sequence.broken)
    statuses = Counter(sequence.status for sequence in sequences)
    rows = [
        ("all", len(sequences), labels),
        ("changed by constraints", sum(map(bool, changed)), sum(changed)),
        *((f"changed {words}", None, became[key]) for key, words in OUTCOMES.items() if with_gold),
        *((f"decoded with status {status}", number, None) for status, number in statuses.items()),
        *((f"still breaks {name}", broken[name], number) for name, number in places.items()),
    ]
    counts = blocks.Table("Changes by constraints", ("count of", "sequences", "labels"), tuple(rows))
    return blocks.Document(
        "Decoded sequences",
        DECODE,
        "",
        f"Constraints changed {sum(map(bool, changed)):,} of {len(sequences):,} sequences and"
        f" {sum(changed):,} of {labels:,} labels.",
        headline,
        (
            blocks.Section("Results", (*figures, counts)),
            blocks.Section("Sentences before and after", (blocks.Sentences(path.stem, file=path.name),)),
        ),
    )


def _against_gold(sequences: Sequence[Change]) -> tuple[blocks.Headline, list[blocks.Block]]:
    """The headline, the figures and the gains of sequences with gold labels."""
    tally = LabelTally()
    for change in sequences:
        tally.add(change.gold or (), change.before, change.after)
    gains, where = tally.gains(), f"{len(sequences):,} sequences"
    table = blocks.Table(
        f"Compared with gold: {tally.labels:,} labels of {where} with gold labels, in percent",
        ("labels", *(gain.measure for gain in gains)),
        (
            ("without constraints", *(blocks.Figure((gain.before,)) for gain in gains)),
            ("with constraints", *(blocks.Figure((gain.after,)) for gain in gains)),
        ),
    )
    intervals = tuple(
        blocks.Gain(f"with over without constraints, {gain.measure}", where, gain.interval)
        for gain in gains
        if gain.interval
    )
    measured: list[blocks.Block] = [table]
    if intervals:
        measured.append(blocks.Gains("Gains in points, with 95% intervals", intervals))
    main = gains[0]
    sides = blocks.Figure((main.before,)), blocks.Figure((main.after,))
    title = f"{main.measure}, {where}"
    return blocks.Headline(title, *sides, main.interval, within_is="with the given constraints"), measured
