"""Sentences in which constraints changed the answer, with the forbidden combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lcons_core import LearnedConstraint, why
from lcons_tasks.data._passage import NO_RELATION, Labelled, Passage
from lcons_tasks.experiments.entity_relation._measures import Answer, count
from lcons_tasks.report._predictions import iob_labels

# Longer sentences take long to read.
LONGEST = 30


def changed(
    passages: Sequence[Labelled],
    before: Sequence[Answer],
    after: Sequence[Answer],
    constraints: Mapping[str, LearnedConstraint],
    most: int = 5,
) -> list[dict[str, Any]]:
    """The clearest corrections, each by a different rule, and last a sentence with more errors, if there is
    one; as plain data."""
    found = []
    for one, old, new in zip(passages, before, after, strict=True):
        broken = _forbidden(old, constraints)
        if old != new and broken is not None and len(one.passage.words) <= LONGEST:
            gain = int(count(one, new)[:, 0].sum() - count(one, old)[:, 0].sum())
            gain -= int(count(one, new)[:, 1].sum() - count(one, old)[:, 1].sum())
            found.append((gain, one, old, new, *broken))
    found.sort(key=lambda entry: (-entry[0], len(entry[1].passage.words), entry[1].id))
    worse = [entry for entry in found if entry[0] < 0][-1:]
    better: dict[str, dict[str, Any]] = {}
    for entry in found:
        if entry[0] > 0 and len(better) < most - len(worse):
            shown = _changed(*entry, constraints)
            better.setdefault(shown["rule"], shown)
    return [*better.values(), *(_changed(*entry, constraints) for entry in worse)]


def _changed(
    gain: int,
    one: Labelled,
    old: Answer,
    new: Answer,
    name: str,
    named: dict[str, str],
    constraints: Mapping[str, LearnedConstraint],
) -> dict[str, Any]:
    spans, size = one.passage.spans, len(one.passage.words)
    sides = {"gold": (one.entities, one.relations), "before": old, "after": new}
    return {
        "words": list(one.passage.words),
        **{side: list(iob_labels(answer[0], spans, size)) for side, answer in sides.items()},
        **{f"links_{side}": links(one.passage, answer) for side, answer in sides.items()},
        "rule": f"forbidden: {', '.join(f'{key} {value}' for key, value in named.items())} ({name})",
        "why": why(constraints[name], named).arithmetic,
        "gain": gain,
    }


def links(passage: Passage, answer: Answer) -> list[tuple[int, int, str]]:
    """The relations as links between the first words of two candidates."""
    starts = [first for first, _ in passage.spans]
    return [(starts[i], starts[j], label) for (i, j), label in sorted(answer[1].items())]


def _forbidden(
    answer: Answer, constraints: Mapping[str, LearnedConstraint]
) -> tuple[str, dict[str, str]] | None:
    """The first combination of an answer that a constraint forbids."""
    entities, relations = answer
    for (i, j), label in sorted(relations.items()):
        values = {
            "source": entities[i],
            "relation": label,
            "target": entities[j],
            "reverse": relations.get((j, i), NO_RELATION),
        }
        for name, constraint in constraints.items():
            feature: Any = constraint.feature
            named = {member: values[member] for member in feature.names}
            if not constraint.satisfied([tuple(named.values())]):
                return name, named
    return None
