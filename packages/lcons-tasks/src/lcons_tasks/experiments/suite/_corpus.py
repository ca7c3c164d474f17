"""The sets of the suite: a pool of sentences to sample from, and sentences for testing; only words are read.

| corpus | sets |
|---|---|
| bundled | the bundled corpora of chunks and of references |
| suite | each folder suite/NAME of a data folder, CoNLL-2000, Cora and AnyStyle, those that are found |
| a folder | each folder NAME in it |

A folder NAME has train.conll and test.conll: a word and its label per line. The pool is
train.conll; of CoNLL-2000 it is the first 4,000 training sentences. References have no parts: they are
shuffled with seed 0, the first 30% (at most 400) are for testing, the others are the pool, and their fields
are IOB2 spans. At most 1,000 sentences are for testing.

A sample of N sentences starts at a place in the pool, and wraps round: N labelled sentences, and the next
3,000 as unlabelled text. The first of three samples starts at 0, the others 300 and 600 sentences later if
the pool has 1,600 or more, otherwise by N or a quarter of the pool, whichever is larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.bundled import bundled
from lcons_tasks.data import Columns, Sentence, find, read_columns, require
from lcons_tasks.data._catalog import data_folders
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.citation._corpus import read_labelled
from lcons_tasks.stats import are_spans, runs_as_iob2

BUNDLED, SUITE = "bundled", "suite"
CHUNKING, CITATION = "chunking", "citation"
CONLL2000, REFERENCES = "conll2000", ("cora", "anystyle")
MOST_TESTED, MOST_UNLABELLED = 1000, 3000
CONLL2000_POOL = 4000
TESTED_REFERENCES, MOST_TESTED_REFERENCES = 0.3, 400
LARGE_POOL, STEP = 1600, 300
WORD_LABEL = Columns()


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """The pool that samples are drawn from, and the sentences that are tested."""

    name: str
    pool: tuple[Sentence, ...]
    test: tuple[Sentence, ...]

    def __post_init__(self) -> None:
        if len(self.pool) < 3 or not self.test:
            raise InvalidInput(
                f"the set {self.name!r} needs at least 3 training sentences and 1 test sentence: got"
                f" {len(self.pool)} and {len(self.test)}; add some."
            )

    @cached_property
    def spans(self) -> bool:
        """Whether the labels are spans, so that span F1 is the measure; otherwise it is token accuracy."""
        return are_spans(
            {label for part in (self.pool, self.test) for sentence in part for label in sentence.labels}
        )

    @cached_property
    def sha256(self) -> str:
        """A hash of pool and test sentences."""
        return hash_sentences((*self.pool, *self.test))

    def offset(self, size: int, start: int) -> int:
        """The place in the pool of the first sentence of a sample.

        >>> one = Sentence(("a",), ("O",))
        >>> [LabelledSet("x", (one,) * n, (one,)).offset(50, 2) for n in (2000, 400, 120)]
        [600, 200, 100]
        """
        n = len(self.pool)
        return start * (STEP if n >= LARGE_POOL else max(size, n // 4)) % n

    def sample(self, size: int, start: int) -> tuple[tuple[Sentence, ...], tuple[tuple[str, ...], ...]]:
        """(labelled sentences, unlabelled text): `size` sentences, and the next 3,000 or all others."""
        first = self.offset(size, start)
        turned = (*self.pool[first:], *self.pool[:first])
        return turned[:size], tuple(sentence.words for sentence in turned[size : size + MOST_UNLABELLED])


def set_names(corpus: str) -> tuple[str, ...]:
    """The names of the sets of a corpus, sorted; raises `InvalidInput` if there are none."""
    if corpus == BUNDLED:
        return CHUNKING, CITATION
    if corpus == SUITE:
        more = [name for name in (CONLL2000, *REFERENCES) if find(name)]
        names = (*_folders(corpus), *more)
    elif Path(corpus).is_dir():
        names = tuple(_folders(corpus))
    else:
        raise InvalidInput(
            f"expected the corpus `{BUNDLED}`, `{SUITE}` or a folder of sets, found {corpus!r}; name one of"
            " these."
        )
    if not names:
        raise InvalidInput(
            f"expected folders with train.conll and test.conll in {corpus!r}, found none; add some, or use"
            f" the corpus `{BUNDLED}`."
        )
    return names


def has_suite() -> bool:
    """Whether a data folder has sets of the suite."""
    return bool(_folders(SUITE))


def _folders(corpus: str) -> dict[str, Path]:
    """The folders of sets by name, sorted; those of the first data folder that has some."""
    above = [folder / SUITE for folder in data_folders()] if corpus == SUITE else [Path(corpus)]
    for place in above:
        folders = {path.parent.name: path.parent for path in sorted(place.glob("*/train.conll"))}
        if folders:
            return folders
    return {}


@lru_cache(maxsize=16)
def load_set(corpus: str, name: str) -> LabelledSet:
    """The set of that name."""
    if name not in set_names(corpus):
        raise InvalidInput(
            f"expected a set of the corpus {corpus!r}, found {name!r}; name one of"
            f" {', '.join(set_names(corpus))}."
        )
    folders = {} if corpus == BUNDLED else _folders(corpus)
    if name in folders:
        return _of_files(name, {part: folders[name] / f"{part}.conll" for part in PARTS})
    if name == CHUNKING:
        paths = {part: bundled("chunking", f"{part}.txt") for part in PARTS}
        return _of_files(name, paths)
    if name == CONLL2000:
        train, test = require(name)
        return _of_files(name, {"train": train, "test": test}, CONLL2000_POOL)
    return _of_references(name)


PARTS = ("train", "test")


def _of_files(name: str, paths: dict[str, Path], most: int | None = None) -> LabelledSet:
    return LabelledSet(name, _read(paths["train"])[:most], _read(paths["test"])[:MOST_TESTED])


def _of_references(name: str) -> LabelledSet:
    _, references = read_labelled(BUNDLED if name == CITATION else name)
    order = np.random.default_rng(0).permutation(len(references)).tolist()
    sentences = _sentences((references[i][0], runs_as_iob2(references[i][1])) for i in order)
    tested = min(MOST_TESTED_REFERENCES, round(TESTED_REFERENCES * len(sentences)))
    return LabelledSet(name, sentences[tested:], sentences[:tested])


def _read(path: Path) -> tuple[Sentence, ...]:
    return _sentences((sentence.words, sentence.labels) for sentence in read_columns(path, WORD_LABEL))


def _sentences(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[Sentence, ...]:
    return tuple(Sentence(tuple(words), tuple(labels)) for words, labels in pairs if words)
