"""Passages with candidates: bundled, Roth and Yih's corpus, or a file of the user in its format; and splits.

Roth and Yih's corpus is used with its 1441 sentences that have relations, and Other becomes NoEnt. A seed
draws 70% for training and 30% for test; a smaller sample takes the first training passages.

Paper: Sec. 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.bundled import bundled
from lcons_tasks.data import MalformedCorpus, read_roth_yih, require
from lcons_tasks.data._passage import ENTITY_NAMES, RELATION_NAMES, Labelled, Passage, hash_passages
from lcons_tasks.data._roth_yih import RelationSentence

PAPERS = "conll04"
TRAIN = 0.7
SMALLEST = 10
NO_CANDIDATE = "O"
# The corpus writes these tokens in another way.
_WRITTEN = {"COMMA": ",", "-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True, eq=False)
class ErCorpus:
    """Labelled passages."""

    name: str
    what: str
    passages: tuple[Labelled, ...]

    def __post_init__(self) -> None:
        relations = sum(len(labelled.relations) for labelled in self.passages)
        if len(self.passages) < SMALLEST or not relations:
            raise InvalidInput(
                f"corpus {self.name!r} needs at least {SMALLEST} sentences and at least one relation: got"
                f" {len(self.passages)} sentences and {relations} relations; add some."
            )

    @cached_property
    def sha256(self) -> str:
        """A hash of words, tags and labels."""
        return hash_passages(self.passages)

    def split(self, seed: int, size: int = 0) -> tuple[list[int], list[int]]:
        """The indices of training and test passages; `size`: a number of training passages (0: all)."""
        order = np.random.default_rng(seed).permutation(len(self.passages)).tolist()
        first = round(TRAIN * len(order))
        return order[: size or first][:first], order[first:]


@lru_cache(maxsize=2)
def load_corpus(name: str) -> ErCorpus:
    """The corpus of that name: `bundled`, `conll04`, or a file in Roth and Yih's format."""
    if name == "bundled":
        return ErCorpus(name, "the bundled mini corpus (CC0)", _read(bundled("er", "sentences.corp")))
    if name == PAPERS:
        related = tuple(passage for passage in _read(require(PAPERS)[0]) if passage.relations)
        return ErCorpus(name, "Roth and Yih 2004, the sentences with relations", related)
    if not Path(name).is_file():
        raise InvalidInput(
            f"`corpus` must be bundled, {PAPERS} or a file in the format of Roth and Yih: got {name!r}."
        )
    return ErCorpus(name, "a file of the user", _read(name))


def _read(path: str | Path) -> tuple[Labelled, ...]:
    return tuple(map(labelled, read_roth_yih(path)))


def labelled(sentence: RelationSentence) -> Labelled:
    """The labelled passage of a sentence; its rows with an entity label are the candidates."""
    words: list[str] = []
    tags: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    for row, (phrase, pos) in enumerate(zip(sentence.phrases, sentence.pos, strict=True)):
        if sentence.entities[row] != NO_CANDIDATE:
            spans[row] = (len(words), len(words) + len(phrase))
        words += [_WRITTEN.get(word, word) for word in phrase]
        tags += _tags(pos, len(phrase))
    place = {row: i for i, row in enumerate(spans)}
    passage = Passage(tuple(words), tuple(tags), tuple(spans.values()))
    try:
        entities = tuple(ENTITY_NAMES[sentence.entities[row]] for row in spans)
        relations = {
            (place[relation.arg1], place[relation.arg2]): RELATION_NAMES[relation.type]
            for relation in sentence.relations
        }
        return Labelled(sentence.id, passage, entities, relations)
    except KeyError as error:
        raise MalformedCorpus(
            f"sentence {sentence.id}: entity labels are {', '.join(ENTITY_NAMES)}, and relations"
            f" ({', '.join(RELATION_NAMES)}) are between two rows with such a label: got {error}."
        ) from None


def _tags(pos: str, size: int) -> Sequence[str]:
    """The tags of a row's words: if there are too few tags, the last one is repeated; surplus tags are
    dropped."""
    tags = [tag or ":" for tag in pos.split("/")]
    return (tags + tags[-1:] * size)[:size]
