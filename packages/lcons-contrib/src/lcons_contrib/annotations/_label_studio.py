"""Label Studio: its exports JSON and JSON-MIN, one list of tasks per file, and tasks for it from an audit.

    [{"data": {"text": "Ann left"},
      "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}]
    [{"text": "Ann left", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}]                   JSON-MIN

Offsets count characters. The text is the member `text` of a task. Of a task with several annotations the
first that was not cancelled is read; a task without any is not read. Only regions with `labels` are read:
choices and relations are not labels of tokens. A region with several labels has the first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from lcons_contrib.annotations._passage import Passage, Sentence, Span, labelled, member, span_of
from lcons_core import InvalidInput, LconsError
from lcons_core._files import parse
from lcons_tasks.audit import Audit
from lcons_tasks.data._tagged_text import spans

LABELS = "labels"


def read_label_studio(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """The labelled sentences of a file."""
    tasks = parse(Path(path).read_text(encoding="utf-8-sig"))
    if not isinstance(tasks, list):
        raise InvalidInput("expected a JSON list of tasks, found another value; export as JSON.")
    return labelled(_passages(tasks))


def _passages(tasks: list[Any]) -> Iterator[Passage]:
    for number, task in enumerate(tasks, start=1):
        try:
            if not isinstance(task, dict) or "data" not in task:
                text = member(task, "text", str)
                lists = [values for values in task.values() if isinstance(values, list)]
                yield Passage(text, list(_spans(chain(*lists))))
                continue
            annotations = member(task, "annotations", list)
            done = [one for one in annotations if not member(one, "was_cancelled", bool, False)]
            for annotation in done[:1]:
                values = [member(region, "value", dict, {}) for region in member(annotation, "result", list)]
                yield Passage(member(task["data"], "text", str), list(_spans(values)))
        except LconsError as error:
            raise InvalidInput(f"task {number}: {error}") from None


def _spans(values: Iterable[Any]) -> Iterator[Span]:
    for value in values:
        if isinstance(value, dict) and (labels := member(value, LABELS, list, [])):
            yield span_of(value, str(labels[0]))


def label_studio_tasks(audit: Audit, most: int = 50) -> list[dict[str, Any]]:
    """The sentences of the first findings as tasks: the labels of the data as an annotation, the relabelling
    as a prediction with its odds as score. The text of a task is its words with single blanks between."""
    tasks = []
    for finding in audit.findings[:most]:
        sentence = audit.sentences[finding.sentence - 1]
        prediction = {
            "model_version": "lcons audit",
            "score": 1 / (1 + math.exp(-finding.log_odds)),
            "result": list(_regions(sentence.words, audit.relabelled(finding))),
        }
        tasks.append(
            {
                "data": {"text": " ".join(sentence.words), "sentence": finding.sentence},
                "annotations": [{"result": list(_regions(sentence.words, sentence.labels))}],
                "predictions": [prediction],
            }
        )
    return tasks


def _regions(words: Sequence[str], labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    for number, (kind, first, after) in enumerate(spans(labels), start=1):
        value = {"start": starts[first], "end": starts[after] - 1, LABELS: [kind]}
        yield {"id": str(number), "from_name": "label", "to_name": "text", "type": LABELS, "value": value}
