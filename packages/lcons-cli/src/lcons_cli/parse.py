"""`lcons parse`: fields for plain references, one reference per line, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from lcons_cli.console import (
    POS,
    STDIN,
    Say,
    json_line,
    listed,
    numbered_chunks,
    opened,
    pos_tagger,
    say_nothing,
    say_on_stderr,
    tagged_corpus,
    tags_many,
    write_all,
)
from lcons_cli.options import FILE, common_options
from lcons_cli.streams import Text

if TYPE_CHECKING:
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.apps.references import ParsedReference
    from lcons_tasks.data.text import PosTagger

# The column of clues, which the parser makes of the words.
CLUE = "clue"
DEFAULT_MODEL = "runs/citation/parser"

# The keys of this many entries are remembered; the key of a later entry has the number of its line.
MOST_KEYS = 2**16


@click.command(short_help="Find the fields of bibliographic references.")
@click.argument("file", type=FILE, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    show_default=True,
    type=FILE,
    metavar="FOLDER",
    help="The tagger, as `lcons run citation` writes it.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csl", "bibtex", "tagged", "json"]),
    default="csl",
    show_default=True,
    help="csl: CSL-JSON, one array. bibtex: entries. tagged: <author> ... </author> <title> ... </title>, one"
    " line per reference. json: one object per line, where start and end count characters of its text.",
)
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@common_options("Print how often each field was found.", json=None, seed="unused")
def parse(
    file: str,
    folder: str,
    form: str,
    no_constraints: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find the fields of the references in FILE, or on stdin, with a model under its constraints.

    The input has one line per reference. If the tagger needs POS tags, spaCy provides them. The id of an item
    is `ref-` and the number of its line. Blank lines are not items; they stay blank lines in tagged, and are
    empty objects in json.

    \b
    Example:
      lcons parse references.txt > references.json
      echo "A. Turing. Computing machinery and intelligence. Mind, 1950." | lcons parse --format bibtex
    """
    from lcons_core import LconsError
    from lcons_tasks.apps import load_constrained_tagger

    if not Path(folder).is_dir():
        raise LconsError(
            f"expected a tagger in the folder {folder!r}, found no such folder; make one with `lcons run"
            " citation`."
        )
    tagger = load_constrained_tagger(folder)
    say: Say = say_nothing if quiet else say_on_stderr
    used = tagger.alone if no_constraints else tagger
    many = partial(_by_processes, jobs, folder, not no_constraints, form) if jobs > 1 else None
    run(used, file, form, say, say if verbose else say_nothing, many)


def run(
    tagger: ConstrainedTagger,
    file: str,
    form: str,
    say: Say,
    say_more: Say = say_nothing,
    many: Many | None = None,
) -> None:
    """Writes the parsed references of the input to stdout, one chunk at a time, and prints a summary; `many`
    parses the chunks elsewhere."""
    _check_columns(tagger)
    counts: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    with opened(file) as source:
        if write_all(_contents(tagger, source, form, many, counts, fields, say), source.waits):
            say(_summary(counts, form, bool(tagger.constraints)))
            say_more(f"fields: {listed(fields)}")


def _check_columns(tagger: ConstrainedTagger) -> None:
    from lcons_core import InvalidInput

    unknown = [name for name in tagger.columns if name not in (POS, CLUE)]
    if unknown:
        raise InvalidInput(
            f"the tagger reads column {unknown[0]!r}, but references have only words; use a tagger that reads"
            " only words and POS tags, as `lcons run citation` makes it."
        )


def _contents(
    tagger: ConstrainedTagger,
    source: Text,
    form: str,
    many: Many | None,
    counts: Counter[str],
    fields: Counter[str],
    say: Say,
) -> Generator[bytes, None, None]:
    """The output, reference by reference; each answer is added to `counts` and `fields`."""
    chunks = numbered_chunks(source)
    head = list(islice(chunks, 1))
    pos = pos_tagger(tagged_corpus, say) if head and POS in tagger.columns else None
    frame = FORMS[form].frame
    keys = _Keys()
    before, any_yet = frame.first, False
    parse_all = many or partial(map, _Writer(tagger, pos, form))
    for written in parse_all(chain(head, chunks)):
        counts.update(written.counts)
        fields.update(written.fields)
        for number, text in written.texts:
            own = keys.distinct(text, number) if form == "bibtex" else text
            # A lone surrogate stands for a byte that is not UTF-8; this writes it as an escape of JSON.
            yield (before + own).encode("utf-8", "backslashreplace")
            before, any_yet = frame.between, True
    yield (frame.last if any_yet else frame.nothing).encode()


class _Written(NamedTuple):
    """The texts of references with the numbers of their lines, and the counts of references and of fields."""

    texts: list[tuple[int, str]]
    counts: Counter[str]
    fields: Counter[str]


Chunk = tuple[int, list[str]]
Many = Callable[[Iterable[Chunk]], Iterable[_Written]]


