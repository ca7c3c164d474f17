"""`lcons extract`: entities and the relations between them, by a model under its constraints.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from lcons_cli.console import STDIN, Tally, Text, escaped, json_line, opened, pos_tags, say, write_all
from lcons_cli.options import STREAM

if TYPE_CHECKING:
    from spacy.language import Language

    from lcons_tasks.apps import Extractor

DEFAULT_MODEL = "runs/er/extractor"


@click.command()
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    "--model",
    "folder",
    default=DEFAULT_MODEL,
    metavar="FOLDER",
    help="The extractor, as `lcons run er` writes it.",
)
@click.option(
    "--candidates",
    default="marked",
    metavar="marked|names|PIPELINE",
    help=r"marked: the text in brackets; `\[` and `\]` are brackets of the text. names: runs of proper nouns."
    " Otherwise the entities that this spaCy pipeline finds, such as en_core_web_sm.",
)
def extract(file: str, folder: str, candidates: str) -> None:
    """Label the entity candidates in FILE, or on stdin, and their relations; one line per sentence.

    Writes one JSON object per line that is not blank: its text without marks; its entities, all candidates in
    order, where start and end count characters of the text; its relations, where source and target count
    entities from 0; whether the constraints changed the answer; and the status of the answer, optimal or
    relaxed (constraints of the model are broken).

    spaCy provides POS tags. Long lines are read in parts, and relations are found only within a part.

    \b
    Example:
      echo "[Ann Hill] lives in [Oslo], [Norway]." | lcons extract
      lcons extract --candidates en_core_web_sm news.txt > relations.jsonl
    """
    from lcons_tasks.apps import load_extractor
    from lcons_tasks.apps._extraction import load_recogniser

    extractor = load_extractor(folder)
    nlp = None
    if candidates not in ("marked", "names"):
        candidates, nlp = "spacy", load_recogniser(candidates)
    tally = Tally()
    with opened(file) as source:
        name = "standard input" if file == STDIN else file
        write_all(escaped(_texts(extractor, source, name, (candidates, nlp), tally)), source.waits)
    say(tally.summary("sentences", "relations", bool(extractor.constraints)))


def _texts(
    extractor: Extractor,
    source: Text,
    name: str,
    candidates: tuple[str, Language | None],
    tally: Tally,
) -> Iterator[str]:
    """The output, line by line; each answer is added to the tally."""
    from lcons_tasks.apps._extraction import describe_extraction, extract_lines

    tags = pos_tags()
    for first, chunk in source.chunks():
        lines = [(f"{name}:{n}", line) for n, line in enumerate(chunk, start=first) if line.strip()]
        for text, answer in extract_lines(extractor, lines, tags, *candidates) if lines else ():
            tally.add(answer.status, answer.stats["changed"], relations=len(answer.relations))
            yield json_line(describe_extraction(text, answer))
