"""An audit as text, and as a document (Markdown, a page)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from lcons_tasks.audit._audit import Audit, Finding
from lcons_tasks.report._document import Block, Change, Document, Facts, Section, Sentences, Text

MOST = 50
# Larger odds are no surer in practice.
LARGEST = 1e6


def in_words(finding: Finding) -> tuple[str, list[str], str]:
    """The labels and the odds, the rules that speak for the relabelling, and how often the sources would
    relabel alike.

    >>> from lcons_tasks.audit import Finding
    >>> in_words(Finding(1, 0, 1, ("O",), ("B-X",), 3.0, (), clearest=0, alike=2, others=1300))
    ('given O, proposed B-X, 20 to 1', [], 'O is read as B-X in 2 of 1,300 other places')
    """
    odds = math.exp(min(finding.log_odds, math.log(LARGEST)))
    labels = (
        f"given {' '.join(finding.given)}, proposed {' '.join(finding.proposed)},"
        f" {odds:,.{0 if odds >= 9.5 else 1}f} to 1"
    )
    rules = [reason.rule for reason in finding.reasons if reason.log_odds > 0 and reason.places != 0]
    given, proposed = finding.confusion
    return (
        labels,
        rules,
        f"{given} is read as {proposed} in {finding.alike:,} of {finding.others:,} other places",
    )


def finding_lines(audit: Audit, finding: Finding, place: str = "") -> Iterator[str]:
    """A finding in words: where, the labels, the odds, the strongest rules, and how rare it is. `place` is
    where it begins, such as the file and the line."""
    words = audit.sentences[finding.sentence - 1].words
    left = " ".join(words[max(0, finding.first - 5) : finding.first])
    marked = " ".join(words[finding.first : finding.stop])
    right = " ".join(words[finding.stop : finding.stop + 5])
    where = f"{place}: " if place else ""
    yield f"{where}sentence {finding.sentence}: {left} [{marked}] {right}".replace("  ", " ").rstrip()
    labels, rules, rarity = in_words(finding)
    yield from (f"  {labels}", *(f"  because {rule}" for rule in rules), f"  and {rarity}")


def audit_document(
    audit: Audit, corpus: str, most: int = MOST, place: Callable[[Finding], str] = lambda finding: ""
) -> Document:
    """The first findings as a document, each with its `place`, its sentence, its relabelling and the rule."""
    changes = []
    for finding in audit.findings[:most]:
        sentence = audit.sentences[finding.sentence - 1]
        labels, rules, rarity = in_words(finding)
        where = f"{place(finding)} sentence {finding.sentence}".strip()
        rule, why = f"{where}: {labels}; {''.join(rules[:1])}", "; ".join([*rules[1:], rarity])
        changes.append(Change(sentence.words, sentence.labels, audit.relabelled(finding), rule=rule, why=why))
    weights = tuple((name, f"{weight:.2f}") for name, weight in audit.weights.items())
    shown: Block = Text("No label is contradicted by the rest of the data.")
    if changes:
        name = "labels that the rest of the data contradicts"
        shown = Sentences(name, tuple(changes), sides=("given", "proposed"))
    return Document(
        "An audit of labels",
        "audit",
        corpus,
        f"{len(audit.findings):,} findings in {len(audit.sentences):,} sentences, the clearest first, by"
        f" {audit.rank}; {audit.doubtful:,} other differences have too little evidence. Every source was"
        " counted or trained without the sentence that it judges. A person decides: a rare but right label"
        " also contradicts the rest.",
        sections=(
            Section("Findings", (shown,)),
            Section("Sources", (Facts("Weights, by the likelihood of the given labels", weights),)),
        ),
    )
