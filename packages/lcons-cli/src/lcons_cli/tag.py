"""`lcons tag`: labels for raw text or CoNLL columns, by a model under its constraints.

Only click is imported here; what the command needs is imported when it runs.
"""

from __future__ import annotations

import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from lcons_decode import Decoding
    from lcons_tasks.tagging.constrained_tagger import Columns, ConstrainedTagger
    from lcons_tasks.text import PosTagger, TaggedSentence, TaggerProgress

DEFAULT_MODEL = "runs/chunking/tagger"
STDIN = "-"
POS = "pos"

# Bytes that are not UTF-8 are written as they were read; in JSON, which is UTF-8, as escapes.
_ERRORS = {"json": "backslashreplace"}

Say = Callable[[str], None]


@click.command()
@click.argument("file", default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    show_default=True,
    metavar="FOLDER",
    help="The tagger, as `lcons run chunking` writes it.",
)
@click.option(
    "--columns",
    metavar="COLUMNS",
    help="The input is CoNLL columns: `word,pos` are the first two, `_` skips one, `word=1,pos=-2` or `1,3`"
    " are numbers, from the end where negative. Others are not read. Default: the input is raw text.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["conll", "json", "brackets"]),
    help="conll: word, POS and label, a line a word. json: an object a line, where start and end count words."
    " brackets: [NP the dog] [VP barked]. Default: brackets for raw text, conll for columns.",
)
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def tag(
    file: str, folder: str, columns: str | None, form: str | None, no_constraints: bool, quiet: bool
) -> None:
    """Label the text in FILE, or on stdin, with a model under its constraints.

    POS tags that the tagger needs and the input has not are found with spaCy.

    \b
    Example:
      echo "The dog barked at us." | lcons tag
      lcons tag --columns word,pos --format json test.txt
    """
    from lcons_tasks.tagging.constrained_tagger import load_constrained_tagger

    tagger = load_constrained_tagger(folder)
    say: Say = _say_nothing if quiet else _say
    run(tagger.alone if no_constraints else tagger, file, columns, form, say)


def run(tagger: ConstrainedTagger, file: str, columns: str | None, form: str | None, say: Say) -> None:
    """Writes the tagged sentences of the input to stdout, a chunk at a time, and says what was done."""
    from lcons_core.errors import LconsError
    from lcons_tasks.tagging.writing import FORMATS

    form = form or ("brackets" if columns is None else "conll")
    summary = _Summary(bool(tagger.constraints))
    out = sys.stdout.buffer
    with _opened(file) as source:
        xs, again = tee(_inputs(tagger, source, file, columns, say))
        answers = tagger.tag_stream(again)
        try:
            for x, answer in zip(xs, answers, strict=True):
                text = FORMATS[form](x, answer)
                summary.count(len(x["word"]), answer)
                try:
                    content = text.encode("utf-8")
                except UnicodeEncodeError:
                    content = text.encode("utf-8", _ERRORS.get(form, "surrogateescape"))
                    summary.not_utf8 += 1
                out.write(content)
            out.flush()
        except OSError as error:
            if isinstance(error, LconsError):
                raise
            _leave_stdout()
            if isinstance(error, BrokenPipeError):
                return
            raise LconsError(
                f"cannot go on reading or writing: {error.strerror}; try again with another file."
            ) from None
    say(str(summary))


class _Summary:
    """Counts of what was tagged."""

    def __init__(self, constrained: bool) -> None:
        self.constrained = constrained
        self.sentences = self.words = self.changed = self.not_utf8 = 0
        self.statuses: Counter[str] = Counter()

    def count(self, words: int, answer: Decoding) -> None:
        self.sentences += 1
        self.words += words
        self.changed += bool(answer.stats["changed"])
        self.statuses[str(answer.status)] += 1

    def __str__(self) -> str:
        parts = [f"sentences: {self.sentences:,} ({self.words:,} words)"]
        if self.constrained:
            parts.append(f"changed by the constraints: {self.changed:,}")
        shown = [status for status in ("time limit", "infeasible") if self.statuses[status]]
        parts += [f"{status}: {self.statuses[status]:,}" for status in ["relaxed"] * self.constrained + shown]
        if self.not_utf8:
            parts.append(f"not UTF-8, kept as they are: {self.not_utf8:,}")
        return ", ".join(parts)


