"""Extraction from texts: candidates are found, words get POS tags, and the answer counts characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lcons_decode import RelationDecoding
from lcons_tasks.apps._candidates import CandidateText, entity_spans, name_spans, read_marks, read_places
from lcons_tasks.apps._extractor import Extractor

if TYPE_CHECKING:
    from spacy.language import Language

Lines = Sequence[tuple[str, str]]
"""Lines that are not blank, each after its name in errors."""
Tags = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]


def extract_lines(
    extractor: Extractor, lines: Lines, tags: Tags, candidates: str = "marked", nlp: Language | None = None
) -> Iterator[tuple[CandidateText, RelationDecoding]]:
    """Each line as a text with its candidates, and the answer. `candidates`: marked (in brackets), spacy (the
    entities of the pipeline `nlp`) or names (runs of proper nouns)."""
    marked = candidates == "marked"
    texts = [read_marks(line, where) if marked else read_places(line) for where, line in lines]
    tagged = tags([text.words for text in texts])
    if not marked:
        spans = map(name_spans, tagged) if nlp is None else entity_spans(nlp, texts)
        texts = [replace(text, spans=some) for text, some in zip(texts, spans, strict=True)]
    for text, pos in zip(texts, tagged, strict=True):
        yield text, extractor.extract(text.passage(pos))


def describe_extraction(text: CandidateText, answer: RelationDecoding) -> dict[str, Any]:
    """An answer as plain data: start and end count characters of the text, source and target entities."""
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
