"""`lcons parse`: fields for plain references, one reference per line, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import (
    POS,
    STDIN,
    Text,
    escaped,
    json_line,
    opened,
    pos_tagger,
    say,
    tags_many,
    write_all,
)
from lcons_cli.options import STREAM

if TYPE_CHECKING:
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.apps.references import ParsedReference
    from lcons_tasks.data.text import PosTagger

# The column of clues, which the parser makes of the words.
CLUE = "clue"
DEFAULT_MODEL = "runs/citation/parser"

# Other packages may register a format: a function of an iterator of (number of its line, parsed reference)
# that returns texts to print. References on blank lines have no spans.
WRITERS = "lcons.writers"
_OF_CONTRIB = ("bibtex", "csl")


Chunk = tuple[int, list[str]]
ParseAll = Callable[[Iterable[Chunk]], Iterable[list["ParsedReference"]]]


@click.command(short_help="Find the fields of bibliographic references.")
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    show_default=True,
    metavar="FOLDER",
    help="The tagger, as `lcons run citation` writes it.",
)
@click.option(
    "--format",
    "form",
    default="tagged",
    show_default=True,
    metavar="FORMAT",
    help="tagged: <author> ... </author> <title> ... </title>, one line per reference. json: one object per"
    " line, where start and end count characters of its text. With lcons-contrib also csl: CSL-JSON, one"
    " array; bibtex: entries.",
)
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
def parse(
    file: str,
    folder: str,
    form: str,
    no_constraints: bool,
    jobs: int,
) -> None:
    """Find the fields of the references in FILE, or on stdin, with a model under its constraints.

    The input has one line per reference. If the tagger needs POS tags, spaCy provides them. Blank lines stay
    blank lines in tagged, and are empty objects in json; they are no items in csl and bibtex. The id of an
    item of csl is `ref-` and the number of its line.

    \b
    Example:
      lcons parse references.txt --json > references.jsonl
      echo "A. Turing. Computing machinery and intelligence. Mind, 1950." | lcons parse --format bibtex
    """
    from lcons_core import InvalidInput
    from lcons_tasks.apps import load_constrained_tagger

    if not Path(folder).is_dir():
        raise InvalidInput(f"there is no tagger in {folder!r}: make one with `lcons run citation`.")
    writer = _writer(form)
    loaded = load_constrained_tagger(folder)
    tagger = loaded.alone if no_constraints else loaded
    unknown = [name for name in tagger.columns if name not in (POS, CLUE)]
    if unknown:
        raise InvalidInput(f"the tagger reads the column {unknown[0]!r}, which references do not have.")
    counts: Counter[str] = Counter()
    with opened(file) as source:
        parse_all = partial(_by_processes, jobs, folder, not no_constraints) if jobs > 1 else None
        references = _references(tagger, source, parse_all, counts)
        write_all(escaped(writer(references)), source.waits)
    say(_summary(counts, bool(tagger.constraints)))


def _writer(form: str) -> Callable[[Iterable[tuple[int, ParsedReference]]], Iterator[str]]:
    """The writer of a format, ours or one that an installed package registers."""
    from importlib.metadata import entry_points

    from lcons_core import LconsError

    writers = {entry.name: entry.load for entry in entry_points(group=WRITERS)}
    writers |= {"tagged": lambda: _tagged, "json": lambda: _json}
    if form in writers:
        return writers[form]()
    if form in _OF_CONTRIB:
        raise LconsError(f"the format {form!r} comes with lcons-contrib; run: pip install lcons-contrib.")
    raise LconsError(f"unknown format {form!r}; it is one of {', '.join(sorted(writers))}.")


def _references(
    tagger: ConstrainedTagger, source: Text, parse_all: ParseAll | None, counts: Counter[str]
) -> Iterator[tuple[int, ParsedReference]]:
    """The parsed lines with their numbers; each is added to `counts`. `parse_all` parses chunks in other
    processes."""
    chunks = source.chunks()
    head = list(islice(chunks, 1))
    pos = pos_tagger() if head and POS in tagger.columns else None
    parsed = (parse_all or partial(map, _Parser(tagger, pos)))(chain(head, chunks))
    for number, reference in enumerate(chain.from_iterable(parsed), start=1):
        _count(reference, counts)
        yield number, reference


@dataclass(frozen=True)
class _Parser:
    """Parses a chunk of lines."""

    tagger: ConstrainedTagger
    pos: PosTagger | None

    def __call__(self, chunk: Chunk) -> list[ParsedReference]:
        from lcons_tasks.apps.references import parse

        tags = None if self.pos is None else partial(tags_many, self.pos)
        return list(parse(self.tagger, chunk[1], tags))


def _by_processes(
    jobs: int, folder: str, constrained: bool, chunks: Iterable[Chunk]
) -> Iterable[list[ParsedReference]]:
    """The parsed chunks, in order, by processes that load the tagger themselves."""
    from joblib import Parallel, delayed

    # What joblib says of calls that are left undone when the reader goes away is no news to the user.
    warnings.filterwarnings("ignore", module="joblib")
    calls = (delayed(_parsed)(folder, constrained, chunk) for chunk in chunks)
    return Parallel(jobs, batch_size=1, return_as="generator")(calls)


def _parsed(folder: str, constrained: bool, chunk: Chunk) -> list[ParsedReference]:
    from lcons_tasks.apps._tagger import loaded_tagger
    from lcons_tasks.data.text._pos import loaded_pos_tagger

    tagger = loaded_tagger(folder, constrained)
    return _Parser(tagger, loaded_pos_tagger() if POS in tagger.columns else None)(chunk)


def _count(reference: ParsedReference, counts: Counter[str]) -> None:
    counts["references" if reference.spans else "blank"] += 1
    counts["fields"] += len(reference.spans)
    counts["changed"] += reference.changed > 0
    counts[reference.status] += 1


def _summary(counts: Counter[str], constrained: bool) -> str:
    parts = [f"references: {counts['references']:,} ({counts['fields']:,} fields)"]
    if constrained:
        parts += [f"changed by the constraints: {counts['changed']:,}", f"relaxed: {counts['relaxed']:,}"]
    shown = [status for status in ("out of budget", "time limit", "infeasible") if counts[status]]
    parts += [f"{status}: {counts[status]:,}" for status in shown]
    if counts["blank"]:
        parts.append(f"blank lines: {counts['blank']:,}")
    return ", ".join(parts)


def _tagged(references: Iterable[tuple[int, ParsedReference]]) -> Iterator[str]:
    from lcons_tasks.apps.references import to_tagged

    return (to_tagged(reference.pieces) + "\n" for _, reference in references)


def _json(references: Iterable[tuple[int, ParsedReference]]) -> Iterator[str]:
    for _, reference in references:
        fields = [
            {"field": name, "text": reference.text[start:end], "start": start, "end": end}
            for name, start, end in reference.spans
        ]
        yield json_line({"text": reference.text, "fields": fields})
