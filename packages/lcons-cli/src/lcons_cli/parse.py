"""`lcons parse`: fields for plain references, one reference per line, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from lcons_cli.console import POS, STDIN, Tally, Text, escaped, json_line, opened, pos_tags, say, write_all
from lcons_cli.options import STREAM

if TYPE_CHECKING:
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.apps.references import ParsedReference

DEFAULT_MODEL = "runs/citation/parser"

# Other packages may register a format: a function of an iterator of (number of its line, parsed reference)
# that returns texts to print. References on blank lines have no spans.
WRITERS = "lcons.writers"
_OF_CONTRIB = ("bibtex", "csl")


@click.command(short_help="Find the fields of bibliographic references.")
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    metavar="FOLDER",
    help="The tagger, as `lcons run citation` writes it.",
)
@click.option(
    "--format",
    "form",
    default="tagged",
    metavar="FORMAT",
    help="tagged: <author> ... </author> <title> ... </title>, one line per reference. json: one object per"
    " line, where start and end count characters of its text. With lcons-contrib also csl: CSL-JSON, one"
    " array; bibtex: entries.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
def parse(file: str, folder: str, form: str) -> None:
    """Find the fields of the references in FILE, or on stdin, with a model under its constraints.

    The input has one line per reference. If the tagger needs POS tags, spaCy provides them. Blank lines stay
    blank lines in tagged, and are empty objects in json; they are no items in csl and bibtex. The id of an
    item of csl is `ref-` and the number of its line.

    \b
    Example:
      lcons parse references.txt --json > references.jsonl
      echo "A. Turing. Computing machinery and intelligence. Mind, 1950." | lcons parse --format bibtex
    """
    from lcons_tasks.apps import load_constrained_tagger

    writer = _writer(form)
    tagger, tally = load_constrained_tagger(folder), Tally()
    with opened(file) as source:
        write_all(escaped(writer(_references(tagger, source, tally))), source.waits)
    say(tally.summary("references", "fields", bool(tagger.constraints)))


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
    tagger: ConstrainedTagger, source: Text, tally: Tally
) -> Iterator[tuple[int, ParsedReference]]:
    """The parsed lines with their numbers; each is added to the tally."""
    from lcons_tasks.apps.references import parse

    tags = pos_tags() if POS in tagger.columns else None
    for first, lines in source.chunks():
        for number, reference in enumerate(parse(tagger, lines, tags), start=first):
            if reference.spans:
                tally.add(reference.status, reference.changed, fields=len(reference.spans))
            yield number, reference


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
