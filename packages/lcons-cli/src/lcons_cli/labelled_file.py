"""Labelled data in a file, and the options for reading it, of `lcons learn` and `lcons diagnose`.

Only click is imported here; other modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say

if TYPE_CHECKING:
    from lcons_tasks.own_data import Data

# Fewer labels than this are plausible, even in a file of few words.
_MANY_LABELS = 20

_OPTIONS = (
    click.option(
        "--format",
        "form",
        metavar="FORMAT",
        help="conll: columns. jsonl: one object per line. csv, npz: psi vectors. datasets: a folder that"
        " Hugging Face `datasets` saved. With lcons-contrib also spacy (a DocBin), prodigy, label-studio,"
        " webanno (TSV 3), brat: files of these tools. Default: from the file.",
    ),
    click.option(
        "--columns",
        metavar="COLUMNS",
        help="The places of the columns. CoNLL: `word,pos,label` are the first three, `_` skips one;"
        " `word=1,label=-1` are numbers, negative ones from the end. JSON lines and datasets:"
        " `word=tokens,label=tags` are members. spacy, webanno: `label=NAME` is a span group or layer."
        " Default: the first column is the word, the last is the label, and the second of three or more is"
        " pos; in `.conllu` files the words are FORM and the labels UPOS.",
    ),
    click.option(
        "--tabs", is_flag=True, help="CoNLL columns separated by one tab, so that cells may contain blanks."
    ),
)


# Only for commands that read tables of psi vectors.
valid_option = click.option(
    "--valid",
    metavar="LABEL",
    help="Tables of psi vectors: the label of valid vectors, if the two labels are not 0 and 1.",
)


def labelled_options(command: Any) -> Any:
    """Adds `form`, `columns` and `tabs` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_labelled(
    path: str, form: str | None, columns: str | None, tabs: bool, say: Say, valid: str | None = None
) -> Data:
    """The data in a file; prints which columns are read if none were stated."""
    import warnings

    from lcons_tasks.own_data import described_layout, labelled_layout, read_data, tell_format

    told = form or tell_format(path, columns is not None, tabs)
    if told == "conll" and columns is None:
        layout = described_layout(labelled_layout(path, None, tabs))
        say(f"reading CoNLL columns {layout} of {Path(path).name}; choose others with --columns")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        data = read_data(path, told, columns, tabs, valid)
    for warning in found:
        click.echo(f"warning: {warning.message}", err=True)
    for text in _doubts(data, path):
        click.echo(f"warning: {text}", err=True)
    return data


def _doubts(data: Data, path: str) -> Iterator[str]:
    """A warning if the labels are probably words."""
    from lcons_core._instance import WORD
    from lcons_tasks.own_data import Structures

    if not isinstance(data, Structures) or data.tuples:
        return
    labels = {label for one in data.instances for label in one.y}
    words = {word for one in data.instances for word in one.x.get(WORD, ())}
    if len(labels) > max(len(words), _MANY_LABELS):
        yield (
            f"{Path(path).name} has {len(labels):,} different labels and {len(words):,} different words;"
            " if another column has the labels, name it, as in `--columns label,word`"
        )
