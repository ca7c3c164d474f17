"""Input and output of the commands that label text: any bytes from stdin, results to stdout, notes to stderr.

It also finds the POS tagger for them. Only click is imported here; other modules are imported on use.
"""

from __future__ import annotations

import errno
import json
import os
import select
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from lcons_cli.streams import Text, Waits, arriving, never

if TYPE_CHECKING:
    from lcons_tasks.data.text import PosTagger
    from lcons_tasks.data.text._plan import TaggedSentence
    from lcons_tasks.data.text._spacy_tagger import TaggerProgress

STDIN = "-"
POS = "pos"

Say = Callable[[str], None]
TaggedCorpus = Callable[[], "tuple[str, list[TaggedSentence]]"]

# The error numbers of a full or failing disk.
_NOT_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

# How libraries say that there is too little memory, if not by MemoryError.
_NO_MEMORY = (
    "Cannot allocate memory",
    "can't allocate memory",
    "cannot allocate memory",
    "failed to map segment",
)

# JSON may hold these characters unescaped, but some readers treat them as the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


def say_on_stderr(text: str) -> None:
    """Prints a line on stderr."""
    click.echo(f"lcons: {text}", err=True)


def say_nothing(text: str) -> None:
    """Prints nothing: the `Say` of `--quiet`."""


def listed(counts: Counter[str]) -> str:
    """The names with their counts, the most frequent first.

    >>> listed(Counter("abb"))
    'b 2, a 1'
    """
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common()) or "none"


def standard_input() -> BinaryIO:
    """Standard input as bytes, as they arrive; raises `LconsError` if it is closed."""
    from lcons_core import LconsError

    if sys.stdin is None:
        raise LconsError("cannot read standard input: it is closed; name a file, or send one to stdin.")
    return arriving(sys.stdin.buffer)


@contextmanager
def opened(file: str) -> Iterator[Text]:
    """The input as text."""
    from lcons_core import LconsError

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
    """Chunks of lines without their line ends, each with the number of its first line."""
    from lcons_tasks.apps.references import chunks

    number = 1
    lines = (line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for line in source)
    for chunk in chunks(lines, len, source.waits):
        yield number, chunk
        number += len(chunk)


def json_line(value: Any) -> str:
    """A JSON object on one line; encode it with `backslashreplace` to escape bytes that are not UTF-8."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def write_all(contents: Generator[bytes, None, None], waits: Waits = never) -> bool:
    """Writes the contents to stdout as they come; returns False if the reader of stdout closed it.

    Flushes the output whenever the input `waits` for more.
    """
    from lcons_core import LconsError

    if sys.stdout is None:
        raise LconsError("cannot write to standard output: it is closed; redirect it to a file or a pipe.")
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
            f"cannot continue reading or writing: {error.strerror}; try again with another file."
        ) from None
    return True


def lacks_memory(error: BaseException) -> bool:
    """Whether an error is one of too little memory, while work is done or a library is loaded."""
    told = isinstance(error, ImportError | RuntimeError) and any(words in str(error) for words in _NO_MEMORY)
    return told or isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def failure_of_machine(error: BaseException) -> str | None:
    """The sentence for an error of a full or failing disk, or of too little memory, which is not a bug of
    lcons; None for any other error. The rest of the output is discarded."""
    if lacks_memory(error):
        _leave_stdout()
        return (
            "there is not enough memory for this; close other programs, raise the limit on memory (`ulimit"
            " -v`), or use less data."
        )
    if not isinstance(error, OSError) or error.errno not in _NOT_WRITTEN:
        return None
    _leave_stdout()
    return f"cannot write the output: {error.strerror}; make room, or write to another disk."


def pos_tagger(corpus: TaggedCorpus, say: Say) -> PosTagger:
    """The installed POS tagger, else one that is trained on the corpus and kept."""
    from lcons_tasks.data._catalog import cache_folder
    from lcons_tasks.data.text import find_pos_tagger

    with tagger_progress(say) as progress:
        tagger = find_pos_tagger(corpus, cache_dir=cache_folder().parent / "pos", progress=progress)
    say(f"POS tags by the {tagger.name}")
    return tagger


def tags_many(tagger: PosTagger, sentences: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """One tag per word for each sentence; spaCy forgets new words after it, so that memory does not grow."""
    with tagger.pipeline.memory_zone():
        return tagger.tags_many(sentences)


def tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """The best available corpus to train a POS tagger: CoNLL-2000's training set, else the bundled corpus."""
    from lcons_tasks.data.text._pos import tagged_corpus

    return tagged_corpus()


@contextmanager
def tagger_progress(say: Say) -> Iterator[Callable[[TaggerProgress], None]]:
    """Shows a progress bar on stderr if that is a terminal, else one line, when training begins."""
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


def leave_unread() -> bool:
    """Whether stdout is a pipe whose reader closed it; the rest of the output is then discarded. Other pipes,
    such as those to other processes, break for other reasons."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        left = any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    except (AttributeError, OSError, ValueError):
        return False
    if left:
        _leave_stdout()
    return left


def leave_unless_file() -> None:
    """Discards the output that is not yet written, unless stdout is a file: a command that was told to end
    would wait for the reader of a full pipe, perhaps for ever."""
    try:
        is_file = stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):
        return
    if not is_file:
        _leave_stdout()


def _leave_stdout() -> None:
    """Discards the rest of the output, which cannot be written or has no reader any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
