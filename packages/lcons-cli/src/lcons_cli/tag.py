"""`lcons tag`: labels for raw text or CoNLL columns, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import (
    POS,
    STDIN,
    Say,
    listed,
    opened,
    pos_tagger,
    say_nothing,
    say_on_stderr,
    tags_many,
    write_all,
)
from lcons_cli.console import tagged_corpus as _tagged_corpus
from lcons_cli.options import FILE, common_options, folder_options
from lcons_cli.streams import Text, Waits

if TYPE_CHECKING:
    from lcons_decode import Decoding
    from lcons_decode._scores import Columns
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.data.text import PosTagger

DEFAULT_MODEL = "runs/chunking/tagger"

# Bytes that are not UTF-8 are written unchanged; in JSON, which is UTF-8, as escapes.
_ERRORS = {"json": "backslashreplace"}


@click.command(short_help="Label text with a trained tagger.")
@click.argument("file", type=FILE, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    show_default=True,
    type=FILE,
    metavar="FOLDER",
    help="The tagger, as `lcons fit` or `lcons run chunking` writes it.",
)
@click.option(
    "--columns",
    metavar="COLUMNS",
    help="Read CoNLL columns: `word,pos` are the first two, `_` skips one, `word=1,pos=-2` or `1,3` are"
    " numbers; negative numbers count from the end. Other columns are not read. Default: the input is raw"
    " text.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["conll", "json", "brackets"]),
    help="conll: one line per word, with word, POS and label. json: one object per line, where start and end"
    " count words. brackets: [NP the dog] [VP barked]. Default: brackets for raw text, conll for columns.",
)
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option(
    "--together",
    is_flag=True,
    help="Read all of the input before the first answer, and use it as unlabelled text: labels of a word are"
    " drawn to those that it has elsewhere in the input. This helps models of few labelled sentences.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@folder_options
@common_options("Print how often each label occurs.", json=None, seed="unused")
def tag(
    file: str,
    folder: str,
    columns: str | None,
    form: str | None,
    no_constraints: bool,
    together: bool,
    out: str | None,
    engine: str,
    jobs: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Label the text in FILE, or on stdin, with a model under its constraints.

    A sentence of raw text ends at a full stop or the like, or at a blank line. If the tagger needs POS tags
    and the input has none, spaCy provides them.

    FILE may be a folder of Parquet files or JSON lines (.jsonl), with `-o OUT`. Rows with the list `words`,
    and other columns that the tagger reads, get `labels`, `score`, `status` and `changed`. Rows with a `text`
    get `sentences`, with the words and labels of each.

    \b
    Example:
      echo "The dog barked at us." | lcons tag
      lcons tag --columns word,pos --format json test.txt
      lcons tag --together news.txt
    """
    from lcons_core import InvalidInput
    from lcons_tasks.apps import load_constrained_tagger

    tagger = load_constrained_tagger(folder)
    say: Say = say_nothing if quiet else say_on_stderr
    used = tagger.alone if no_constraints else tagger
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder
        from lcons_tasks.apps import TaggerDecoder

        if together:
            raise InvalidInput("--together reads one file, found a folder; leave it out.")
        run_folder(TaggerDecoder(folder, not no_constraints), file, out, engine, jobs, say)
        return
    if out is not None:
        raise InvalidInput("-o is for a folder; the answers for a file are on stdout.")
    if columns is None and _has_columns(file):
        name = Path(file).name
        click.echo(f"warning: {name} is read as raw text; if it has columns, add --columns word", err=True)
    run(used, file, columns, form, say, say if verbose else say_nothing, together)


def _has_columns(file: str) -> bool:
    """Whether the name or the beginning of a file is that of CoNLL columns."""
    from lcons_core import InvalidInput
    from lcons_tasks.own_data import tell_format

    try:
        return Path(file).is_file() and tell_format(file) == "conll"
    except InvalidInput:
        return False


