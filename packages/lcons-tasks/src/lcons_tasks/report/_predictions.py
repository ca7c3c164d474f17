"""The answers of a run, sentence by sentence: before, after and gold, as spans and links over words.

| file | what a line is | from |
|---|---|---|
| .txt | word, POS tag, gold label, label without constraints, label with them | chunking, citation |
| .jsonl | a sentence: words, candidates, and labels of candidates and of pairs of them | er |
| any, told by its content | a sequence, as in `decoded.py` | `lcons decode --json` |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core._errors import InvalidInput, LconsError
from lcons_core._instance import WORD, Instance
from lcons_core._psi import Ints
from lcons_core.features._protocol import ConstraintFeature
from lcons_decode._result import Status
from lcons_tasks.data import read_columns
from lcons_tasks.data._passage import NO_ENTITY, NO_RELATION
from lcons_tasks.data._tagged_text import spans
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.report._answer_columns import PREDICTIONS
from lcons_tasks.report._decoded import Decoded, Strings, is_decoded, read_decoded
from lcons_tasks.report._spans import Span, are_iob, spans_of

WITHOUT, WITHIN = "without constraints", "with learned constraints"

Link = tuple[str, str, str]


@dataclass(frozen=True)
class Answer:
    """(label, first word, after the last) spans, (source, label, target) links, and what is counted right."""

    spans: tuple[Span, ...]
    links: tuple[Link, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence with its answers; `structure` is what constraint features read of the gold labels, `note`
    what else is to be said of it."""

    name: str
    words: tuple[str, ...]
    before: Answer
    after: Answer
    gold: Answer | None
    structure: Any
    note: str = ""

    @property
    def changed(self) -> bool:
        """Whether constraints changed the answer."""
        return self.before != self.after

    @property
    def gain(self) -> int:
        """How many more labels are right after; a link counts where it is right, and against where not."""
        return 0 if self.gold is None else _score(self.after, self.gold) - _score(self.before, self.gold)


def _score(answer: Answer, gold: Answer) -> int:
    right = sum(a == b for a, b in zip(answer.labels, gold.labels, strict=True))
    links = sum(1 if link in gold.links else -1 for link in answer.links)
    return right + links


def read_predictions(path: Path) -> list[Sentence] | None:
    """The sentences of a file; None where its kind is not known."""
    reader = _of_decoded if is_decoded(path) else READERS.get(path.suffix)
    if reader is None:
        return None
    try:
        return reader(path)
    except LconsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidInput(
            f"expected predictions in {str(path)!r}, found something else ({type(error).__name__}:"
            f" {str(error)[:80]}); run the task again."
        ) from None


def _of_columns(path: Path) -> list[Sentence]:
    found = []
    for i, one in enumerate(read_columns(path, PREDICTIONS)):
        before, after, gold = (
            Answer(tuple(spans(labels)), (), tuple(labels))
            for labels in (one.columns["exact"], one.labels, one.columns["gold"])
        )
        x = {"word": one.words, "pos": one.columns["pos"], CLUE: tuple(map(clue_or_shape, one.words))}
        found.append(Sentence(str(i + 1), one.words, before, after, gold, Instance(x, gold.labels)))
    return found


def _of_lines(path: Path) -> list[Sentence]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        words = tuple(map(str, one["words"]))
        places = [(int(a), int(b)) for a, b in one["candidates"]]
        before, after, gold = (_linked(one[key], words, places) for key in (WITHOUT, WITHIN, "gold"))
        found.append(Sentence(str(one["id"]), words, before, after, gold, _pairs(one["gold"])))
    return found


def _of_decoded(path: Path) -> list[Sentence]:
    """Positions stand for words that are not given."""
    kept = list(read_decoded(path))
    iob = are_iob(
        {label for one in kept for side in _sides(one.without, one.labels, one.gold) for label in side}
    )

    @cache
    def answer(labels: Strings) -> Answer:
        return Answer(spans_of(labels, iob), (), labels)

    return [
        Sentence(
            one.name,
            one.words or tuple(str(t + 1) for t in range(len(one.labels))),
            answer(one.without),
            answer(one.labels),
            None if one.gold is None else answer(one.gold),
            None if one.gold is None else Instance(_read_by_features(one), one.gold),
            _state(one.status, one.broken),
        )
        for one in kept
    ]


def _read_by_features(one: Decoded) -> dict[str, Strings]:
    return {**({} if one.words is None else {WORD: one.words}), **one.columns}


def _sides(*labels: Strings | None) -> Iterator[Strings]:
    return (one for one in labels if one is not None)


def _state(status: str, broken: Sequence[str]) -> str:
    """How it was decoded, where that is not as wished."""
    if not broken and status in (Status.OPTIMAL, Status.HEURISTIC):
        return ""
    return ", breaks ".join([status, *dict.fromkeys(broken)])


def _linked(answer: Mapping[str, Any], words: Sequence[str], places: Sequence[tuple[int, int]]) -> Answer:
    entities = tuple(map(str, answer["entities"]))
    texts = [" ".join(words[a:b]) for a, b in places]
    return Answer(
        tuple((label, a, b) for label, (a, b) in zip(entities, places, strict=True) if label != NO_ENTITY),
        tuple((texts[one["source"]], str(one["label"]), texts[one["target"]]) for one in answer["relations"]),
        entities,
    )


def _pairs(gold: Mapping[str, Any]) -> list[dict[str, str]]:
    """What the er features read: the labels of each ordered pair of candidates, by member."""
    entities = gold["entities"]
    relations = {(one["source"], one["target"]): one["label"] for one in gold["relations"]}
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


READERS: dict[str, Callable[[Path], list[Sentence]]] = {".txt": _of_columns, ".jsonl": _of_lines}


def gold_parts(constraint: LearnedConstraint, sentences: Sequence[Sentence]) -> Ints | None:
    """(N, axes) the parts of the gold labels that a constraint looks at; None where it cannot read them.

    Sentences with a label that the constraint does not know are left out.
    """
    feature = constraint.feature
    if feature is None or not sentences:
        return None
    known = set(getattr(feature, "labels", ()))
    found = []
    for sentence in sentences:
        structure = _structure(feature, sentence, known)
        if structure is None:
            continue
        try:
            psi = feature.psi(structure)
            found.append(constraint.space.assignments(psi))
        except LconsError:
            return None
    return np.concatenate(found) if found else None


def _structure(feature: ConstraintFeature, sentence: Sentence, known: set[str]) -> Any:
    gold = sentence.structure
    if isinstance(gold, Instance):
        return gold if known.issuperset(gold.y) and len(gold.y) >= getattr(feature, "n", 1) else None
    names = getattr(feature, "names", ())
    if not gold or not set(names) <= set(gold[0]):
        return None
    return [tuple(pair[name] for name in names) for pair in gold]
