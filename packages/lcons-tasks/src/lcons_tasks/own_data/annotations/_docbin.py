"""spaCy's `DocBin` (`.spacy`): docs with their tokens, entities, sentences and tags.

The labels are the entities (`doc.ents`); where a doc has none but has span groups, those of the only group,
or of the group that `spans_key` names. Sentences are the doc's, or the whole doc. Fine-grained tags become
the column `pos` if every token of the file has one. White space is not a word.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_core import WORD, Instance, LconsError
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import POS
from lcons_tasks.data.text import Token
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data.annotations._passage import Passage, Span, structures_of

if TYPE_CHECKING:
    from spacy.tokens import Doc

# A DocBin is compressed: one of this size holds some million words.
MOST_BYTES = 2**30


def read_docbin(path: str | os.PathLike[str], spans_key: str | None = None) -> Structures:
    """The labelled sentences of a file."""
    docs = list(_docs(path))
    with _spacy_errors(path):
        passages = [_passage(doc, spans_key) for doc in docs]
        tags = [tag for doc in docs for tag in _tags(doc)]
    try:
        found = structures_of(path, iter(passages))
    except LconsError as error:
        raise malformed(path, 1, str(error)) from None
    words = [word for one in found.instances for word in one.x[WORD]]
    if len(tags) != len(words) or not all(tags):
        return found
    # Tokens that a span cuts would have no tag of their own; then there is no column.
    places = iter(tags)
    return Structures(
        tuple(Instance({**one.x, POS: tuple(next(places) for _ in one.y)}, one.y) for one in found.instances)
    )


def _docs(path: str | os.PathLike[str]) -> Iterator[Doc]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise malformed(path, 1, f"expected at most {MOST_BYTES:,} bytes, found more; split the file.")
        content = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    with _spacy_errors(path):
        _check_size(path, content)
        yield from DocBin().from_bytes(content).get_docs(Vocab())


@contextmanager
def _spacy_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what spaCy raises on damaged bytes, when it reads them or when names are looked up, into one
    sentence."""
    try:
        yield
    except LconsError:
        raise
    except Exception as error:  # of many kinds
        raise malformed(
            path,
            1,
            f"expected a DocBin of spaCy, found other bytes ({type(error).__name__}); write it again.",
        ) from None


def _check_size(path: str | os.PathLike[str], content: bytes) -> None:
    """Refuses what would unpack to more than `MOST_BYTES`, without unpacking it into memory."""
    unpacker, size, rest = zlib.decompressobj(), 0, content
    while rest and not unpacker.eof:
        size += len(unpacker.decompress(rest, 2**20))
        rest = unpacker.unconsumed_tail
        if size > MOST_BYTES:
            raise malformed(path, 1, f"expected at most {MOST_BYTES:,} bytes unpacked, found more; split it.")


def _passage(doc: Doc, spans_key: str | None) -> Passage:
    groups = doc.spans
    if spans_key is None and not doc.ents and len(groups) == 1:
        spans_key = next(iter(groups))
    spans: Any = doc.ents if spans_key is None else groups.get(spans_key, ())
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc]
    tokens = tuple(
        tuple(Token(one.text, one.idx, one.idx + len(one.text)) for one in sentence if not one.is_space)
        for sentence in sentences
    )
    named = (Span(span.start_char, span.end_char, span.label_.replace(" ", "_")) for span in spans)
    return Passage(doc.text, tuple(named), tuple(own for own in tokens if own))


def _tags(doc: Doc) -> list[str]:
    return [token.tag_ for token in doc if not token.is_space]
