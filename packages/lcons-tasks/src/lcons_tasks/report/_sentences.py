"""Sentences before and after decoding with constraints, as the page shows them.

Spans are marked with their labels, dashed where gold has no such span. Words whose label changed are
stressed, and the rule behind the change stands below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ne
from pathlib import Path

from lcons_core import load
from lcons_tasks.report._document import Change, Sentences
from lcons_tasks.report._predictions import Answered, read_predictions
from lcons_tasks.report._reasons import reason
from lcons_tasks.report._run import Run
from lcons_tasks.report._spans import (
    Side,
    change_links,
    change_spans,
    gain,
    has_links,
    is_changed,
)

COLOURS = 12
# Reasons are computed for so many sentences of a file.
MOST_REASONS = 60

Colours = Mapping[str, int]
Word = tuple[str, bool]


@dataclass(frozen=True)
class Mark:
    """Words one after another, each with whether its label changed; in a span, its label and colour."""

    words: tuple[Word, ...]
    label: str = ""
    colour: int = 0
    wrong: bool = False


@dataclass(frozen=True)
class LinkMark:
    """A relation between two spans."""

    source: str
    label: str
    target: str
    colour: int
    wrong: bool


@dataclass(frozen=True)
class AnswerLine:
    """One answer: `links` is None where there are no relations at all."""

    name: str
    marks: tuple[Mark, ...]
    links: tuple[LinkMark, ...] | None


@dataclass(frozen=True)
class SentenceItem:
    """A sentence with its answers; `state` is better, worse or even, `wrong` whether errors remain."""

    name: str
    badge: str
    state: str
    note: str
    lines: tuple[AnswerLine, ...]
    rule: str
    why: str
    file: int
    changed: bool
    wrong: bool


@dataclass(frozen=True)
class SentencesView:
    """The sentences of some files, and what is said above them."""

    id: str
    names: tuple[str, ...]
    notes: tuple[str, ...]
    items: tuple[SentenceItem, ...]
    gold: bool
    bare: bool


def sentences_view(
    run: Run, blocks: Sequence[Sentences], most: int, id: str, say: Callable[[str], None]
) -> SentencesView | None:
    """The sentences of blocks, `most` of each; None where there is nothing to show."""
    known = [(block, found) for block in blocks if (found := answered(run, block))]
    if most < 1:
        for block, found in known:
            say(f"{block.name}: all {len(found):,} sentences left out")
        return None
    colour = colours([one.change for _, found in known for one in found])
    items: list[SentenceItem] = []
    notes = []
    for number, (block, found) in enumerate(known):
        kept = chosen([one.change for one in found], most)
        changed = sum(is_changed(one.change) for one in found)
        left_out = len(found) - len(kept)
        said = f"{block.name}: {changed:,} of {len(found):,} sentences changed"
        notes.append(said + (f", {left_out:,} sentences are not on this page" if left_out else ""))
        say(f"{said}; {len(kept):,} shown" + (f", {left_out:,} left out" if left_out else ""))
        because = _reasons(run, block, [found[i] for i in kept])
        items += [sentence_item(found[i], colour, number, because) for i in kept]
    if not items:
        return None
    golds = [one.change.gold is not None for _, found in known for one in found]
    names = tuple(block.name for block, _ in known)
    return SentencesView(id, names, tuple(notes), tuple(items), any(golds), not all(golds))


def answered(run: Run, block: Sentences) -> list[Answered]:
    """The sentences of a block: those of its file, else those that the document holds."""
    if block.file is not None:
        found = read_predictions(run.folder / block.file)
        if found is not None:
            return found
    return [Answered(str(i), one) for i, one in enumerate(block.changes, 1)]


def _reasons(run: Run, block: Sentences, shown: Sequence[Answered]) -> dict[Change, tuple[str, str]]:
    """The rule behind each change: as the document says, else as its constraints say."""
    told = {(one.words, one.before, one.after): (one.rule, one.why) for one in block.changes}
    files: list[Path] = [run.folder / file for file in block.constraints] or list(run.constraints)
    constraints = {path.stem: load(path) for path in files}
    found: dict[Change, tuple[str, str]] = {}
    left = MOST_REASONS
    for one in shown:
        change = one.change
        known = told.get((change.words, change.before, change.after))
        if known is not None:
            found[change] = known
        elif constraints and left and is_changed(change) and {"before", "after"} <= one.structures.keys():
            found[change] = reason(one.structures["before"], one.structures["after"], constraints)
            left -= 1
    return found


def chosen(changes: Sequence[Change], most: int) -> list[int]:
    """Which sentences are shown, in their order: those that changed, and others up to `most`."""
    changed = [i for i, one in enumerate(changes) if is_changed(one)]
    others = [i for i, one in enumerate(changes) if not is_changed(one)]
    return sorted([*changed, *others][:most])


def colours(changes: Sequence[Change]) -> dict[str, int]:
    """A colour per label; the most frequent ones have colours of their own."""
    counts: Counter[str] = Counter()
    sides: tuple[Side, ...] = ("before", "after", "gold")
    for one in changes:
        for side in sides:
            counts.update(label for label, _, _ in change_spans(one, side))
            counts.update(label for _, _, label in change_links(one, side))
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    return {label: i % COLOURS for i, label in enumerate(ordered)}


def sentence_item(
    one: Answered, colour: Colours, file: int, because: Mapping[Change, tuple[str, str]]
) -> SentenceItem:
    """A sentence with its answers, each held against gold, or without it against the other."""
    change = one.change
    changed = is_changed(change)
    pairs: dict[str, tuple[Side, Side]] = {"both": ("after", "after")}
    if changed:
        pairs = {"without": ("before", "after"), "with": ("after", "before")}
    if change.gold is not None:
        pairs = {name: (own, "gold") for name, (own, _) in pairs.items()} | {"gold": ("gold", "gold")}
    badge, state = _badge(change) if changed else ("", "")
    rule, why = because.get(change, (change.rule, change.why))
    wrong = change.gold is not None and (change.after, change.links_after) != (
        change.gold,
        change.links_gold or (),
    )
    lines = [
        AnswerLine(name, marked(change, own, against, colour), linked(change, own, against, colour))
        for name, (own, against) in pairs.items()
    ]
    return SentenceItem(one.name, badge, state, one.note, tuple(lines), rule, why, file, changed, wrong)


def marked(one: Change, side: Side, against: Side, colour: Colours) -> tuple[Mark, ...]:
    """The words of a side, spans as marks of their own; wrong where the other side has no such span."""
    moved = [a != b and side != "gold" for a, b in zip(one.before, one.after, strict=True)]
    words = list(zip(one.words, moved, strict=True))
    right = set(change_spans(one, against))
    marks = []
    at = 0
    for label, first, after in change_spans(one, side):
        if first > at:
            marks.append(Mark(tuple(words[at:first])))
        wrong = (label, first, after) not in right
        marks.append(Mark(tuple(words[first:after]), label, colour.get(label, 0), wrong))
        at = after
    return (*marks, Mark(tuple(words[at:]))) if at < len(words) else tuple(marks)


def linked(one: Change, side: Side, against: Side, colour: Colours) -> tuple[LinkMark, ...] | None:
    """The relations of a side; wrong where the other side has no such relation."""
    if not has_links(one):
        return None
    texts = {first: " ".join(one.words[first:after]) for _, first, after in change_spans(one, side)}
    right = set(change_links(one, against))
    return tuple(
        LinkMark(
            texts.get(i, one.words[i]),
            label,
            texts.get(j, one.words[j]),
            colour.get(label, 0),
            (i, j, label) not in right,
        )
        for i, j, label in change_links(one, side)
    )


def _badge(one: Change) -> tuple[str, str]:
    """How many more labels are right, or without gold labels how many changed."""
    if one.gold is None:
        changed = sum(map(ne, one.before, one.after))
        return f"{changed:,} label{'s'[: changed != 1]} changed", "even"
    more = gain(one)
    verdict = f"{more:+d}".replace("-", "\N{MINUS SIGN}") if more else "as many"
    return f"{verdict} right", "better" if more > 0 else "worse" if more < 0 else "even"
