"""`lcons extract`: entities and the relations between them, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from lcons_cli.console import (
    STDIN,
    Say,
    json_line,
    listed,
    numbered_chunks,
    opened,
    pos_tagger,
    say_nothing,
    say_on_stderr,
    tags_many,
    write_all,
)
from lcons_cli.console import tagged_corpus as _tagged_corpus
from lcons_cli.options import FILE, common_options
from lcons_cli.streams import Text

if TYPE_CHECKING:
    from lcons_core.relations import RelationSchema
    from lcons_decode import RelationDecoding
    from lcons_tasks.apps import CandidateText, Extractor
    from lcons_tasks.data.text import PosTagger

DEFAULT_MODEL = "runs/er/extractor"
DEFAULT_PIPELINE = "en_core_web_sm"

Lines = Sequence[tuple[str, str]]
"""Lines that are not blank, each after its name in errors."""


@dataclass(frozen=True)
class Candidates:
    """How candidates are found: `read` turns lines into texts; `names`: they are runs of proper nouns."""

    read: Callable[[Lines], list[CandidateText]]
    names: bool = False


@click.command(short_help="Find entities and relations in text.")
@click.argument("file", type=FILE, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    show_default=True,
    type=FILE,
    metavar="FOLDER",
    help="The extractor, as `lcons run er` writes it.",
)
@click.option(
    "--candidates",
    type=click.Choice(["marked", "spacy", "names"]),
    default="marked",
    show_default=True,
    help=r"marked: the text in brackets; `\[` and `\]` are brackets of the text. spacy: the entities that a"
    " spaCy pipeline finds. names: runs of proper nouns.",
)
@click.option(
    "--spacy",
    "pipeline",
    metavar="PIPELINE",
    help=f"The pipeline of `--candidates spacy`, a name or a folder.  [default: {DEFAULT_PIPELINE}]",
)
@click.option(
    "--schema",
    "schema_file",
    type=FILE,
    metavar="FILE",
    help="A relation schema, as `lcons schema` writes it, that all answers satisfy.",
)
@click.option("--no-constraints", is_flag=True, help="Use the model alone, or with `--schema` only.")
@click.option(
    "--json", is_flag=True, expose_value=False, help="Every command accepts it; this one always writes JSON."
)
@common_options("Print how often each label occurs.", json=None, seed="unused")
def extract(
    file: str,
    folder: str,
    candidates: str,
    pipeline: str | None,
    schema_file: str | None,
    no_constraints: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Label the entity candidates in FILE, or on stdin, and their relations; one line per sentence.

    Writes one JSON object per line that is not blank: its text without marks; its entities, all candidates in
    order, where start and end count characters of the text; its relations, where source and target count
    entities from 0; whether the constraints changed the answer; and the status of the answer, optimal,
    relaxed (constraints of the model are broken) or out of budget (perhaps not the best; this is rare).

    spaCy provides POS tags. Long lines are read in parts, and relations are found only within a part.

    \b
    Example:
      echo "[Ann Hill] lives in [Oslo], [Norway]." | lcons extract
      lcons extract --candidates spacy news.txt > relations.jsonl
      lcons extract --schema schema.json news.txt
    """
    from lcons_core import InvalidInput
    from lcons_tasks.apps import load_extractor

    if pipeline is not None and candidates != "spacy":
        raise InvalidInput(
            f"--spacy needs `--candidates spacy`, found `--candidates {candidates}`; leave one of them out."
        )
    extractor = load_extractor(folder)
    say: Say = say_nothing if quiet else say_on_stderr
    found = FINDERS[candidates](pipeline or DEFAULT_PIPELINE, say)
    extractor = extractor.alone if no_constraints else extractor
    if schema_file is not None:
        extractor = replace(extractor, schema=_schema(schema_file))
    run(extractor, file, found, say, say if verbose else say_nothing)


def _schema(path: str) -> RelationSchema:
    from lcons_core.relations import LearnedSchema, load_schema

    found = load_schema(path)
    return found.schema if isinstance(found, LearnedSchema) else found


def run(
    extractor: Extractor, file: str, candidates: Candidates, say: Say, say_more: Say = say_nothing
) -> None:
    """Writes the entities and relations of the input to stdout, one chunk at a time, and prints a summary."""
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    with opened(file) as source:
        name = "standard input" if file == STDIN else file
        if write_all(_contents(extractor, source, name, candidates, counts, labels, say), source.waits):
            say(_summary(counts, bool(extractor.constraints or extractor.schema)))
            say_more(f"labels: {listed(labels)}")


