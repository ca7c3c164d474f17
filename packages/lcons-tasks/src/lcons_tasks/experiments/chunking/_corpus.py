"""Sentences for chunking: the bundled mini corpus, CoNLL-2000, or a folder of the user; and parts of them.

Paper: Sec. 6: the first 8000 of CoNLL-2000's 8936 training sentences train, the other 936 are dev. A ratio
takes the first part of train *and* of dev.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lcons_core import InvalidInput
from lcons_tasks.bundled import bundled
from lcons_tasks.data import Sentence, read_columns, require
from lcons_tasks.data._columns import CONLL2000
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._run import corpus_named

CONLL2000_TRAIN = 8000
PARTS = ("train", "dev", "test")

Sentences = tuple[Sentence, ...]


@dataclass(frozen=True, eq=False)
class ChunkCorpus:
    """Sentences with POS tags and chunk labels, in three parts."""

    name: str
    what: str
    train: Sentences
    dev: Sentences
    test: Sentences

    def __post_init__(self) -> None:
        for part in PARTS:
            if not getattr(self, part):
                raise InvalidInput(f"corpus {self.name!r} needs {part} sentences: got none; add some.")

    @cached_property
    def sha256(self) -> str:
        """A hash of all sentences and of their division into parts."""
        hashes = (hash_sentences(getattr(self, part)) for part in PARTS)
        return hashlib.sha256("".join(hashes).encode()).hexdigest()

    def subset(self, ratio: float) -> tuple[Sentences, Sentences]:
        """The first train and dev sentences of a ratio, at least one of each."""
        train, dev = (part[: max(1, round(len(part) * ratio))] for part in (self.train, self.dev))
        return train, dev


def load_corpus(name: str = "auto") -> ChunkCorpus:
    """The corpus of that name: `bundled`, `conll2000`, `auto` (CoNLL-2000 if it is found, otherwise the
    bundled one), or a folder with train.txt, dev.txt and test.txt in CoNLL-2000's columns."""
    name = corpus_named(name, "conll2000")
    if name == "bundled":
        parts = [tuple(read_columns(bundled("chunking", f"{part}.txt"))) for part in PARTS]
        return ChunkCorpus(name, "the bundled mini corpus (six genres, CC0)", *parts)
    if name == "conll2000":
        train, test = (tuple(read_columns(path)) for path in require("conll2000"))
        first, rest = train[:CONLL2000_TRAIN], train[CONLL2000_TRAIN:]
        return ChunkCorpus(name, "CoNLL-2000 (Wall Street Journal, automatic POS tags)", first, rest, test)
    folder = Path(name)
    if not folder.is_dir():
        raise InvalidInput(
            "expected the corpus `bundled`, `conll2000` or a folder with train.txt, dev.txt and test.txt,"
            f" found {name!r}; name one of these."
        )
    parts = [tuple(read_columns(folder / f"{part}.txt", CONLL2000)) for part in PARTS]
    return ChunkCorpus(name, "a folder of the user", *parts)
