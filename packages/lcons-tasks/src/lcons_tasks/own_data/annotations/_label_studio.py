"""Label Studio: its exports JSON and JSON-MIN, one list of tasks per file.

    [{"data": {"text": "Ann left"},
      "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}]
    [{"text": "Ann left", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}]                   JSON-MIN

Offsets count characters. The text is the member of `data` that the annotations name (`to_name`), or else the
only one that is text. Of a task with several annotations the first that was not cancelled is read; a task
without any is not read. Only regions with `labels` are read: choices and relations are not labels of tokens.
A region with several labels has the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput, LconsError
from lcons_core.storage import parse
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data.annotations._passage import Passage, Span, check_object, span_of, structures_of

LABELS = "labels"
_MEMBERS_OF_MIN = frozenset(["id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"])


def read_label_studio(path: str | os.PathLike[str]) -> Structures:
    """The labelled sentences of a file."""
    try:
        tasks = parse(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable(path, error) from None
    except (LconsError, UnicodeDecodeError) as error:
        raise malformed(path, 1, f"expected a JSON list of tasks, found other text ({error}).") from None
    if not isinstance(tasks, list):
        raise malformed(path, 1, "expected a JSON list of tasks, found another value; export as JSON.")
    return structures_of(path, _passages(path, tasks))


def _passages(path: str | os.PathLike[str], tasks: list[Any]) -> Iterator[Passage]:
    for number, value in enumerate(tasks, start=1):
        try:
            task = check_object(value, "a task")
            found = _full(task) if "data" in task else _minimal(task)
        except LconsError as error:
            raise malformed(path, 1, f"task {number}: {error}") from None
        if found is not None:
            yield found


def _full(task: dict[str, Any]) -> Passage | None:
    annotations = [check_object(one, "an annotation") for one in _list(task.get("annotations"))]
    done = next((one for one in annotations if not one.get("was_cancelled")), None)
    if done is None:
        return None
    regions = [check_object(region, "a region") for region in _list(done.get("result"))]
    regions = [region for region in regions if LABELS in check_object(region.get("value", {}), "a value")]
    data = check_object(task["data"], "the data of a task")
    named = {region["to_name"] for region in regions if region.get("to_name") in data}
    return Passage(_text(data, named), tuple(span for region in regions for span in _spans(region["value"])))


def _minimal(task: dict[str, Any]) -> Passage | None:
    regions = [
        region
        for value in task.values()
        if isinstance(value, list)
        for region in value
        if isinstance(region, dict) and LABELS in region
    ]
    texts = {name: value for name, value in task.items() if name not in _MEMBERS_OF_MIN}
    return Passage(_text(texts, set()), tuple(span for region in regions for span in _spans(region)))


def _text(data: dict[str, Any], named: set[Any]) -> str:
    texts = [value for name, value in data.items() if isinstance(value, str) and (not named or name in named)]
    if len(texts) > 1 and isinstance(data.get("text"), str):
        return data["text"]
    if len(texts) != 1:
        raise InvalidInput(
            f"expected one text per task of Label Studio, found {len(texts)}; name it `text` in the data, or"
            " write data of another kind as JSON lines, one object per line."
        )
    return texts[0]


def _spans(value: dict[str, Any]) -> Iterator[Span]:
    labels = value[LABELS]
    if not isinstance(labels, list) or not labels:
        return
    yield span_of(value, labels[0])


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"expected a list of annotations, found {value!r:.40}; export as JSON.")
    return value
