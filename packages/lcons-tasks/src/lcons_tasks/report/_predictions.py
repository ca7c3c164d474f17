"""The answers of a run, sentence by sentence: labels before, after and gold, one per word.

| file | content of a line | written by |
|---|---|---|
| .txt | word, POS tag, gold label, label without constraints, label with them | chunking, citation |
| .jsonl | a sentence: words, candidates, and labels of candidates and of their pairs | er |
| any, recognised by its content | a sequence, as in `_decoded.py` | `lcons decode --json` |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LconsError, LearnedConstraint
from lcons_core._instance import WORD
from lcons_core._types import Ints
from lcons_decode import Status
from lcons_tasks.data import Columns, Sentence, read_columns, write_columns
from lcons_tasks.data._passage import NO_ENTITY, NO_RELATION
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.report._decoded import is_decoded, read_decoded
from lcons_tasks.report._document import Change
from lcons_tasks.report._spans import SIDES

PREDICTIONS = Columns(
    ("word", "pos", "gold", "exact", "constrained"),
    "word",
    "constrained",
    {"pos": "pos", "gold": "gold", "exact": "exact"},
)
# The names of the sides in a file of candidates.
WITHOUT, WITHIN = "without constraints", "with learned constraints"
MEMBERS = ("source", "relation", "target", "reverse")


@dataclass(frozen=True)
class Answered:
    """A sentence with its answers: labels with columns as `instances` by side, or the gold labels of `pairs`
    of candidates, each in the order of `MEMBERS`; `note` is an additional remark."""

    name: str
    change: Change
    instances: Mapping[str, Instance] = field(default_factory=dict)
    pairs: Sequence[tuple[str, ...]] = ()
    note: str = ""


def write_predictions(
    path: Path,
    sentences: Sequence[Sentence],
    exact: Sequence[Sequence[str]],
    constrained: Sequence[Sequence[str]],
) -> None:
    """Writes the predicted labels of sentences, without and with constraints."""
    answers = (
        Sentence(s.words, tuple(c), {"pos": s.columns["pos"], "gold": s.labels, "exact": tuple(e)})
        for s, e, c in zip(sentences, exact, constrained, strict=True)
    )
    write_columns(path, answers, PREDICTIONS)


def read_predictions(path: Path) -> list[Answered] | None:
    """The sentences of a file; None if its format is not known."""
    reader = _of_decoded if is_decoded(path) else {".txt": _of_columns, ".jsonl": _of_lines}.get(path.suffix)
    try:
        return None if reader is None else reader(path)
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
        x = {WORD: one.words, "pos": one.columns["pos"], CLUE: tuple(map(clue_or_shape, one.words))}
        found.append(Answered(str(i), change, _instances(change, x)))
    return found


def _of_decoded(path: Path) -> list[Answered]:
    """The sentences of a file of decoded labels; if there are no words, positions are used instead. The note
    is the status, and the broken constraints, unless decoding succeeded."""
    found = []
    for i, one in enumerate(read_decoded(path), 1):
        before, after = one.sides
        words = one.words or tuple(str(t + 1) for t in range(len(after)))
        change = Change(words, before, after, one.gold)
        x = {**({} if one.words is None else {WORD: one.words}), **one.columns}
        fine = not one.broken and one.status in (Status.OPTIMAL, Status.HEURISTIC)
        note = "" if fine else ", breaks ".join([one.status, *dict.fromkeys(one.broken)])
        name = str(i if one.id is None else one.id)[:60]
        found.append(Answered(name, change, _instances(change, x), note=note))
    return found


def _instances(change: Change, x: Mapping[str, Sequence[str]]) -> dict[str, Instance]:
    return {side: Instance(x, labels) for side in SIDES if (labels := getattr(change, side)) is not None}


def _of_lines(path: Path) -> list[Answered]:
    found = []
    for one in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        words, places = tuple(map(str, one["words"])), [(int(a), int(b)) for a, b in one["candidates"]]
        sides: dict[str, Any] = {}
        for side, name in zip(SIDES, (WITHOUT, WITHIN, "gold"), strict=True):
            sides[side] = iob_labels(one[name]["entities"], places, len(words))
            sides[f"links_{side}"] = tuple(
                (places[link["source"]][0], places[link["target"]][0], str(link["label"]))
                for link in one[name]["relations"]
            )
        change = Change(words, **sides)
        found.append(Answered(str(one["id"]), change, pairs=_pairs(one["gold"])))
    return found


def iob_labels(entities: Sequence[str], places: Sequence[tuple[int, int]], size: int) -> tuple[str, ...]:
    """The labels of candidates at their places as IOB, one per word.

    >>> iob_labels(("Person", "Location"), [(0, 2), (3, 4)], 4)
    ('B-Person', 'I-Person', 'O', 'B-Location')
    """
    labels = ["O"] * size
    for label, (first, after) in zip(entities, places, strict=True):
        if label != NO_ENTITY:
            labels[first:after] = [f"B-{label}", *[f"I-{label}"] * (after - first - 1)]
    return tuple(labels)


def _pairs(answer: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The labels of each ordered pair of candidates."""
    entities = answer["entities"]
    relations = {(one["source"], one["target"]): one["label"] for one in answer["relations"]}
    return [
        (a, relations.get((i, j), NO_RELATION), b, relations.get((j, i), NO_RELATION))
        for i, a in enumerate(entities)
        for j, b in enumerate(entities)
        if i != j
    ]


def gold_parts(constraint: LearnedConstraint, sentences: Sequence[Answered]) -> Ints | None:
    """(N, axes) the parts of the gold labels that a constraint checks; None if it cannot read them.

    Sentences with a label that the constraint does not know are left out.
    """
    feature: Any = constraint.feature
    found = []
    for one in sentences if feature is not None else ():
        gold, names = one.instances.get("gold"), feature.names or ()
        structure: Any = None
        if gold is not None:
            fits = set(feature.labels).issuperset(gold.y) and len(gold.y) >= (feature.n or 1)
            structure = gold if fits else None
        elif one.pairs and names and set(names) <= set(MEMBERS):
            structure = [tuple(pair[MEMBERS.index(name)] for name in names) for pair in one.pairs]
        if structure is not None:
            try:
                found.append(constraint.space.assignments(feature.psi(structure)))
            except LconsError:
                return None
    return np.concatenate(found) if found else None
