"""CoNLL columns of the user: which column is what, the labelled sentences, and the words alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path

from lcons_core import Instance, InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.data import Columns, Sentence, read_columns
from lcons_tasks.data._columns import Column, first_width
from lcons_tasks.data._lines import malformed
from lcons_tasks.data._stream import POS, column_layout
from lcons_tasks.own_data._records import LABEL, File, Words

# Columns of CoNLL-U.
FORM, UPOS = 2, 4
LAST = -1


def labelled_layout(path: File, columns: str | None, tabs: bool = False) -> Columns:
    """The layout that `columns` states, with the label in the last column unless it names `label`.

    Without `columns`, the first column is the word, the last is the label, and the second of three or more is
    `pos`. In CoNLL-U (`.conllu`), the words are FORM and the labels UPOS, unless `columns` names others.
    """
    options = _options(path, tabs)
    number, width = first_width(path, options) or (1, 0)
    if not width or (columns is None and width < 2):
        raise malformed(path, number, "expected sentences with one line per token, a word and its label.")
    if columns is None and options.conllu:
        return replace(options, words=FORM, labels=UPOS)
    if columns is None:
        return replace(options, words=1, labels=LAST, context={POS: 2} if width > 2 else {})
    stated = column_layout(columns)
    context = dict(stated.context)
    labels = context.pop(LABEL, UPOS if options.conllu else LAST)
    layout = replace(options, words=stated.words, labels=labels, context=context)
    try:
        places = layout.places(width)
    except InvalidInput as error:
        raise malformed(path, number, str(error)) from None
    if len(set(places.values())) < len(places):
        example = f"{WORD}=1,{LABEL}={min(width, 2)}"
        raise malformed(path, number, f"name the column of the labels, as in `{example}`.")
    return layout


def described_layout(layout: Columns) -> str:
    """The layout in the form of the argument `columns`."""
    places = {WORD: layout.words, **layout.context, LABEL: layout.labels}
    return ",".join(f"{name}={place}" for name, place in places.items())


def _options(path: File, tabs: bool) -> Columns:
    conllu = Path(path).suffix.lower() == ".conllu"
    separator = "\t" if tabs or conllu else None
    return Columns(separator=separator, skip_docstart=True, comments=True, conllu=conllu)


def labelled_sentences(path: File, columns: str | None, tabs: bool) -> list[Instance]:
    """The labelled sentences of a file."""
    sentences = list(read_columns(path, labelled_layout(path, columns, tabs)))
    instances = list(_without_comments(sentences))
    if not instances:
        raise malformed(path, 1, "expected sentences with one line per token: got none.")
    return instances


def _without_comments(sentences: Iterable[Sentence]) -> Iterator[Instance]:
    """The sentences without comments, such as `# comment`, that have as many cells as a token: such a line
    begins a sentence, and its label is not that of another word."""
    pairs = ((w, y) for sentence in sentences for w, y in zip(sentence.words, sentence.labels, strict=True))
    labels = {label for word, label in pairs if word != "#"}
    labels = labels and labels | {"#"}
    for sentence in sentences:
        tokens = zip(sentence.words, sentence.labels, *sentence.columns.values(), strict=True)
        if rows := list(
            dropwhile(lambda row: row[0] == "#" and bool(labels) and row[1] not in labels, tokens)
        ):
            words, y, *columns = zip(*rows, strict=True)
            yield Instance({WORD: words, **dict(zip(sentence.columns, columns, strict=True))}, y)


def words_of_columns(path: File, columns: str | None, tabs: bool, single: bool) -> Iterator[Words]:
    """The words of each sentence; `single`: each line is one word."""
    options = _options(path, tabs)
    place: Column = FORM if options.conllu else 1
    if single and not options.conllu:
        options = replace(options, comments=False)
    elif columns is not None:
        with suppress(InvalidInput):
            place = column_layout(columns).words
    for sentence in read_columns(path, replace(options, words=place, labels=place)):
        yield sentence.words
