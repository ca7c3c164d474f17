"""Labelled sentences from Hugging Face `datasets`: a folder that `save_to_disk` wrote, or a `Dataset` itself.

A sentence is a row: a list of words, and lists of labels with one value per word. Labels are texts, or
numbers of a `ClassLabel`, which the dataset names. Unless columns are stated,

    words:   the column `words`, else `tokens`
    labels:  the column `labels`, else `ner_tags`, else `tags`, else the only list of a `ClassLabel`

and every other list of texts or of a `ClassLabel` is a column with its name. Of a folder with several splits,
the split `train` is read; the folder of a split is a dataset, too.

`datasets` is imported when one is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lcons_core import Instance, InvalidInput, LconsError, MissingExtra
from lcons_core._instance import WORD
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._json_lines import LABEL, MEMBERS, names_of

_MARKS = ("dataset_info.json", "dataset_dict.json")
_WORDS, _LABELS = MEMBERS[WORD], MEMBERS[LABEL]
_SPLIT = "train"


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Whether `save_to_disk` wrote this folder."""
    return Path(path).is_dir() and any((Path(path) / mark).is_file() for mark in _MARKS)


def from_dataset(dataset: Any, columns: Mapping[str, str] | None = None) -> Structures:
    """The sentences of a `datasets.Dataset`; `columns` is the dataset's column of each of ours, as in
    {"word": "tokens", "label": "ner_tags", "pos": "pos_tags"}."""
    lists = _lists(dataset.features)
    chosen = _chosen(lists, dict(columns or {}), list(dataset.features))
    instances = []
    for number, row in enumerate(_rows(dataset, list(chosen.values())), start=1):
        try:
            instances.append(_instance(row, chosen, lists))
        except LconsError as error:
            raise InvalidInput(f"sentence {number}: {error}") from None
    return Structures(tuple(instances))


def read_dataset(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None) -> Structures:
    """The sentences of a folder that `save_to_disk` wrote."""
    with_name = os.fspath(path)
    try:
        return from_dataset(_loaded(path), columns)
    except MissingExtra:
        raise
    except LconsError as error:
        raise MalformedCorpus(f"{with_name}: {error}") from None


def read_dataset_words(path: str | os.PathLike[str], column: str | None = None) -> Iterator[tuple[str, ...]]:
    """The words of each sentence of a folder that `save_to_disk` wrote; labels are not read."""
    dataset = _loaded(path)
    name = _first((column,) if column else _WORDS, _lists(dataset.features))
    if name is None:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected a column of words ({' or '.join(_WORDS)}), found"
            f' {", ".join(dataset.features)}; name it, as in `columns="word=tokens"`.'
        )
    for row in _rows(dataset, [name]):
        if row[name]:
            yield names_of(list(row[name]), name)


def _loaded(path: str | os.PathLike[str]) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra(
            f"reading {os.fspath(path)!r} needs datasets, which cannot be imported ({error}); run:"
            " pip install datasets."
        ) from None
    try:
        found = datasets.load_from_disk(os.fspath(path))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected a dataset that `save_to_disk` wrote, found one that cannot be read"
            f" ({type(error).__name__}: {reason:.200}); write it again."
        ) from None
    if not isinstance(found, datasets.DatasetDict):
        return found
    if _SPLIT not in found:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected a split {_SPLIT!r}, found {', '.join(found) or 'none'}; name the"
            " folder of one split."
        )
    return found[_SPLIT]


def _lists(features: Mapping[str, Any]) -> dict[str, Any]:
    """By column, what its lists consist of."""
    inner = {
        name: feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
        for name, feature in features.items()
    }
    return {name: kind for name, kind in inner.items() if kind is not None}


def _chosen(lists: Mapping[str, Any], stated: dict[str, str], there: Sequence[str]) -> dict[str, str]:
    """The dataset's column of each of ours."""
    classes = [name for name, kind in lists.items() if hasattr(kind, "int2str")]
    label = stated.get(LABEL) or _first(_LABELS, lists) or (classes[0] if len(classes) == 1 else None)
    word = stated.get(WORD) or _first(_WORDS, lists)
    found = {**({WORD: word} if word else {}), **stated, **({LABEL: label} if label else {})}
    missing = [name for name in found.values() if name not in lists]
    if label is None or missing:
        wanted = f"a list in the column {missing[0]!r}" if missing else "a column of labels"
        raise InvalidInput(
            f"expected {wanted}, found {', '.join(there) or 'no column'}; name the columns, as in"
            ' `columns="word=tokens,label=ner_tags"`.'
        )
    if not stated:
        taken = set(found.values())
        found |= {name: name for name, kind in lists.items() if name not in taken and _names_things(kind)}
    return found


def _names_things(kind: Any) -> bool:
    return hasattr(kind, "int2str") or getattr(kind, "dtype", None) in ("string", "large_string")


def _first(names: Sequence[str], there: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in there), None)


def _rows(dataset: Any, columns: list[str]) -> Iterator[Mapping[str, Any]]:
    yield from dataset.select_columns(sorted(set(columns))).with_format(None)


def _instance(row: Mapping[str, Any], chosen: Mapping[str, str], lists: Mapping[str, Any]) -> Instance:
    labels = _values(row[chosen[LABEL]], chosen[LABEL], lists)
    x = {
        name: _values(row[column], column, lists, len(labels))
        for name, column in chosen.items()
        if name != LABEL
    }
    return Instance(x, labels)


def _values(values: Any, column: str, lists: Mapping[str, Any], length: int | None = None) -> tuple[str, ...]:
    classes = getattr(lists[column], "names", None) if hasattr(lists[column], "int2str") else None
    if classes is not None:
        wrong = [one for one in values or () if not (isinstance(one, int) and 0 <= one < len(classes))]
        if wrong:
            raise InvalidInput(
                f"expected a number from 0 to {len(classes) - 1} for each value of {column!r}, found"
                f" {wrong[0]!r}; leave out sentences without labels."
            )
        values = [classes[one] for one in values or ()]
    return names_of(list(values or ()), column, length)
