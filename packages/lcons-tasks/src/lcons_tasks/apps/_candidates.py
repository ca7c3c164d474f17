r"""Text with entity candidates: marked with brackets, found by a spaCy pipeline, or runs of proper nouns.

    [Google LLC] is headquartered in [Mountain View], California.

Brackets mark candidates and are not part of the text; `\[` and `\]` are brackets of the text. A token ends
before and after a candidate, even within a word, so that candidates are exactly the marked text. White space
at the ends of a candidate is not part of it.

A spaCy pipeline reads the tokens of `lcons_tasks.data.text` instead of its own, so entities are spans of
these. For English pipelines both are the same, except for white space.

If nothing is marked and there is no pipeline, runs of proper nouns are the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NoReturn

from lcons_core import InvalidInput, LconsError
from lcons_tasks.data._passage import Passage
from lcons_tasks.data.text import Token, tokenise
from lcons_tasks.data.text._tokens import encodable

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


NAME_TAGS = frozenset({"NNP", "NNPS"})

Span = tuple[int, int]

_MARK = re.compile(r"\\?[\[\]]")


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

    def passage(self, pos: Sequence[str]) -> Passage:
        """The words with POS tags and candidates."""
        return Passage(self.words, tuple(pos), self.spans)

    def place(self, candidate: int) -> Span:
        """The place of a candidate in the text, in characters."""
        first, after = self.spans[candidate]
        return self.tokens[first].start, self.tokens[after - 1].end


def read_marks(line: str, where: str = "line 1") -> CandidateText:
    r"""The text of a line and the candidates that it marks; `where` is the name of the line in errors.

    >>> found = read_marks(r"[Ann] lives in [New York] \[sic\].")
    >>> found.text, found.spans, found.place(1)
    ('Ann lives in New York [sic].', ((0, 1), (3, 5)), (13, 21))
    """
    text = ""
    marked: list[Span] = []
    opened: tuple[int, int] | None = None
    done = 0
    for mark in _MARK.finditer(line):
        text += line[done : mark.start()]
        done = mark.end()
        at = mark.start() + 1
        if mark.group() == "[":
            if opened:
                _refuse(where, f"`[` at character {at} within the brackets from character {opened[1]} on")
            opened = len(text), at
        elif mark.group() == "]":
            if not opened:
                _refuse(where, f"`]` at character {at} that closes nothing")
            if not text[opened[0] :].strip():
                _refuse(where, f"no text in the brackets at character {opened[1]}")
            marked.append((opened[0], len(text)))
            opened = None
        else:
            text += mark.group()[1:]
    if opened:
        _refuse(where, f"`[` at character {opened[1]} that is not closed")
    return read_places(text + line[done:], marked)


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
    return tuple(_runs(tag in NAME_TAGS for tag in pos))


def _runs(flags: Iterator[bool]) -> Iterator[Span]:
    first = 0
    for flag, run in groupby(flags):
        after = first + sum(1 for _ in run)
        if flag:
            yield first, after
        first = after


def _refuse(where: str, found: str) -> NoReturn:
    raise InvalidInput(
        f"{where}: expected candidates marked as in `[Ann] lives in [Oslo]`, found {found}; write `\\[` and"
        " `\\]` for brackets that mark nothing."
    )


ENTITIES = "doc.ents"

_BATCH = 64
_LONGEST_REASON = 200


def load_recogniser(name: str) -> Language:
    """The spaCy pipeline of that name or in that folder, which must have an entity recogniser."""
    import spacy

    try:
        nlp = spacy.load(name)
    except Exception as error:  # a pipeline made for another spaCy may raise anything
        raise LconsError(
            f"the spaCy pipeline {name!r} does not load: {_reason(error)}; run `python -m spacy download"
            " en_core_web_sm` for the usual one, or find candidates without it."
        ) from None
    if not any(_finds_entities(nlp, pipe) for pipe in nlp.pipe_names):
        raise InvalidInput(
            f"expected a spaCy pipeline with an entity recogniser, found {name!r} with"
            f" {', '.join(nlp.pipe_names) or 'no components'}; use one with `ner` or `entity_ruler`."
        )
    return nlp


def entity_spans(nlp: Language, texts: Sequence[CandidateText]) -> list[tuple[Span, ...]]:
    """The entities of each text as spans of its tokens, in order."""
    try:
        # spaCy forgets new words after the block, so that memory does not grow.
        with nlp.memory_zone():
            docs = nlp.pipe((_doc(nlp, text) for text in texts), batch_size=_BATCH)
            return [tuple((entity.start, entity.end) for entity in doc.ents) for doc in docs]
    except Exception as error:  # a component may raise anything
        raise LconsError(
            f"the spaCy pipeline {nlp.meta.get('name', '')!r} failed to find entities: {_reason(error)}; use"
            " another."
        ) from error


def _finds_entities(nlp: Language, pipe: str) -> bool:
    return ENTITIES in nlp.get_pipe_meta(pipe).assigns or bool(
        getattr(nlp.get_pipe(pipe), "annotate_ents", False)
    )


def _doc(nlp: Language, text: CandidateText) -> Doc:
    from spacy.tokens import Doc

    spaces = [text.text[token.end : token.end + 1].isspace() for token in text.tokens]
    return Doc(nlp.vocab, words=[encodable(token.text) for token in text.tokens], spaces=spaces)


def _reason(error: Exception) -> str:
    found = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return found if len(found) <= _LONGEST_REASON else found[:_LONGEST_REASON] + " ..."
