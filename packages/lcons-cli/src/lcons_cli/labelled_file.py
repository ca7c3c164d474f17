"""Labelled data in a file, and the options that say how to read it, of `lcons learn` and `lcons diagnose`.

Only click is imported here; what is needed is imported when it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say

if TYPE_CHECKING:
    from lcons_tasks.own_data import Data

FORMATS = ("conll", "jsonl", "csv", "npz")

_OPTIONS = (
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="conll: columns. jsonl: an object a line. csv, npz: psi vectors. Default: told from the file.",
    ),
    click.option(
        "--columns",
        metavar="COLUMNS",
        help="Where things are. CoNLL: `word,pos,label` are the first three, `_` skips one,"
        " `word=1,label=-1` are numbers, from the end where negative. JSON lines: `word=tokens,label=tags`"
        " are members. Default: the first column is the word, the last the label, and of three or more the"
        " second is pos; of `.conllu` the words are FORM and the labels UPOS.",
    ),
    click.option(
        "--tabs", is_flag=True, help="CoNLL columns whose cells are separated by one tab and may hold blanks."
    ),
)


def labelled_options(command: Any) -> Any:
    """Adds `form`, `columns` and `tabs` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_labelled(path: str, form: str | None, columns: str | None, tabs: bool, say: Say) -> Data:
    """The data in a file; says which columns are read where nobody stated them."""
    from lcons_tasks.own_data import described_layout, labelled_layout, read_data, tell_format

    told = form or tell_format(path, columns is not None, tabs)
    if told == "conll" and columns is None:
        layout = described_layout(labelled_layout(path, None, tabs))
        say(f"reading CoNLL columns {layout} of {Path(path).name}; state others with --columns")
    return read_data(path, told, columns, tabs)
