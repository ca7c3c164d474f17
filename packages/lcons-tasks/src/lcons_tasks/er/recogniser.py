"""Candidates from the entities of a spaCy pipeline.

The pipeline reads the tokens of `lcons_tasks.text`, never its own, so that entities are spans of these. For
English pipelines they are the same but for white space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lcons_core.errors import InvalidInput, LconsError
from lcons_tasks.er.cutting import MOST_READ, cut
from lcons_tasks.er.reading import CandidateText, Span
from lcons_tasks.text.encodable import encodable

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

ENTITIES = "doc.ents"

_BATCH = 64
_LONGEST_REASON = 200


def load_recogniser(name: str) -> Language:
    """The pipeline of that name, or in that folder, which finds entities."""
    import spacy

    try:
        nlp = spacy.load(name)
    except Exception as error:  # whatever a pipeline made for another spaCy may raise
        if isinstance(error, OSError) and "[E050]" in str(error):
            raise LconsError(
                f"expected an installed spaCy pipeline or the folder of one, found no {name!r}; run `python"
                " -m spacy download en_core_web_sm` for the usual one, or find candidates otherwise."
            ) from None
        raise LconsError(
            f"expected the spaCy pipeline {name!r} to load, found {_reason(error)}; install the one for this"
            " spaCy."
        ) from None
    if not any(_finds_entities(nlp, pipe) for pipe in nlp.pipe_names):
        raise InvalidInput(
            f"expected a spaCy pipeline with an entity recogniser, found {name!r} with"
            f" {', '.join(nlp.pipe_names) or 'no components'}; use one with `ner` or `entity_ruler`."
        )
    return nlp


def entity_spans(nlp: Language, texts: Sequence[CandidateText]) -> list[tuple[Span, ...]]:
    """The entities of each text as spans of its tokens, in order."""
    pieces = [(i, *part) for i, text in enumerate(texts) for part in cut(text.words, most_words=MOST_READ)]
    found: list[list[Span]] = [[] for _ in texts]
    try:
        # spaCy forgets words that are new to it, so that memory stays flat.
        with nlp.memory_zone():
            docs = nlp.pipe((_doc(nlp, texts[i], a, b) for i, a, b in pieces), batch_size=_BATCH)
            for (i, first, _), doc in zip(pieces, docs, strict=True):
                found[i] += [(first + entity.start, first + entity.end) for entity in doc.ents]
    except Exception as error:  # a component may raise anything
        raise LconsError(
            f"expected the spaCy pipeline {nlp.meta.get('name', '')!r} to find entities, found"
            f" {_reason(error)}; use another."
        ) from error
    return [tuple(spans) for spans in found]


def _finds_entities(nlp: Language, pipe: str) -> bool:
    return ENTITIES in nlp.get_pipe_meta(pipe).assigns or bool(
        getattr(nlp.get_pipe(pipe), "annotate_ents", False)
    )


def _doc(nlp: Language, text: CandidateText, first: int, after: int) -> Doc:
    from spacy.tokens import Doc

    tokens = text.tokens[first:after]
    spaces = [text.text[token.end : token.end + 1].isspace() for token in tokens]
    return Doc(nlp.vocab, words=[encodable(token.text) for token in tokens], spaces=spaces)


def _reason(error: Exception) -> str:
    found = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return found if len(found) <= _LONGEST_REASON else found[:_LONGEST_REASON] + " ..."
