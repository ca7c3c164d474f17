"""The answers of a run, sentence by sentence: labels before, after and gold, one per word.

| file | content of a line | written by |
|---|---|---|
| .txt | word, POS tag, gold label, label without constraints, label with them | chunking, citation |
| .jsonl | a sentence: words, candidates, and labels of candidates and of their pairs | er |
| any, recognised by its content | a sequence, as in `_decoded.py` | `lcons decode --json` |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint
from lcons_core._instance import WORD
from lcons_core._types import Ints
from lcons_core.features import ConstraintFeature
from lcons_decode import Status
from lcons_tasks.data import read_columns
from lcons_tasks.data._passage import NO_ENTITY, NO_RELATION
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.report._answer_columns import PREDICTIONS
from lcons_tasks.report._decoded import is_decoded, read_decoded
from lcons_tasks.report._document import Change
from lcons_tasks.report._spans import Link, Side

WITHOUT, WITHIN = "without constraints", "with learned constraints"

# The input of constraint features for one answer: labels with columns, or the labels of pairs, by member.
Structure = Instance | list[dict[str, str]]


@dataclass(frozen=True)
class Answered:
    """A sentence with its answers; `note` is an additional remark."""

    name: str
    change: Change
    structures: Mapping[Side, Structure] = field(default_factory=dict)
    note: str = ""


def read_predictions(path: Path) -> list[Answered] | None:
    """The sentences of a file; None if its format is not known."""
    reader = _of_decoded if is_decoded(path) else READERS.get(path.suffix)
    if reader is None:
        return None
    try:
        return reader(path)
    except LconsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"expected predictions in {str(path)!r}, found other content ({type(error).__name__}:"
            f" {str(error)[:80]}); run the task again."
        ) from None


def _of_columns(path: Path) -> list[Answered]:
    found = []
    for i, one in enumerate(read_columns(path, PREDICTIONS), 1):
        change = Change(one.words, one.columns["exact"], one.labels, one.columns["gold"])
        x = {"word": one.words, "pos": one.columns["pos"], CLUE: tuple(map(clue_or_shape, one.words))}
        found.append(Answered(str(i), change, _instances(change, x)))
    return found


def _of_decoded(path: Path) -> list[Answered]:
    """The sentences of a file of decoded labels; if there are no words, positions are used instead."""
    found = []
    for i, one in enumerate(read_decoded(path), 1):
        before, after = one.sides
        words = one.words or tuple(str(t + 1) for t in range(len(after)))
        change = Change(words, before, after, one.gold)
        x = {**({} if one.words is None else {WORD: one.words}), **one.columns}
        name = str(i if one.id is None else one.id)[:60]
        found.append(Answered(name, change, _instances(change, x), _state(one.status, one.broken)))
    return found


def _instances(change: Change, x: Mapping[str, Sequence[str]]) -> dict[Side, Structure]:
    sides: dict[Side, tuple[str, ...] | None] = {
        "before": change.before,
        "after": change.after,
        "gold": change.gold,
    }
    return {side: Instance(x, labels) for side, labels in sides.items() if labels is not None}


def _state(status: str, broken: Sequence[str]) -> str:
    """The status and the broken constraints of a sequence; empty if decoding succeeded."""
    if not broken and status in (Status.OPTIMAL, Status.HEURISTIC):
        return ""
    return ", breaks ".join([status, *dict.fromkeys(broken)])


def _of_lines(path: Path) -> list[Answered]:
    found = []
    names: dict[Side, str] = {"before": WITHOUT, "after": WITHIN, "gold": "gold"}
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        words = tuple(map(str, one["words"]))
        places = [(int(a), int(b)) for a, b in one["candidates"]]
        labels = {side: _labels(one[name], len(words), places) for side, name in names.items()}
        links = [_links(one[name], places) for name in names.values()]
        change = Change(words, labels["before"], labels["after"], labels["gold"], "", "", *links)
        pairs: dict[Side, Structure] = {side: _pairs(one[name]) for side, name in names.items()}
        found.append(Answered(str(one["id"]), change, pairs))
    return found


def _labels(answer: Mapping[str, Any], size: int, places: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """One IOB label per word."""
    labels = ["O"] * size
    for label, (first, after) in zip(answer["entities"], places, strict=True):
        if label != NO_ENTITY:
            labels[first:after] = [f"B-{label}", *[f"I-{label}"] * (after - first - 1)]
    return tuple(labels)


def _links(answer: Mapping[str, Any], places: Sequence[tuple[int, int]]) -> tuple[Link, ...]:
    return tuple(
        (places[one["source"]][0], places[one["target"]][0], str(one["label"])) for one in answer["relations"]
    )


def _pairs(answer: Mapping[str, Any]) -> list[dict[str, str]]:
    """The labels of each ordered pair of candidates, by member."""
    entities = answer["entities"]
    relations = {(one["source"], one["target"]): one["label"] for one in answer["relations"]}
    return [
        {
            "source": entities[i],
            "relation": relations.get((i, j), NO_RELATION),
            "target": entities[j],
            "reverse": relations.get((j, i), NO_RELATION),
        }
        for i in range(len(entities))
        for j in range(len(entities))
        if i != j
    ]


READERS: dict[str, Callable[[Path], list[Answered]]] = {".txt": _of_columns, ".jsonl": _of_lines}


def gold_parts(constraint: LearnedConstraint, sentences: Sequence[Answered]) -> Ints | None:
    """(N, axes) the parts of the gold labels that a constraint checks; None if it cannot read them.

    Sentences with a label that the constraint does not know are left out.
    """
    feature = constraint.feature
    if feature is None or not sentences:
        return None
    found = []
    for sentence in sentences:
        structure = readable(feature, sentence.structures.get("gold"))
        if structure is None:
            continue
        try:
            psi = feature.psi(structure)
            found.append(constraint.space.assignments(psi))
        except LconsError:
            return None
    return np.concatenate(found) if found else None


def readable(feature: ConstraintFeature, structure: Structure | None) -> Any:
    """The structure in the form that a feature reads; None if it cannot read it."""
    if isinstance(structure, Instance):
        fits = set(feature.labels).issuperset(structure.y) and len(structure.y) >= (feature.n or 1)
        return structure if fits else None
    names = feature.names
    if not structure or not names or not set(names) <= set(structure[0]):
        return None
    return [tuple(pair[name] for name in names) for pair in structure]
