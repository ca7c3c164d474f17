"""The accuracy of entities and relations: micro F1, macro F1, and strict relation F1.

micro    over all labels except NoEnt and NoRel; a relation is correct if its ordered pair and label are
correct macro    the mean of the F1 of each label strict   as relation F1, but the entity labels of source and
target must be correct, too

Paper: Sec. 4 reports micro F1 of entities and of relations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data._passage import ENTITIES, NO_ENTITY, RELATIONS, Labelled, Pair
from lcons_tasks.stats import f1

Answer = tuple[Sequence[str], Mapping[Pair, str]]

# Rows of counts: entity labels, relation labels, relation labels with both entities correct.
_KINDS, _LINKS = len(ENTITIES) - 1, len(RELATIONS) - 1
ROWS = _KINDS + 2 * _LINKS
PARTS = {
    "entity": slice(0, _KINDS),
    "relation": slice(_KINDS, _KINDS + _LINKS),
    "strict relation": slice(_KINDS + _LINKS, ROWS),
}


def count(one: Labelled, answer: Answer) -> Ints:
    """(rows, 3): the correct, predicted and gold counts of each label in one passage."""
    entities, relations = answer
    counts = np.zeros((ROWS, 3), dtype=np.int64)
    for gold, found in zip(one.entities, entities, strict=True):
        for column, label in ((1, found), (2, gold)):
            if label != NO_ENTITY:
                counts[ENTITIES.index(label) - 1, column] += 1
        if gold == found != NO_ENTITY:
            counts[ENTITIES.index(gold) - 1, 0] += 1
    for column, links in ((1, relations), (2, one.relations)):
        for label in links.values():
            counts[_KINDS + RELATIONS.index(label) - 1, column] += 1
            counts[_KINDS + _LINKS + RELATIONS.index(label) - 1, column] += 1
    for pair, label in relations.items():
        if one.relations.get(pair) == label:
            k = RELATIONS.index(label) - 1
            counts[_KINDS + k, 0] += 1
            counts[_KINDS + _LINKS + k, 0] += all(one.entities[i] == entities[i] for i in pair)
    return counts


def counts(passages: Sequence[Labelled], answers: Sequence[Answer]) -> Ints:
    """(passages, rows, 3): the counts of every passage."""
    found = [count(one, answer) for one, answer in zip(passages, answers, strict=True)]
    return np.array(found, dtype=np.int64).reshape(-1, ROWS, 3)


def figures(found: Ints) -> dict[str, float]:
    """Micro and macro F1 of entities, relations and strict relations, in percent."""
    totals = found.sum(0)
    figures = {}
    for name, part in PARTS.items():
        figures[f"{name} f1"] = float(f1(totals[part].sum(0)))
        figures[f"{name} macro f1"] = float(f1(totals[part]).mean())
    return figures


def by_label(found: Ints) -> dict[str, float]:
    """The F1 of each entity and relation label."""
    names = (*ENTITIES[1:], *RELATIONS[1:])
    return dict(zip(names, map(float, f1(found.sum(0)[: len(names)])), strict=True))
