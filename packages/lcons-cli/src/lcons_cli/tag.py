"""`lcons tag`: labels for raw text or CoNLL columns, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lcons_cli.console import POS, STDIN, Tally, Text, Waits, opened, pos_tags, say, warn, write_all
from lcons_cli.options import STREAM, folder_options

if TYPE_CHECKING:
    from lcons_decode._scores import Columns
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.data._tagged_text import Places

    Placed = tuple[Columns, Places]

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
    from lcons_tasks.apps._tagger import CHUNK_SENTENCES, CHUNK_WORDS, chunks

    if together and (jobs is not None or Path(file).is_dir()):
        raise click.UsageError("--together reads one file in one process: leave it out, or --jobs.")
    loaded = load_constrained_tagger(folder)
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder
        from lcons_tasks.apps import TaggerDecoder

        run_folder(TaggerDecoder(folder, not no_constraints), file, out, engine, jobs)
        return
    if out is not None:
        raise click.UsageError("-o is for a folder; the answers for a file are on stdout.")
    if Path(file).is_file():
        from lcons_tasks.own_data._formats import check_text

        check_text(file)
    if columns is None and _has_columns(file):
        warn(f"{Path(file).name} is read as raw text; if it has columns, add --columns word")
    tagger = loaded.alone if no_constraints else loaded
    form = form or ("brackets" if columns is None else "conll")
    tally = Tally()
    with opened(file) as source:
        xs, places = _inputs(tagger, source, file, columns, form == "json")
        if together:
            tagger, xs = _together(tagger, xs)
        pairs: Iterator[Placed] = zip(xs, places, strict=False)
        parts = chunks(pairs, lambda pair: len(pair[0]["word"]), source.waits, CHUNK_SENTENCES, CHUNK_WORDS)
        if jobs is None:
            tagged = map(partial(_tagged, tagger, form), parts)
        else:
            from joblib import Parallel, delayed

            work = partial(_tagged_by, str(Path(folder).resolve()), not no_constraints, form)
            tagged = Parallel(jobs, batch_size=1, return_as="generator")(map(delayed(work), parts))
        write_all(_counted(tagged, tally), source.waits)
    lines = f"line breaks: {source.lines:,}, " if columns is None else ""
    say(lines + tally.summary("sentences", "words", bool(tagger.constraints)))


def _has_columns(file: str) -> bool:
    """Whether the name or the beginning of a file is that of CoNLL columns."""
    from lcons_core import InvalidInput
    from lcons_tasks.own_data._formats import tell_format

    try:
        return Path(file).is_file() and tell_format(file) == "conll"
    except InvalidInput:
        return False


def _together(
    tagger: ConstrainedTagger, xs: Iterator[Columns]
) -> tuple[ConstrainedTagger, Iterator[Columns]]:
    """The tagger that has read all inputs, and the inputs."""
    from lcons_tasks.models import consistent_over

    known = list(xs)
    if known:
        tagger = replace(tagger, model=consistent_over(tagger.model, known))
    return tagger, iter(known)


def _tagged(tagger: ConstrainedTagger, form: str, pairs: list[Placed]) -> tuple[bytes, Tally]:
    """The answers for a chunk as bytes, and their counts."""
    from lcons_tasks.data._tagged_text import TAGGED_FORMATS

    tally, texts, write = Tally(), [], TAGGED_FORMATS[form]
    for (x, places), answer in zip(pairs, tagger.tag([x for x, _ in pairs]), strict=True):
        tally.add(answer.status, answer.stats["changed"], words=len(x["word"]))
        texts.append(write(x, answer, places))
    # Bytes that are not UTF-8 are written unchanged; in JSON, which is UTF-8, as escapes.
    return "".join(texts).encode("utf-8", "backslashreplace" if form == "json" else "surrogateescape"), tally


def _tagged_by(folder: str, constrained: bool, form: str, pairs: list[Placed]) -> tuple[bytes, Tally]:
    """The same in another process, which loads the tagger once."""
    from lcons_tasks.apps._tagger import loaded_tagger

    return _tagged(loaded_tagger(folder, constrained), form, pairs)


def _counted(parts: Iterable[tuple[bytes, Tally]], tally: Tally) -> Generator[bytes, None, None]:
    for content, counts in parts:
        tally.update(counts)
        yield content


def _inputs(
    tagger: ConstrainedTagger, source: Text, file: str, columns: str | None, placed: bool
) -> tuple[Iterator[Columns], Iterator[Places]]:
    """The sentences of the input with all columns that the tagger reads, and the places of their words in raw
    text if they are to be `placed`."""
    from lcons_core import InvalidInput
    from lcons_tasks.data._stream import column_layout, column_sentences, text_sentences, text_tokens

    layout = None if columns is None else column_layout(columns)
    missing = [name for name in tagger.columns if layout is None or name not in layout.context]
    if missing not in ([], [POS]):
        name = next(name for name in missing if name != POS)
        raise InvalidInput(
            f"the tagger reads the column {name!r}: got {columns or 'raw text'}; use `--columns word,{name}`."
        )
    xs: Iterator[Columns]
    places: Iterator[Places] = repeat(None)
    if layout is not None:
        xs = column_sentences(source, layout, "standard input" if file == STDIN else file)
    elif not placed:
        _import_spacy()
        xs = text_sentences(source)
    else:
        _import_spacy()
        sentences, again = tee(text_tokens(source))
        xs = ({"word": tuple(token.text for token in sentence)} for sentence in sentences)
        places = ([(token.start, token.end) for token in sentence] for sentence in again)
    return (_with_pos(xs, source.waits) if missing else xs), places


def _import_spacy() -> None:
    """Imports spaCy, but not torch, which spaCy would import too: its words and tags need none of it."""
    if "torch" not in sys.modules:
        sys.modules["torch"] = cast(Any, None)  # to import it is an ImportError now
        try:
            import spacy  # noqa: F401
        finally:
            del sys.modules["torch"]


def _with_pos(xs: Iterator[Columns], waits: Waits) -> Iterator[Columns]:
    """The sentences with POS tags; the POS tagger is loaded only if there is a sentence."""
    from lcons_tasks.apps._tagger import chunked

    tags = pos_tags()
    for chunk in chunked(xs, waits):
        for x, pos in zip(chunk, tags(x["word"] for x in chunk), strict=True):
            yield {**x, POS: pos}