def _contents(
    extractor: Extractor,
    source: Text,
    name: str,
    candidates: Candidates,
    counts: Counter[str],
    labels: Counter[str],
    say: Say,
) -> Generator[bytes, None, None]:
    """The output, line by line; each answer is added to `counts` and `labels`."""
    from lcons_tasks.apps import name_spans

    tagger: PosTagger | None = None
    for first, chunk in numbered_chunks(source):
        lines = [(f"{name}:{n}", line) for n, line in enumerate(chunk, start=first) if line.strip()]
        if not lines:
            continue
        texts = candidates.read(lines)
        tagger = tagger or pos_tagger(_tagged_corpus, say)
        for text, pos in zip(texts, _tags(tagger, texts), strict=True):
            own = replace(text, spans=name_spans(pos)) if candidates.names else text
            answer = extractor.extract(own.passage(pos))
            line = json_line(_described(own, answer))
            _count(own, answer, counts)
            labels.update((*answer.entities, *answer.relations.values()))
            yield line.encode("utf-8", "backslashreplace")


def _tags(tagger: PosTagger, texts: Sequence[CandidateText]) -> list[list[str]]:
    """One tag per token for each text; long texts are tagged in parts."""
    from lcons_tasks.apps import MOST_READ, cut

    words = [text.words for text in texts]
    parts = [(i, own[a:b]) for i, own in enumerate(words) for a, b in cut(own, most_words=MOST_READ)]
    found: list[list[str]] = [[] for _ in texts]
    for (i, _), tags in zip(parts, tags_many(tagger, (own for _, own in parts)), strict=True):
        found[i] += tags
    return found


def _described(text: CandidateText, answer: RelationDecoding) -> dict[str, object]:
    places = [text.place(i) for i in range(len(text.spans))]
    return {
        "text": text.text,
        "entities": [
            {"text": text.text[start:end], "start": start, "end": end, "label": label}
            for (start, end), label in zip(places, answer.entities, strict=True)
        ],
        "relations": [
            {"source": source, "target": target, "label": label}
            for (source, target), label in sorted(answer.relations.items())
        ],
        "changed": answer.stats["changed"],
        "status": str(answer.status),
    }


def _count(text: CandidateText, answer: RelationDecoding, counts: Counter[str]) -> None:
    counts["sentences"] += 1
    counts["candidates"] += len(text.spans)
    counts["relations"] += len(answer.relations)
    counts["changed"] += answer.stats["changed"]
    counts[str(answer.status)] += 1
    counts["in parts"] += answer.stats["parts"] > 1
    try:
        text.text.encode()
    except UnicodeEncodeError:
        counts["not UTF-8"] += 1


def _summary(counts: Counter[str], constrained: bool) -> str:
    parts = [
        f"sentences: {counts['sentences']:,} ({counts['candidates']:,} candidates)",
        f"relations: {counts['relations']:,}",
    ]
    if constrained:
        parts += [f"changed by the constraints: {counts['changed']:,}", f"relaxed: {counts['relaxed']:,}"]
    if counts["out of budget"]:
        parts.append(f"perhaps not the best: {counts['out of budget']:,}")
    if counts["in parts"]:
        parts.append(f"long, read in parts: {counts['in parts']:,}")
    if counts["not UTF-8"]:
        parts.append(f"not UTF-8, bytes escaped: {counts['not UTF-8']:,}")
    return ", ".join(parts)


def _marked(pipeline: str, say: Say) -> Candidates:
    from lcons_tasks.apps import read_marks

    return Candidates(lambda lines: [read_marks(line, where) for where, line in lines])


def _spacy(pipeline: str, say: Say) -> Candidates:
    from lcons_tasks.apps import entity_spans, load_recogniser, read_places

    nlp = load_recogniser(pipeline)
    say(f"candidates by the spaCy pipeline {pipeline}")

    def read(lines: Lines) -> list[CandidateText]:
        texts = [read_places(line) for _, line in lines]
        spans = entity_spans(nlp, texts)
        return [replace(text, spans=own) for text, own in zip(texts, spans, strict=True)]

    return Candidates(read)


def _names(pipeline: str, say: Say) -> Candidates:
    from lcons_tasks.apps import read_places

    return Candidates(lambda lines: [read_places(line) for _, line in lines], names=True)


FINDERS: dict[str, Callable[[str, Say], Candidates]] = {"marked": _marked, "spacy": _spacy, "names": _names}
