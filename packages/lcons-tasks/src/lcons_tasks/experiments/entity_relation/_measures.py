"""Measures of answers, and sentences in which constraints changed the answer, with the forbidden combination.

Micro F1 of entities is over all labels except NoEnt; that of relations over all except NoRel, and a relation
is correct if its ordered pair and its label are correct.

Paper: Sec. 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, why
from lcons_decode import RelationRules
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data._passage import ENTITIES, NO_ENTITY, RELATIONS, Labelled, members
from lcons_tasks.experiments.entity_relation._model import Answer
from lcons_tasks.report._predictions import iob_labels
from lcons_tasks.stats import counted_spans

ENTITY, RELATION = "entity f1", "relation f1"
# Longer sentences take long to read.
LONGEST = 30


def count(passage: Labelled, answer: Answer) -> dict[str, tuple[int, int, int]]:
    """The (correct, predicted, gold) numbers of entities and of relations, by measure."""
    sides = answer, (passage.entities, passage.relations)
    predicted, gold = (
        [(i, label) for i, label in enumerate(entities) if label != NO_ENTITY] for entities, _ in sides
    )
    relations = counted_spans(passage.relations.items(), answer[1].items())
    return {ENTITY: counted_spans(gold, predicted), RELATION: relations}


def counts(passages: Sequence[Labelled], answers: Sequence[Answer]) -> dict[str, Ints]:
    """(passages, 3) by measure: the counts of every passage."""
    each = [count(passage, answer) for passage, answer in zip(passages, answers, strict=True)]
    return {name: np.array([by_name[name] for by_name in each]) for name in (ENTITY, RELATION)}


def broken_pairs(answer: Answer, rules: RelationRules) -> int:
    """The number of pairs of candidates whose labels and relations break a constraint."""
    broken, allowed = 0, rules.allowed
    for i, j in combinations(range(len(answer[0])), 2):
        labels = members(*answer, i, j)
        entities = [ENTITIES.index(labels[name]) for name in ("source", "target")]
        relations = [RELATIONS.index(labels[name]) for name in ("relation", "reverse")]
        broken += not allowed[(*entities, *relations)]
    return broken


def changed(
    passages: Sequence[Labelled],
    before: Sequence[Answer],
    after: Sequence[Answer],
    constraints: Mapping[str, LearnedConstraint],
    most: int = 5,
) -> list[dict[str, Any]]:
    """The clearest corrections, each by a different rule, and last a sentence with more errors, if there is
    one; as plain data."""
    changes = []
    for passage, old, new in zip(passages, before, after, strict=True):
        forbidden = _forbidden(old, constraints)
        if old != new and forbidden is not None and len(passage.passage.words) <= LONGEST:
            change = {**_shown(passage, old, new), **forbidden}
            changes.append((-change["gain"], len(change["words"]), passage.id, change))
    changes.sort(key=lambda entry: entry[:3])
    worse = [change for loss, *_, change in changes if loss > 0][-1:]
    better: dict[str, dict[str, Any]] = {}
    for loss, *_, change in changes:
        if loss < 0 and len(better) < most - len(worse):
            better.setdefault(change["rule"], change)
    return [*better.values(), *worse]


def _shown(passage: Labelled, old: Answer, new: Answer) -> dict[str, Any]:
    """A sentence with its gold labels and two answers, and how many labels fewer are wrong in the second."""
    spans, words = passage.passage.spans, passage.passage.words
    shown: dict[str, Any] = {"words": list(words)}
    for side, answer in (("gold", (passage.entities, passage.relations)), ("before", old), ("after", new)):
        shown[side] = list(iob_labels(answer[0], spans, len(words)))
        shown[f"links_{side}"] = [
            (spans[i][0], spans[j][0], label) for (i, j), label in sorted(answer[1].items())
        ]
    wrong = [
        sum(predicted - correct for correct, predicted, _ in count(passage, answer).values())
        for answer in (old, new)
    ]
    return {**shown, "gain": wrong[0] - wrong[1]}


def _forbidden(answer: Answer, constraints: Mapping[str, LearnedConstraint]) -> dict[str, str] | None:
    """The first combination of an answer that a constraint forbids, as a rule, and why it does."""
    for i, j in sorted(answer[1]):
        labels = members(*answer, i, j)
        for name, constraint in constraints.items():
            feature: Any = constraint.feature
            named = {member: labels[member] for member in feature.names}
            if not constraint.satisfied([tuple(named.values())]):
                rule = ", ".join(f"{member} {label}" for member, label in named.items())
                return {"rule": f"forbidden: {rule} ({name})", "why": why(constraint, named).arithmetic}
    return None