def run(
    tagger: ConstrainedTagger,
    file: str,
    columns: str | None,
    form: str | None,
    say: Say,
    say_more: Say = say_nothing,
    together: bool = False,
) -> None:
    """Writes the tagged sentences of the input to stdout, one chunk at a time, and prints a summary.
    `together`: the labels of a word are drawn to those that it has elsewhere in the input."""
    form = form or ("brackets" if columns is None else "conll")
    summary = _Summary(bool(tagger.constraints))
    with opened(file) as source:
        xs = _inputs(tagger, source, file, columns, say)
        if together:
            tagger, xs = _together(tagger, xs)
        if write_all(_contents(tagger, xs, form, summary, source.waits), source.waits):
            say(str(summary))
            say_more(f"labels: {listed(summary.labels)}")


def _together(
    tagger: ConstrainedTagger, xs: Iterator[Columns]
) -> tuple[ConstrainedTagger, Iterator[Columns]]:
    """The tagger that has read all inputs, and the inputs."""
    from lcons_tasks.models import consistent_over

    known = list(xs)
    if known:
        tagger = replace(tagger, model=consistent_over(tagger.model, known))
    return tagger, iter(known)


def _contents(
    tagger: ConstrainedTagger, xs: Iterator[Columns], form: str, summary: _Summary, waits: Waits
) -> Generator[bytes, None, None]:
    from lcons_tasks.data._tagged_text import TAGGED_FORMATS

    xs, again = tee(xs)
    for x, answer in zip(xs, tagger.tag_stream(again, waits), strict=True):
        text = TAGGED_FORMATS[form](x, answer)
        summary.count(len(x["word"]), answer)
        try:
            yield text.encode("utf-8")
        except UnicodeEncodeError:
            summary.not_utf8 += 1
            yield text.encode("utf-8", _ERRORS.get(form, "surrogateescape"))


class _Summary:
    """Counts of tagged sentences and words."""

    def __init__(self, constrained: bool) -> None:
        self.constrained = constrained
        self.sentences = self.words = self.changed = self.not_utf8 = 0
        self.statuses: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()

    def count(self, words: int, answer: Decoding) -> None:
        self.sentences += 1
        self.words += words
        self.changed += bool(answer.stats["changed"])
        self.statuses[str(answer.status)] += 1
        self.labels.update(answer.y)

    def __str__(self) -> str:
        parts = [f"sentences: {self.sentences:,} ({self.words:,} words)"]
        if self.constrained:
            parts.append(f"changed by the constraints: {self.changed:,}")
        shown = [status for status in ("out of budget", "time limit", "infeasible") if self.statuses[status]]
        parts += [f"{status}: {self.statuses[status]:,}" for status in ["relaxed"] * self.constrained + shown]
        if self.not_utf8:
            parts.append(f"not UTF-8, kept as they are: {self.not_utf8:,}")
        return ", ".join(parts)


def _inputs(
    tagger: ConstrainedTagger, source: Text, file: str, columns: str | None, say: Say
) -> Iterator[Columns]:
    """The sentences of the input with all columns that the tagger reads."""
    from lcons_core import InvalidInput
    from lcons_tasks.data._stream import column_layout, column_sentences, text_sentences

    layout = None if columns is None else column_layout(columns)
    missing = [name for name in tagger.columns if layout is None or name not in layout.context]
    if missing not in ([], [POS]):
        name = next(name for name in missing if name != POS)
        raise InvalidInput(
            f"the tagger reads column {name!r}, but the input is {columns or 'raw text'}; pass columns that"
            f" include it, such as `--columns word,{name}`."
        )
    if layout is None:
        xs: Iterator[Columns] = text_sentences(source)
    else:
        xs = column_sentences(source, layout, "standard input" if file == STDIN else file)
    return _with_pos(xs, source.waits, say) if missing else xs


def _with_pos(xs: Iterator[Columns], waits: Waits, say: Say) -> Iterator[Columns]:
    """The sentences with POS tags; the POS tagger is loaded only if there is a sentence."""
    from lcons_tasks.apps._tagger import chunked

    tagger: PosTagger | None = None
    for chunk in chunked(xs, waits):
        tagger = tagger or pos_tagger(_tagged_corpus, say)
        for x, tags in zip(chunk, tags_many(tagger, (x["word"] for x in chunk)), strict=True):
            yield {**x, POS: tags}
