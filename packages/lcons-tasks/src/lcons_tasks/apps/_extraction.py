"""Extraction from texts: candidates are found, words get POS tags, and the answer counts characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lcons_decode import RelationDecoding
from lcons_tasks.apps._candidates import CandidateText, entity_spans, name_spans, read_marks, read_places
from lcons_tasks.apps._extractor import MOST_READ, Extractor, cut

if TYPE_CHECKING:
    from spacy.language import Language

Lines = Sequence[tuple[str, str]]
"""Lines that are not blank, each after its name in errors."""
Tags = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]
NAMES = "names"


def _marked(lines: Lines, nlp: Any) -> list[CandidateText]:
    return [read_marks(line, where) for where, line in lines]


def _entities(lines: Lines, nlp: Language) -> list[CandidateText]:
    texts = [read_places(line) for _, line in lines]
    spans = entity_spans(nlp, texts)
    return [replace(text, spans=own) for text, own in zip(texts, spans, strict=True)]


def _bare(lines: Lines, nlp: Any) -> list[CandidateText]:
    return [read_places(line) for _, line in lines]


# How candidates are found in lines; the candidates of `names` are found later, from POS tags.
CANDIDATES: Mapping[str, Callable[[Lines, Any], list[CandidateText]]] = MappingProxyType(
    {"marked": _marked, "spacy": _entities, NAMES: _bare}
)


def extract_lines(
    extractor: Extractor, lines: Lines, tags: Tags, candidates: str = "marked", nlp: Language | None = None
) -> Iterator[tuple[CandidateText, RelationDecoding]]:
    """Each line as a text with its candidates, and the answer; `candidates` is one of `CANDIDATES`, and `nlp`
    is the pipeline of `spacy`."""
    texts = CANDIDATES[candidates](lines, nlp)
    for text, pos in zip(texts, _tags(tags, texts), strict=True):
        own = replace(text, spans=name_spans(pos)) if candidates == NAMES else text
        yield own, extractor.extract(own.passage(pos))


def _tags(tags: Tags, texts: Sequence[CandidateText]) -> list[list[str]]:
    """One tag per token for each text; long texts are tagged in parts."""
    words = [text.words for text in texts]
    parts = [(i, own[a:b]) for i, own in enumerate(words) for a, b in cut(own, most_words=MOST_READ)]
    found: list[list[str]] = [[] for _ in texts]
    for (i, _), some in zip(parts, tags([own for _, own in parts]), strict=True):
        found[i] += some
    return found


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
