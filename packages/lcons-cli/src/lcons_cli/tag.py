"""`lcons tag`: labels for raw text or CoNLL columns, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import click

from lcons_cli.console import POS, STDIN, Tally, opened, pos_tags, say, warn, write_all
from lcons_cli.options import STREAM, folder_options

if TYPE_CHECKING:
    from lcons_decode._scores import Columns
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.data._stream import Block, ColumnReader, TextReader
    from lcons_tasks.data._tagged_text import Places

    Placed = Sequence[tuple[Columns, Places]]
    Answers = tuple[bytes, Tally]
    Tags = Callable[[Iterable[Sequence[str]]], Sequence[Sequence[str]]]

DEFAULT_MODEL = "runs/chunking/tagger"


@click.command(short_help="Label text with a trained tagger.")
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
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
    " count words, and offsets count characters of the text. brackets: [NP the dog] [VP barked]. Default:"
    " brackets for raw text, conll for columns.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option(
    "--together",
    is_flag=True,
    help="Read all of the input before the first answer, and use it as unlabelled text: labels of a word are"
    " drawn to those that it has elsewhere in the input. This helps models of few labelled sentences.",
)
@folder_options
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
) -> None:
    """Label the text in FILE, or on stdin, with a model under its constraints.

    A sentence of raw text ends at a full stop or the like, and at a line break unless lines are wrapped. If
    the tagger needs POS tags and the input has none, spaCy provides them.

    FILE may be a folder of Parquet files or JSON lines (.jsonl), with `-o OUT`. Rows with the list `words`,
    and other columns that the tagger reads, get `labels`, `score`, `status` and `changed`. Rows with a `text`
    get `sentences`, with the words and labels of each.

    \b
    Example:
      echo "The dog barked at us." | lcons tag
      lcons tag --columns word,pos --format json test.txt
      lcons tag --together news.txt
    """
    from lcons_tasks.apps import load_constrained_tagger
    from lcons_tasks.apps._tagger import CHUNK_SENTENCES
    from lcons_tasks.data._stream import blocks, column_layout

    if together and (jobs is not None or Path(file).is_dir()):
        raise click.UsageError("--together reads one file in one process: leave it out, or --jobs.")
    tagger = load_constrained_tagger(folder)
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder
        from lcons_tasks.apps import TaggerDecoder

        run_folder(TaggerDecoder(folder, not no_constraints), file, out, engine, jobs)
        return
    if out is not None:
        raise click.UsageError("-o is for a folder; the answers for a file are on stdout.")
    tagger = tagger.alone if no_constraints else tagger
    form = form or ("brackets" if columns is None else "conll")
    reader, tags, tally = _reader(tagger, file, columns), pos_tags(), Tally()
    with opened(file) as source:
        parts = blocks(source, reader)
        tagged: Iterator[Answers]
        if together:
            from lcons_tasks.models import consistent_over

            pairs = [pair for part in parts for pair in _read(tagger, tags, part)]
            if pairs:
                tagger = replace(tagger, model=consistent_over(tagger.model, [x for x, _ in pairs]))
            chunks = (pairs[i : i + CHUNK_SENTENCES] for i in range(0, len(pairs), CHUNK_SENTENCES))
            tagged = (_tagged(tagger, form, chunk) for chunk in chunks)
        elif jobs is None:
            tagged = (_tagged(tagger, form, _read(tagger, tags, part)) for part in parts)
        else:
            if POS in tagger.columns and (columns is None or POS not in column_layout(columns).context):
                tags([])  # this process trains the POS tagger
            work = partial(_tagged_by, str(Path(folder).resolve()), not no_constraints, form)
            tagged = _in_order(work, parts, jobs)
        write_all(_counted(tagged, tally), source.waits)
    lines = f"line breaks: {source.lines:,}, " if columns is None else ""
    say(lines + tally.summary("sentences", "words", bool(tagger.constraints)))


def _reader(tagger: ConstrainedTagger, file: str, columns: str | None) -> TextReader | ColumnReader:
    """The reader of the input, which must have all columns that the tagger reads but POS tags."""
    from lcons_core import InvalidInput
    from lcons_tasks.data._stream import ColumnReader, TextReader, column_layout

    layout = None if columns is None else column_layout(columns)
    for name in tagger.columns:
        if name != POS and (layout is None or name not in layout.context):
            raise InvalidInput(
                f"the tagger reads the column {name!r}: got {columns or 'raw text'}; use"
                f" `--columns word,{name}`."
            )
    if Path(file).is_file():
        from lcons_tasks.own_data._formats import check_text, tell_format

        check_text(file)
        with suppress(InvalidInput):
            if layout is None and tell_format(file) == "conll":
                warn(f"{Path(file).name} is read as raw text; if it has columns, add --columns word")
    if layout is None:
        return TextReader()
    return ColumnReader(layout, "standard input" if file == STDIN else file)


def _read(tagger: ConstrainedTagger, tags: Tags | None, block: Block) -> Placed:
    """The sentences of a block with all columns that the tagger reads, and the places of their words."""
    from lcons_tasks.apps._batch_tagger import with_pos

    if not hasattr(block.reader, "columns"):
        _import_spacy()
    pairs = list(block.sentences())
    xs = with_pos(tagger, [x for x, _ in pairs], tags)
    return [(x, places) for x, (_, places) in zip(xs, pairs, strict=True)]


def _tagged(tagger: ConstrainedTagger, form: str, pairs: Placed) -> Answers:
    """The answers for some sentences as bytes, and their counts."""
    from lcons_tasks.data._tagged_text import TAGGED_FORMATS

    tally, texts, write = Tally(), [], TAGGED_FORMATS[form]
    for (x, places), answer in zip(pairs, tagger.tag_stream(x for x, _ in pairs), strict=True):
        tally.add(answer.status, answer.stats["changed"], words=len(x["word"]))
        texts.append(write(x, answer, places))
    # Bytes that are not UTF-8 are written unchanged; in JSON, which is UTF-8, as escapes.
    return "".join(texts).encode("utf-8", "backslashreplace" if form == "json" else "surrogateescape"), tally


def _tagged_by(folder: str, constrained: bool, form: str, block: Block) -> Answers:
    """The answers for a block in another process, which loads the taggers once."""
    from lcons_tasks.apps._tagger import loaded_tagger

    tagger = loaded_tagger(folder, constrained)
    return _tagged(tagger, form, _read(tagger, None, block))


def _alone() -> None:
    """An interrupt is for the first process, which ends the others by the signal TERM."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _in_order(work: Callable[[Block], Answers], parts: Iterable[Block], jobs: int) -> Iterator[Answers]:
    """The answers for blocks, in their order, by processes that share what this one has imported."""
    import multiprocessing
    from collections import deque
    from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

    from lcons_core import LconsError

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    waiting: deque[Future[Answers]] = deque()
    with ProcessPoolExecutor(jobs, context, _alone) as pool:
        try:
            for part in parts:
                waiting.append(pool.submit(work, part))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            yield from (answers.result() for answers in waiting)
        except BrokenExecutor:
            raise LconsError("a process ended early, perhaps for lack of memory: use fewer --jobs.") from None


def _counted(parts: Iterable[Answers], tally: Tally) -> Generator[bytes, None, None]:
    for content, counts in parts:
        tally.update(counts)
        yield content


def _import_spacy() -> None:
    """Imports spaCy, but neither torch nor spaCy's own commands, which spaCy would import too: words,
    sentences and tags need none of them."""
    hidden = {"torch": None, "spacy.cli.info": SimpleNamespace(info=None)}
    hidden = {name: module for name, module in hidden.items() if name not in sys.modules}
    if "spacy" not in sys.modules:
        sys.modules.update(cast(Any, hidden))  # to import None is an ImportError
        try:
            import spacy  # noqa: F401
        finally:
            for name in hidden:
                del sys.modules[name]
