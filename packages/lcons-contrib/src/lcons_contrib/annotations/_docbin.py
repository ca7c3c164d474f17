"""spaCy's `DocBin` (`.spacy`): docs with their tokens, entities, sentences and tags.

The labels are the entities (`doc.ents`); where a doc has none but has span groups, those of the only group,
or of the group that `label` names. Sentences are the doc's, or the whole doc. Fine-grained tags become the
column `pos` if every token of the file has one. White space is not a word.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_contrib.annotations._passage import Passage, Sentence, Span, labelled
from lcons_core import InvalidInput, LconsError
from lcons_core._instance import WORD
from lcons_tasks.data._stream import POS
from lcons_tasks.data.text import Token

if TYPE_CHECKING:
    from spacy.tokens import Doc

_Tagged = tuple[Mapping[str, Sequence[str]], Sequence[str]]
"""Columns by name, and labels."""

# A DocBin is compressed: one of this size holds some million words.
MOST_BYTES = 2**30


def read_docbin(path: str | os.PathLike[str], label: str | None = None) -> Iterable[Sentence | _Tagged]:
    """The labelled sentences of a file; `label` is the name of a span group."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    content = Path(path).read_bytes()
    try:
        _check_size(content)
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
        passages = [_passage(doc, label) for doc in docs]
        tags = [token.tag_ for doc in docs for token in doc if not token.is_space]
    except LconsError:
        raise
    except Exception as error:  # spaCy raises many kinds on damaged bytes
        raise InvalidInput(
            f"expected a DocBin of spaCy, found other bytes ({type(error).__name__}); write it again."
        ) from None
    sentences = list(labelled(passages))
    if not all(tags) or len(tags) != sum(len(labels) for _, labels in sentences):
        return sentences  # a token that a span cuts has no tag
    after = list(accumulate((len(labels) for _, labels in sentences), initial=0))
    return [
        ({WORD: words, POS: tags[first:stop]}, labels)
        for (words, labels), (first, stop) in zip(sentences, pairwise(after), strict=True)
    ]


def _check_size(content: bytes) -> None:
    """Refuses what would unpack to more than `MOST_BYTES`, without unpacking it into memory."""
    unpacker, size, rest = zlib.decompressobj(), 0, content
    while rest and not unpacker.eof:
        size += len(unpacker.decompress(rest, 2**20))
        rest = unpacker.unconsumed_tail
        if size > MOST_BYTES:
            raise InvalidInput(f"expected at most {MOST_BYTES:,} bytes unpacked, found more; split the file.")


def _passage(doc: Doc, group: str | None) -> Passage:
    if group is None and not doc.ents and len(doc.spans) == 1:
        group = next(iter(doc.spans))
    spans: Any = doc.ents if group is None else doc.spans.get(group, ())
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc]
    tokens = [
        [
            Token(token.text, token.idx, token.idx + len(token.text))
            for token in sentence
            if not token.is_space
        ]
        for sentence in sentences
    ]
    named = [Span(span.start_char, span.end_char, "_".join(span.label_.split())) for span in spans]
    return Passage(doc.text, named, [sentence for sentence in tokens if sentence])
