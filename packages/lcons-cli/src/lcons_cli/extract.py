"""`lcons extract`: entities and the relations between them, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
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
    from spacy.language import Language

    from lcons_decode import RelationDecoding
    from lcons_tasks.apps import Extractor
    from lcons_tasks.apps._candidates import CandidateText
    from lcons_tasks.data.text import PosTagger

DEFAULT_MODEL = "runs/er/extractor"
DEFAULT_PIPELINE = "en_core_web_sm"


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
@click.option("--no-constraints", is_flag=True, help="Use the model alone.")
@click.option(
    "--json", is_flag=True, expose_value=False, help="Every command accepts it; this one always writes JSON."
)
@common_options("Print how often each label occurs.", json=None, seed="unused")
def extract(
    file: str,
    folder: str,
    candidates: str,
    pipeline: str | None,
    no_constraints: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Label the entity candidates in FILE, or on stdin, and their relations; one line per sentence.

    Writes one JSON object per line that is not blank: its text without marks; its entities, all candidates in
    order, where start and end count characters of the text; its relations, where source and target count
    entities from 0; whether the constraints changed the answer; and the status of the answer, optimal or
    relaxed (constraints of the model are broken).

    spaCy provides POS tags. Long lines are read in parts, and relations are found only within a part.

    \b
    Example:
      echo "[Ann Hill] lives in [Oslo], [Norway]." | lcons extract
      lcons extract --candidates spacy news.txt > relations.jsonl
    """
    from lcons_core import InvalidInput
    from lcons_tasks.apps import load_extractor
    from lcons_tasks.apps._candidates import load_recogniser

    if pipeline is not None and candidates != "spacy":
        raise InvalidInput(
            f"--spacy needs `--candidates spacy`, found `--candidates {candidates}`; leave one of them out."
        )
    extractor = load_extractor(folder)
    say: Say = say_nothing if quiet else say_on_stderr
    nlp = None
    if candidates == "spacy":
        nlp = load_recogniser(pipeline or DEFAULT_PIPELINE)
        say(f"candidates by the spaCy pipeline {pipeline or DEFAULT_PIPELINE}")
    used = extractor.alone if no_constraints else extractor
    run(used, file, candidates, say, say if verbose else say_nothing, nlp)


def run(
    extractor: Extractor,
    file: str,
    candidates: str,
    say: Say,
    say_more: Say = say_nothing,
    nlp: Language | None = None,
) -> None:
    """Writes the entities and relations of the input to stdout, one chunk at a time, and prints a summary.
    `nlp` is the pipeline that finds the candidates `spacy`."""
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    with opened(file) as source:
        name = "standard input" if file == STDIN else file
        if write_all(
            _contents(extractor, source, name, (candidates, nlp), counts, labels, say), source.waits
        ):
            say(_summary(counts, bool(extractor.constraints)))
            say_more(f"labels: {listed(labels)}")


def _contents(
    extractor: Extractor,
    source: Text,
    name: str,
    candidates: tuple[str, Language | None],
    counts: Counter[str],
    labels: Counter[str],
    say: Say,
) -> Generator[bytes, None, None]:
    """The output, line by line; each answer is added to `counts` and `labels`."""
    from lcons_tasks.apps._extraction import describe_extraction, extract_lines

    tagger: PosTagger | None = None

    def tags(sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        nonlocal tagger
        tagger = tagger or pos_tagger(_tagged_corpus, say)
        return tags_many(tagger, sentences)

    for first, chunk in numbered_chunks(source):
        lines = [(f"{name}:{n}", line) for n, line in enumerate(chunk, start=first) if line.strip()]
        if not lines:
            continue
        for text, answer in extract_lines(extractor, lines, tags, *candidates):
            line = json_line(describe_extraction(text, answer))
            _count(text, answer, counts)
            labels.update((*answer.entities, *answer.relations.values()))
            yield line.encode("utf-8", "backslashreplace")


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
    if counts["in parts"]:
        parts.append(f"long, read in parts: {counts['in parts']:,}")
    if counts["not UTF-8"]:
        parts.append(f"not UTF-8, bytes escaped: {counts['not UTF-8']:,}")
    return ", ".join(parts)
