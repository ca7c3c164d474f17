"""An audit as text, and as a document (Markdown, a page)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from lcons_tasks.audit._audit import Audit, Finding
from lcons_tasks.report._document import Change, Document, Facts, Section, Sentences, Text

MOST = 50
# Larger odds are no surer in practice.
LARGEST = 1e6


def odds(finding: Finding) -> str:
    """The odds in words.

    >>> from lcons_tasks.audit import Finding
    >>> odds(Finding(1, 0, 1, ("O",), ("B-X",), 3.0, (), clearest=0))
    '20 to 1'
    """
    value = math.exp(min(finding.log_odds, math.log(LARGEST)))
    return f"{value:,.0f} to 1" if value >= 9.5 else f"{value:.1f} to 1"


def rarity(finding: Finding) -> str:
    """How often the sources would relabel alike, in words.

    >>> from lcons_tasks.audit import Finding
    >>> rarity(Finding(1, 0, 1, ("O",), ("B-X",), 3.0, (), clearest=0, alike=2, others=1300))
    'O is read as B-X in 2 of 1,300 other places'
    """
    given, proposed = finding.confusion
    return f"{given} is read as {proposed} in {finding.alike:,} of {finding.others:,} other places"


def labels(finding: Finding) -> str:
    """The labels and the odds in words."""
    return f"given {' '.join(finding.given)}, proposed {' '.join(finding.proposed)}, {odds(finding)}"


def finding_lines(audit: Audit, finding: Finding, place: str = "") -> Iterator[str]:
    """A finding in words: where, the labels, the odds, the strongest rules, and how rare it is. `place` is
    where it begins, such as the file and the line."""
    words = audit.sentences[finding.sentence - 1].words
    left = " ".join(words[max(0, finding.first - 5) : finding.first])
    marked = " ".join(words[finding.first : finding.stop])
    right = " ".join(words[finding.stop : finding.stop + 5])
    where = f"{place}: " if place else ""
    yield f"{where}sentence {finding.sentence}: {left} [{marked}] {right}".replace("  ", " ").rstrip()
    yield f"  {labels(finding)}"
    yield from (f"  because {reason.rule}" for reason in finding.reasons if reason.tells)
    yield f"  and {rarity(finding)}"


def audit_document(
    audit: Audit, corpus: str, most: int = MOST, place: Callable[[Finding], str] = lambda finding: ""
) -> Document:
    """The first findings as a document, each with its `place`, its sentence, its relabelling and the rule."""
    changes = []
    for finding in audit.findings[:most]:
        reasons = [reason.rule for reason in finding.reasons if reason.tells]
        where = f"{place(finding)} sentence {finding.sentence}".strip()
        sentence = audit.sentences[finding.sentence - 1]
        rule = f"{where}: {labels(finding)}; {''.join(reasons[:1])}"
        why = "; ".join([*reasons[1:], rarity(finding)])
        changes.append(Change(sentence.words, sentence.labels, audit.relabelled(finding), rule=rule, why=why))
    weights = tuple((name, f"{weight:.2f}") for name, weight in audit.weights.items())
    shown: Text | Sentences = (
        Sentences("labels that the rest of the data contradicts", tuple(changes), sides=("given", "proposed"))
        if changes
        else Text("No label is contradicted by the rest of the data.")
    )
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
