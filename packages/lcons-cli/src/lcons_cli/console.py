"""What the commands that label text share: input of any bytes, output to whoever reads it, POS tags, words to
stderr.

Only click is imported here; what is needed is imported when it is used.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from lcons_cli.streams import Text, Waits, arriving, never

if TYPE_CHECKING:
    from lcons_tasks.data.text import PosTagger, TaggedSentence, TaggerProgress

STDIN = "-"
POS = "pos"

Say = Callable[[str], None]
TaggedCorpus = Callable[[], "tuple[str, list[TaggedSentence]]"]

# What a full or failing disk says.
_NOT_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

# JSON may hold these as they are, but some readers take them for the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


def say_on_stderr(text: str) -> None:
    """A line on stderr."""
    click.echo(f"lcons: {text}", err=True)


def say_nothing(text: str) -> None:
    """Quiet."""


def listed(counts: Counter[str]) -> str:
    """Names and how often each was counted, the most frequent first.

    >>> listed(Counter("abb"))
    'b 2, a 1'
    """
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common()) or "none"


def standard_input() -> BinaryIO:
    """Standard input as bytes, as they come; an error where whoever started this has closed it."""
    from lcons_core._errors import LconsError

    if sys.stdin is None:
        raise LconsError("cannot read standard input: it is closed; name a file, or give one on stdin.")
    return arriving(sys.stdin.buffer)


@contextmanager
def opened(file: str) -> Iterator[Text]:
    """The input as text."""
    from lcons_core._errors import LconsError

    if file == STDIN:
        yield Text(standard_input())
        return
    try:
        source = Path(file).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise LconsError(
            f"cannot read {file!r}: {getattr(error, 'strerror', None) or error}; name a text file, or `-` for"
            " stdin."
        ) from None
    with source:
        yield Text(source)


def numbered_chunks(source: Text) -> Iterator[tuple[int, list[str]]]:
    """Lines without their ends, some at a time, with the number of the first of them."""
    from lcons_tasks.apps.references._parser import chunks

    number = 1
    lines = (line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for line in source)
    for chunk in chunks(lines, len, source.waits):
        yield number, chunk
        number += len(chunk)


def json_line(value: Any) -> str:
    """A JSON object on a line; encoded with `backslashreplace`, bytes that are not UTF-8 are escapes."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def write_all(contents: Generator[bytes, None, None], waits: Waits = never) -> bool:
    """Writes to stdout, as the contents come; whether whoever reads it stayed to the end.

    Where the input `waits` for more, what was written is passed on.
    """
    from lcons_core._errors import LconsError

    if sys.stdout is None:
        raise LconsError("cannot write to standard output: it is closed; give a file or a pipe to write to.")
    out = sys.stdout.buffer
    try:
        with closing(contents):
            for content in contents:
                out.write(content)
                if waits():
                    out.flush()
        out.flush()
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        _leave_stdout()
        if isinstance(error, BrokenPipeError):
            return False
        raise LconsError(
            f"cannot go on reading or writing: {error.strerror}; try again with another file."
        ) from None
    return True


def cannot_write(error: BaseException) -> str | None:
    """What to say of an error that is no fault of lcons, as there is no room for the output or its disk
    fails; what is left of it goes nowhere. None of any other error."""
    if not isinstance(error, OSError) or error.errno not in _NOT_WRITTEN:
        return None
    _leave_stdout()
    return f"cannot write the output: {error.strerror}; make room, or write it elsewhere."


def pos_tagger(corpus: TaggedCorpus, say: Say) -> PosTagger:
    """The POS tagger at hand, else one trained on the corpus and kept."""
    from lcons_tasks.data import cache_folder
    from lcons_tasks.data.text import find_pos_tagger

    with tagger_progress(say) as progress:
        tagger = find_pos_tagger(corpus, cache_dir=cache_folder().parent / "pos", progress=progress)
    say(f"POS tags by the {tagger.name}")
    return tagger


def tags_many(tagger: PosTagger, sentences: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """A tag a word for each sentence; spaCy forgets words that are new to it, so that memory stays flat."""
    with tagger.pipeline.memory_zone():
        return tagger.tags_many(sentences)


def tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """The best corpus at hand to train a POS tagger on: CoNLL-2000's training set, else the bundled one."""
    from lcons_tasks.data.text import _pos as best_tagger

    return best_tagger.tagged_corpus()


@contextmanager
def tagger_progress(say: Say) -> Iterator[Callable[[TaggerProgress], None]]:
    """A progress bar on stderr if that is a terminal, else a line, once training has begun."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    quiet = say is say_nothing
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        tasks: list[Any] = []

        def report(step: TaggerProgress) -> None:
            if not tasks:
                say("training a POS tagger, which is kept for the next time")
                tasks.append(bars.add_task("POS tagger", total=step.total))
            bars.update(tasks[0], completed=step.done)

        yield report


def _leave_stdout() -> None:
    """The output cannot be written, or whoever read it has gone: what is left of it goes nowhere, quietly."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