@dataclass(frozen=True)
class _Writer:
    """Parses a chunk of lines and writes each reference in a format."""

    tagger: ConstrainedTagger
    pos: PosTagger | None
    form: str

    def __call__(self, chunk: Chunk) -> _Written:
        from lcons_tasks.apps.references import parse

        first, lines = chunk
        form = FORMS[self.form]
        written = _Written([], Counter(), Counter())
        tags = None if self.pos is None else partial(tags_many, self.pos)
        references = parse(self.tagger, lines, tags)
        for number, reference in enumerate(references, start=first):
            _count(reference, written.counts)
            written.fields.update(name for name, _, _ in reference.spans if name)
            if reference.spans or form.aligned:
                written.texts.append((number, form.write(reference, number)))
        return written


def _by_processes(
    jobs: int, folder: str, constrained: bool, form: str, chunks: Iterable[Chunk]
) -> Iterable[_Written]:
    """The written chunks, in order, by processes that load the tagger themselves."""
    from joblib import Parallel, delayed

    calls = (delayed(_write)(folder, constrained, form, chunk) for chunk in chunks)
    written: Iterable[_Written] = Parallel(jobs, batch_size=1, return_as="generator")(calls)
    return written


def _write(folder: str, constrained: bool, form: str, chunk: Chunk) -> _Written:
    from lcons_tasks.apps._tagger import loaded_tagger
    from lcons_tasks.data.text._pos import loaded_pos_tagger

    tagger = loaded_tagger(folder, constrained)
    return _Writer(tagger, loaded_pos_tagger() if POS in tagger.columns else None, form)(chunk)


def _count(reference: ParsedReference, counts: Counter[str]) -> None:
    counts["references" if reference.spans else "blank"] += 1
    counts["fields"] += len(reference.spans)
    counts["changed"] += reference.changed > 0
    counts[reference.status] += 1
    try:
        reference.text.encode()
    except UnicodeEncodeError:
        counts["not UTF-8"] += 1


def _summary(counts: Counter[str], form: str, constrained: bool) -> str:
    parts = [f"references: {counts['references']:,} ({counts['fields']:,} fields)"]
    if constrained:
        parts += [f"changed by the constraints: {counts['changed']:,}", f"relaxed: {counts['relaxed']:,}"]
    shown = [status for status in ("out of budget", "time limit", "infeasible") if counts[status]]
    parts += [f"{status}: {counts[status]:,}" for status in shown]
    if counts["blank"]:
        parts.append(f"blank lines: {counts['blank']:,}")
    if counts["not UTF-8"]:
        parts.append(f"not UTF-8, bytes {FORMS[form].strange}: {counts['not UTF-8']:,}")
    return ", ".join(parts)


# `json.dumps` would make an encoder for each reference.
_encode = json.JSONEncoder(ensure_ascii=False).encode


class _Keys:
    """Makes the keys of BibTeX entries distinct, by a hyphen and a number; other keys have no hyphen."""

    def __init__(self) -> None:
        self.entries = 0
        self.times: Counter[str] = Counter()

    def distinct(self, entry: str, number: int) -> str:
        """The entry of a line, with a key that no other entry has."""
        kind, brace, rest = entry.partition("{")
        key, comma, fields = rest.partition(",")
        self.entries += 1
        if self.entries > MOST_KEYS:
            key += f"-{number}"
        else:
            self.times[key] += 1
            key += f"-{self.times[key]}" if self.times[key] > 1 else ""
        return kind + brace + key + comma + fields


def _csl(reference: ParsedReference, number: int) -> str:
    from lcons_tasks.apps.references import to_csl

    return _encode(to_csl(reference.pieces, id=f"ref-{number}"))


def _bibtex(reference: ParsedReference, number: int) -> str:
    from lcons_tasks.apps.references import to_bibtex

    return to_bibtex(reference.pieces) + "\n"


def _tagged(reference: ParsedReference, number: int) -> str:
    from lcons_tasks.apps.references import to_tagged

    return to_tagged(reference.pieces) + "\n"


def _json(reference: ParsedReference, number: int) -> str:
    text = reference.text
    fields = [
        {"field": name, "text": text[start:end], "start": start, "end": end}
        for name, start, end in reference.spans
    ]
    return json_line({"text": text, "fields": fields})


class _Frame(NamedTuple):
    """The text before the first reference, between two, after the last one, and if there are none."""

    first: str = ""
    between: str = ""
    last: str = ""
    nothing: str = ""


@dataclass(frozen=True)
class _Form:
    """How to write a reference, whether to write blank lines, and how to treat bytes that are not UTF-8."""

    write: Callable[[ParsedReference, int], str]
    frame: _Frame = field(default_factory=_Frame)
    aligned: bool = False
    strange: str = "replaced"


FORMS = {
    "csl": _Form(_csl, _Frame("[\n", ",\n", "\n]\n", "[]\n")),
    "bibtex": _Form(_bibtex, _Frame(between="\n")),
    "tagged": _Form(_tagged, aligned=True),
    "json": _Form(_json, aligned=True, strange="escaped"),
}