def _inputs(
    tagger: ConstrainedTagger, source: TextIO, file: str, columns: str | None, say: Say
) -> Iterator[Columns]:
    """The sentences of the input with all columns that the tagger reads."""
    from lcons_core.errors import InvalidInput
    from lcons_tasks.tagging.reading import column_layout, column_sentences, text_sentences

    layout = None if columns is None else column_layout(columns)
    missing = [name for name in tagger.columns if layout is None or name not in layout.context]
    if missing not in ([], [POS]):
        name = next(name for name in missing if name != POS)
        raise InvalidInput(
            f"the tagger reads column {name!r}, found {columns or 'raw text'}; give columns with it, such"
            f" as `--columns word,{name}`."
        )
    if layout is None:
        xs: Iterator[Columns] = text_sentences(source)
    else:
        xs = column_sentences(source, layout, "standard input" if file == STDIN else file)
    return _with_pos(xs, say) if missing else xs


def _with_pos(xs: Iterator[Columns], say: Say) -> Iterator[Columns]:
    """The sentences with POS tags; the tagger is found when there is a sentence."""
    from lcons_tasks.tagging.constrained_tagger import chunked

    tagger: PosTagger | None = None
    for chunk in chunked(xs):
        tagger = tagger or _pos_tagger(say)
        for x, tags in zip(chunk, tagger.tags_many(x["word"] for x in chunk), strict=True):
            yield {**x, POS: tags}


def _pos_tagger(say: Say) -> PosTagger:
    from lcons_tasks.corpus import cache_folder
    from lcons_tasks.text import find_pos_tagger

    with _progress(say) as progress:
        tagger = find_pos_tagger(_tagged_corpus, cache_dir=cache_folder().parent / "pos", progress=progress)
    say(f"POS tags by the {tagger.name}")
    return tagger


def _tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """The best corpus at hand to train a POS tagger on: CoNLL-2000's training set, else the bundled one."""
    from lcons_tasks.bundled import bundled
    from lcons_tasks.corpus import find, read_columns

    found = find("conll2000")
    if found:
        name, paths = "CoNLL-2000", [found[0]]
    else:
        parts = ("train", "dev", "test")
        name, paths = "the bundled mini corpus", [bundled("chunking", f"{part}.txt") for part in parts]
    return name, [(s.words, s.columns[POS]) for path in paths for s in read_columns(path)]


@contextmanager
def _progress(say: Say) -> Iterator[Callable[[TaggerProgress], None]]:
    """A progress bar on stderr if that is a terminal, else a line, once training has begun."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    quiet = say is _say_nothing
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        tasks: list[Any] = []

        def report(step: TaggerProgress) -> None:
            if not tasks:
                say("training a POS tagger, which is kept for the next time")
                tasks.append(bars.add_task("POS tagger", total=step.total))
            bars.update(tasks[0], completed=step.done)

        yield report


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    """The input as text: without a byte order mark, with what is not UTF-8 kept; a newline ends a line."""
    from lcons_core.errors import LconsError

    try:
        raw = sys.stdin.buffer if file == STDIN else Path(file).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise LconsError(
            f"cannot read {file!r}: {getattr(error, 'strerror', None) or error}; name a text file, or `-` for"
            " stdin."
        ) from None
    text = io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="\n")
    try:
        yield text
    finally:
        text.detach()
        if file != STDIN:
            raw.close()


def _leave_stdout() -> None:
    """The output cannot be written, as whoever read it has gone: what is left of it goes nowhere, quietly."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _say(text: str) -> None:
    click.echo(f"lcons: {text}", err=True)


def _say_nothing(text: str) -> None:
    """Quiet."""
