"""Labelled sentences from Hugging Face `datasets`: a folder that `save_to_disk` wrote, or a `Dataset` itself.

A row is a record (`_records`): lists of texts, or numbers of a `ClassLabel`, which the dataset names. If no
column has one of the usual names of labels, the only list of a `ClassLabel` has them. Of a folder with
several splits, the split `train` is read; the folder of a split is a dataset, too.

`datasets` is imported when one is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput, MissingExtra
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._records import LABEL, MEMBERS, Record, read_records

_MARKS = ("dataset_info.json", "dataset_dict.json")
_SPLIT = "train"


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Whether `save_to_disk` wrote this folder."""
    return any((Path(path) / mark).is_file() for mark in _MARKS)


def from_dataset(
    dataset: Any, columns: Mapping[str, str] | None = None, name: str | os.PathLike[str] = "dataset"
) -> Structures:
    """The sentences of a `datasets.Dataset`; `columns` is the dataset's column of each of ours, as in
    {"word": "tokens", "label": "ner_tags", "pos": "pos_tags"}."""
    kinds, stated = _kinds(dataset), dict(columns or {})
    classes = [column for column, kind in kinds.items() if hasattr(kind, "int2str")]
    if LABEL not in stated and len(classes) == 1 and not set(MEMBERS[LABEL]) & set(kinds):
        stated[LABEL] = classes[0]
    return read_records(name, dataset_records(dataset), stated)


def dataset_records(dataset: Any) -> Iterator[tuple[int, Record]]:
    """(number, columns of names) of each row."""
    kinds = _kinds(dataset)
    rows = dataset.select_columns(sorted(kinds)).with_format(None)
    for number, row in enumerate(rows, start=1):
        yield number, {name: _named(row[name] or [], kind) for name, kind in kinds.items()}


def load_dataset(path: str | os.PathLike[str]) -> Any:
    """The dataset of a folder that `save_to_disk` wrote."""
    try:
        import datasets

        loaded = datasets.load_from_disk(os.fspath(path))
        return loaded[_SPLIT] if isinstance(loaded, datasets.DatasetDict) else loaded
    except ImportError:
        raise MissingExtra(f"{os.fspath(path)!r} needs datasets: run `pip install datasets`.") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        where = f"{os.fspath(path)}: expected a dataset, or the split {_SPLIT!r}"
        raise MalformedCorpus(f"{where}: {reason:.200}") from None


def _kinds(dataset: Any) -> dict[str, Any]:
    """What the lists of names of each column consist of: text, or numbers of a `ClassLabel`."""
    inner = {
        name: feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
        for name, feature in dataset.features.items()
    }
    texts = ("string", "large_string")
    named = {name: hasattr(kind, "int2str") for name, kind in inner.items()}
    return {n: kind for n, kind in inner.items() if named[n] or getattr(kind, "dtype", None) in texts}


def _named(values: list[Any], kind: Any) -> list[str]:
    """The names of values; those of classes are numbers from 0, and -1 stands for a missing one."""
    if not hasattr(kind, "int2str"):
        return values
    if any(value is None or not 0 <= value < len(kind.names) for value in values):
        raise InvalidInput(f"a label is a number from 0 to {len(kind.names) - 1}: got {values!r:.80}.")
    return [kind.names[value] for value in values]
