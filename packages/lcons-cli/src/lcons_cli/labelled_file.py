"""Labelled data in a file, and the options for reading it.

Only click is imported here; other modules are imported when they are used.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import say, warn
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_tasks import Sentence
    from lcons_tasks.own_data import Data, Structures

# The name of a format: CoNLL columns whose cells are separated by one tab, and so may contain blanks.
TABS = "tabs"
# Fewer labels than this are plausible, even in a file of few words.
_MANY_LABELS = 20


def labelled_options(command: Any) -> Any:
    """Adds `form` and `columns` to a command."""
    columns = "The places of the columns, as in `word,pos,label` or `word=1,label=-1`: see `lcons learn`."
    form = "conll, tabs, jsonl, csv, datasets, or one of lcons-contrib. Default: from the file."
    command = click.option("--columns", metavar="COLUMNS", help=columns)(command)
    return click.option("--format", "form", metavar="FORMAT", help=form)(command)


def read_labelled(path: str, form: str | None, columns: str | None) -> Data:
    """The data in a file; prints which columns are read if none were stated."""
    from lcons_core._instance import WORD
    from lcons_tasks.own_data import Structures, read_data
    from lcons_tasks.own_data._conll import described_layout, labelled_layout
    from lcons_tasks.own_data._formats import tell_format

    name, tabs = Path(path).name, form == TABS
    kind = "conll" if tabs else form or tell_format(path, columns is not None, False)
    if kind == "conll" and columns is None:
        layout = described_layout(labelled_layout(path, None, tabs))
        say(f"reading CoNLL columns {layout} of {name}; choose others with --columns")
    with progress(f"reading {name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        data = read_data(path, kind, columns, tabs)
    for warning in caught:
        warn(str(warning.message))
    if isinstance(data, Structures) and not data.tuples:
        labels = {label for instance in data.instances for label in instance.y}
        words = {word for instance in data.instances for word in instance.x.get(WORD, ())}
        if len(labels) > max(len(words), _MANY_LABELS):
            warn(
                f"{name} has {len(labels):,} different labels and {len(words):,} different words; if another"
                " column has the labels, name it, as in `--columns label,word`"
            )
    return data


def read_words_and_labels(path: str, form: str | None, columns: str | None) -> Structures:
    """The sentences of a file, with all their columns; raises `InvalidInput` if it holds anything else."""
    from lcons_core import InvalidInput
    from lcons_core._instance import WORD
    from lcons_tasks.own_data import Structures

    data = read_labelled(path, form, columns)
    if not isinstance(data, Structures) or data.tuples or any(WORD not in one.x for one in data.instances):
        raise InvalidInput(f"expected sentences with words and labels in {path!r}: name them by --columns.")
    return data


def read_sentences(path: str, form: str | None, columns: str | None) -> list[Sentence]:
    """The words and labels of a file."""
    from lcons_tasks import Sentence

    instances = read_words_and_labels(path, form, columns).instances
    return [Sentence(tuple(one.x["word"]), tuple(one.y)) for one in instances]
