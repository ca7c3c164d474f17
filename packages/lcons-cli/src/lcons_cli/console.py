"""Input and output of the commands: bytes as they arrive, results on stdout, all else on stderr.

Only click is imported here; other modules are imported on use.
"""

from __future__ import annotations

import codecs
import json
import select
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

if TYPE_CHECKING:
    from lcons_tasks.data.text import PosTagger

STDIN = "-"
POS = "pos"
Waits = Callable[[], bool]

# JSON may hold these characters unescaped, but some readers treat them as the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


def is_quiet() -> bool:
    """Whether the user asked for results, warnings and errors only: `lcons --quiet COMMAND`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("quiet"))


def say(text: str) -> None:
    """Prints a note on stderr."""
    if not is_quiet():
        click.echo(f"lcons: {text}", err=True)


def warn(text: str) -> None:
    """Prints a warning on stderr, in one line."""
    click.echo(f"warning: {' '.join(text.split())}", err=True)


def print_json(value: Any) -> None:
    """Prints plain data on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_answer(as_json: bool, value: Any, text: str) -> None:
    """Prints an answer on stdout, as plain data or as text."""
    if as_json:
        print_json(value)
    else:
        click.echo(text)


def never() -> bool:
    """False: a source that never waits."""
    return False


def stdin_waits() -> bool:
    """Whether the next line of stdin has not arrived yet: a program may wait for the answers to its last."""
    try:
        return not select.select([sys.stdin.fileno()], [], [], 0)[0]
    except (OSError, ValueError):
        return False


class Tally(Counter[str]):
    """Counts of answers: their statuses, and how many the constraints changed."""

    def add(self, status: object, changed: object, **counts: int) -> None:
        """Counts one answer, and what else it has."""
        self.update({str(status): 1, "answers": 1, "changed": int(bool(changed)), **counts})

    def summary(self, noun: str, part: str, constrained: bool) -> str:
        """The counts in words: `noun` is an answer, `part` what it consists of."""
        shown = [f"{noun}: {self['answers']:,} ({self[part]:,} {part})"]
        if constrained:
            shown += [f"changed by the constraints: {self['changed']:,}", f"relaxed: {self['relaxed']:,}"]
        rare = ("out of budget", "time limit", "infeasible")
        return ", ".join([*shown, *(f"{status}: {self[status]:,}" for status in rare if self[status])])


@contextmanager
def opened_bytes(file: str) -> Iterator[tuple[BinaryIO, Waits]]:
    """The bytes of a file or of stdin, and whether the next line has not arrived yet."""
    from lcons_core import LconsError

    if file == STDIN:
        if sys.stdin is None:
            raise LconsError("cannot read standard input: it is closed; name a file.")
        yield sys.stdin.buffer, stdin_waits
        return
    with Path(file).open("rb") as source:
        yield source, never


class Text:
    """Bytes as text: without a byte order mark; bytes that are not UTF-8 are kept; a newline ends a line.

    >>> import io
    >>> list(Text(io.BytesIO(b"\\xef\\xbb\\xbfone\\ntwo")))
    ['one\\n', 'two']
    """

    def __init__(self, source: BinaryIO, waits: Waits = never) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self.waits, self.lines = waits, 0

    def __iter__(self) -> Iterator[str]:
        text = TextIOWrapper(self._source, "utf-8-sig", "surrogateescape", newline="\n")
        try:
            yield from text
        finally:
            text.detach()  # who opened the source closes it

    def read(self, size: int, /) -> str:
        """The text that has arrived, at most about `size` characters; "" at the end."""
        while data := self._source.read1(size):  # type: ignore[attr-defined]
            text = self._decoder.decode(data)
            self.lines += text.count("\n")
            if text:
                return text
        return self._decoder.decode(b"", True)

    def chunks(self) -> Iterator[tuple[int, list[str]]]:
        """Chunks of lines without their line ends, each with the number of its first line."""
        from lcons_tasks.apps.references import chunks

        number = 1
        lines = (line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for line in self)
        for chunk in chunks(lines, len, waits=self.waits):
            yield number, chunk
            number += len(chunk)


@contextmanager
def opened(file: str) -> Iterator[Text]:
    """A file or stdin as text."""
    with opened_bytes(file) as (source, waits):
        yield Text(source, waits)


def json_line(value: Any) -> str:
    """A JSON object on one line; encode it with `backslashreplace` to escape bytes that are not UTF-8."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def escaped(texts: Iterable[str]) -> Generator[bytes, None, None]:
    """Texts as UTF-8, in which a lone surrogate (a byte that is not UTF-8) is an escape of JSON."""
    yield from (text.encode("utf-8", "backslashreplace") for text in texts)


def write_all(contents: Generator[bytes, None, None], waits: Waits = never) -> None:
    """Writes the contents to stdout as they come, and flushes whenever the input `waits` for more."""
    out = sys.stdout.buffer
    with closing(contents):
        for content in contents:
            out.write(content)
            if waits():
                out.flush()
    out.flush()


def write_lines(lines: Iterable[str], path: str | None) -> None:
    """Writes the lines as UTF-8 to stdout, or to a file that appears complete or not at all."""
    from lcons_core._files import replacing

    encoded = (f"{line}\n".encode() for line in lines)
    if path is None:
        write_all(encoded)
        return
    with replacing(path) as file:
        file.writelines(encoded)


def pos_tags() -> Callable[[Iterable[Sequence[str]]], list[tuple[str, ...]]]:
    """A function of sentences that returns one tag per word for each. Its tagger is loaded when it is first
    called: the installed one, else one that is trained on the best corpus at hand and kept."""
    from lcons_cli.progress import progress
    from lcons_tasks.data.text._pos import find_pos_tagger

    @cache
    def tagger() -> PosTagger:
        with progress("training a POS tagger, which is kept for the next time") as report:
            best = find_pos_tagger(progress=report)
        say(f"POS tags by the {best.name}")
        return best

    def tags(sentences: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        # spaCy forgets new words after it, so that memory does not grow.
        with tagger().pipeline.memory_zone():
            return tagger().tags_many(sentences)

    return tags
