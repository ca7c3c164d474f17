r"""Extraction from texts: candidates are found, words get POS tags, and the answer counts characters.

Candidates are marked with brackets, found by a spaCy pipeline, or runs of proper nouns:

    [Google LLC] is headquartered in [Mountain View], California.

Brackets mark candidates and are not part of the text; `\[` and `\]` are brackets of the text. A token ends
before and after a candidate, even within a word, so that candidates are exactly the marked text. White space
at the ends of a candidate is not part of it.

A spaCy pipeline reads the tokens of `lcons_tasks.data.text` instead of its own, so entities are spans of
these. For English pipelines both are the same, except for white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any

from lcons_core import InvalidInput, LconsError
from lcons_decode import RelationDecoding
from lcons_tasks.data._passage import Passage
from lcons_tasks.data.text import Token, tokenise
from lcons_tasks.data.text._tokens import encodable

if TYPE_CHECKING:
    from spacy.language import Language

    from lcons_tasks.apps._extractor import Extractor

NAME_TAGS = frozenset({"NNP", "NNPS"})
# What a component of spaCy assigns if it recognises entities, and how many texts it reads at once.
ENTITIES, BATCH = "doc.ents", 64

Span = tuple[int, int]
Lines = Sequence[tuple[str, str]]
"""Lines that are not blank, each after its name in errors."""
Tags = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]

_MARK = re.compile(r"(?<!\\)([\[\]])")


@dataclass(frozen=True)
class CandidateText:
    """A text, its tokens, and its candidates as spans (first, after the last) of tokens."""

    text: str
    tokens: tuple[Token, ...]
    spans: tuple[Span, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the tokens."""
        return tuple(token.text for token in self.tokens)

    def place(self, candidate: int) -> Span:
        """The place of a candidate in the text, in characters."""
        first, after = self.spans[candidate]
        return self.tokens[first].start, self.tokens[after - 1].end


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
        yield text, extractor.extract(Passage(text.words, tuple(pos), text.spans))


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


def read_marks(line: str, where: str = "line 1") -> CandidateText:
    r"""The text of a line and the candidates that it marks; `where` is the name of the line in errors.

    >>> marked = read_marks(r"[Ann] lives in [New York] \[sic\].")
    >>> marked.text, marked.spans, marked.place(1)
    ('Ann lives in New York [sic].', ((0, 1), (3, 5)), (13, 21))
    """
    pieces = _MARK.split(line)
    texts = [piece.replace("\\[", "[").replace("\\]", "]") for piece in pieces[::2]]
    marks = pieces[1::2]
    if "".join(marks) != "[]" * (len(marks) // 2) or not all(map(str.strip, texts[1::2])):
        rule = r"mark text as in `[Ann] lives in [Oslo]`; other brackets are `\[` and `\]`"
        raise InvalidInput(f"{where}: {rule}: got {line!r:.60}.")
    borders = list(accumulate(map(len, texts)))
    return read_places("".join(texts), list(zip(borders[::2], borders[1::2], strict=False)))


def read_places(text: str, places: Sequence[Span] = ()) -> CandidateText:
    """The tokens of a text with candidates at `places`: in characters, in order and without overlap.

    >>> [token.text for token in read_places("anti-NATO", [(5, 9)]).tokens]
    ['anti-', 'NATO']
    """
    borders = [0, *(border for place in places for border in place), len(text)]
    tokens: list[Token] = []
    spans = []
    # Every second piece is a candidate.
    for number, (start, end) in enumerate(pairwise(borders)):
        first = len(tokens)
        for token in tokenise(text[start:end]):
            tokens.append(Token(token.text, start + token.start, start + token.end))
        if number % 2:
            spans.append((first, len(tokens)))
    return CandidateText(text, tuple(tokens), tuple(spans))


def name_spans(pos: Sequence[str]) -> tuple[Span, ...]:
    """The maximal runs of proper nouns.

    >>> name_spans(["NNP", "NNPS", "VBD", "NNP"])
    ((0, 2), (3, 4))
    """
    runs = [(is_name, list(run)) for is_name, run in groupby(range(len(pos)), lambda t: pos[t] in NAME_TAGS)]
    return tuple((run[0], run[-1] + 1) for is_name, run in runs if is_name)


def load_recogniser(name: str) -> Language:
    """The spaCy pipeline of that name or in that folder, which must have an entity recogniser."""
    import spacy

    try:
        nlp = spacy.load(name)
    except Exception as error:  # a pipeline made for another spaCy may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise LconsError(f"the spaCy pipeline {name!r} does not load: {reason:.200}") from None
    pipes = [(nlp.get_pipe_meta(pipe), nlp.get_pipe(pipe)) for pipe in nlp.pipe_names]
    if not any(ENTITIES in meta.assigns or getattr(pipe, "annotate_ents", False) for meta, pipe in pipes):
        raise InvalidInput(f"the spaCy pipeline {name!r} has no entity recogniser, such as `ner`.")
    return nlp


def entity_spans(nlp: Language, texts: Sequence[CandidateText]) -> list[tuple[Span, ...]]:
    """The entities of each text as spans of its tokens, in order."""
    from spacy.tokens import Doc

    # spaCy forgets new words after the block, so that memory does not grow.
    with nlp.memory_zone():
        docs = []
        for text in texts:
            spaces = [text.text[token.end : token.end + 1].isspace() for token in text.tokens]
            docs.append(Doc(nlp.vocab, words=list(map(encodable, text.words)), spaces=spaces))
        return [tuple((e.start, e.end) for e in doc.ents) for doc in nlp.pipe(docs, batch_size=BATCH)]
