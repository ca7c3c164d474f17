"""The document of a run from the template beside its experiment: Markdown in jinja2, with blocks in it.

    # title               a paragraph on what was compared, and the headline
    ## title of a section its paragraphs and blocks

A value that is a block (`{{ gains(...) }}`) becomes that block; the rest is text. Templates call the
functions of `_blocks.py` and what the experiment adds, and set `next_command` and perhaps `paper_corpus`.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lcons_tasks.experiments.engine import _blocks
from lcons_tasks.report._document import Block, Document, Headline, Section, Text

TEMPLATE = "report.md.jinja"
# A block stands in the rendered text as a paragraph of its own: this character and its number.
_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"


def render(experiment: Any, corpus: str, **values: Any) -> Document:
    """The document that the template of an experiment makes of these values."""
    placed: list[Block | Headline] = []

    def text_of(value: Any) -> Any:
        if isinstance(value, Block | Headline):
            placed.append(value)
            return f"\n\n{_MARK}{len(placed) - 1}\n\n"
        return "" if value is None else value

    folder = Path(inspect.getfile(type(experiment))).parent
    environment = _environment(folder).overlay(finalize=text_of)
    module = environment.get_template(TEMPLATE).make_module(values)
    title, opening, sections = _parts(str(module))
    blocks = [_block(part, placed) for part in opening[1:]]
    return Document(
        title,
        experiment.name,
        corpus,
        opening[0],
        next((block for block in blocks if isinstance(block, Headline)), None),
        tuple(Section(name, tuple(_block(part, placed) for part in parts)) for name, parts in sections),
        getattr(module, "paper_corpus", None),
        module.next_command,  # type: ignore[attr-defined]
    )


@cache
def _environment(folder: Path) -> Environment:
    loader = FileSystemLoader([folder, Path(__file__).with_name("templates")])
    # Markdown, which the renderings of a document escape.
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.globals |= dict(inspect.getmembers(_blocks, inspect.isfunction))
    environment.filters["thousands"] = "{:,}".format
    return environment


def _parts(text: str) -> tuple[str, list[str], list[tuple[str, list[str]]]]:
    """The title, the paragraphs below it, and (title, paragraphs) of the sections that have some."""
    first, *rest = re.split(r"^## (?=\S)", text.strip(), flags=re.MULTILINE)
    (title, *opening), sections = _paragraphs(first), [_paragraphs(section) for section in rest]
    return title.removeprefix("# "), opening, [(name, parts) for name, *parts in sections if parts]


def _paragraphs(text: str) -> list[str]:
    """The first line and the paragraphs below it, each on one line."""
    title, _, rest = text.partition("\n")
    return [title, *(" ".join(part.split()) for part in re.split(r"\n\s*\n", rest) if part.strip())]


def _block(part: str, placed: list[Block | Headline]) -> Any:
    return placed[int(part[1:])] if part.startswith(_MARK) else Text(part)
