"""Passages with candidates: bundled, Roth and Yih's corpus, or a file of the user in its format; and splits.

Roth and Yih's corpus is used with its 1441 sentences that have relations, and Other becomes NoEnt. A seed
draws 70% for training and 30% for test. Published splits have
names, which are read from a file `splits.json` next to the corpus: `{name: {"train": ids, "dev": ids, "test":
ids}}`.

Paper: Sec. 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.bundled import bundled
from lcons_tasks.data import MalformedCorpus, find, read_roth_yih, require
from lcons_tasks.data._passage import (
    ENTITIES,
    ENTITY_NAMES,
    NO_RELATION,
    RELATION_NAMES,
    RELATIONS,
    Labelled,
    Passage,
    hash_passages,
)
from lcons_tasks.data._roth_yih import RelationSentence

TRAIN = 0.7
SMALLEST = 10
NO_CANDIDATE = "O"
# The corpus writes these tokens in another way.
_WRITTEN = {"COMMA": ",", "-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True, eq=False)
class ErCorpus:
    """Labelled passages, and their published splits: name -> (training, test) as indices."""

    name: str
    what: str
    passages: tuple[Labelled, ...]
    published: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]

    def __post_init__(self) -> None:
        if len(self.passages) < SMALLEST or not any(one.relations for one in self.passages):
            raise InvalidInput(
                f"corpus {self.name!r} needs at least {SMALLEST} sentences and at least one relation: got"
                f" {len(self.passages)} sentences and {sum(len(p.relations) for p in self.passages)}"
                " relations; add some."
            )

    @cached_property
    def sha256(self) -> str:
        """A hash of words, tags and labels."""
        return hash_passages(self.passages)


@dataclass(frozen=True)
class Split:
    """Indices of a corpus's passages; a smaller sample takes the first ones of `train`."""

    train: tuple[int, ...]
    test: tuple[int, ...]

    def part(self, share: float) -> Split:
        """The split with the first share of its training data, at least one passage."""
        return self.first(max(1, round(share * len(self.train))))

    def first(self, size: int) -> Split:
        """The split with the first passages of its training data."""
        return Split(self.train[:size], self.test)


def split(corpus: ErCorpus, which: str) -> Split:
    """The split of this name: a seed such as "1", or a published split."""
    if which in corpus.published:
        return Split(*corpus.published[which])
    if not which.isdecimal():
        known = f"{', '.join(corpus.published)} or a seed" if corpus.published else "a seed, such as 1"
        raise InvalidInput(f"corpus {corpus.name!r} has no split {which!r}; name {known}.")
    order = np.random.default_rng(int(which)).permutation(len(corpus.passages)).tolist()
    first = round(TRAIN * len(order))
    return Split(tuple(order[:first]), tuple(order[first:]))


def with_noise(passages: Sequence[Labelled], rate: float, seed: int) -> list[Labelled]:
    """The passages with errors: each label of a candidate and of a relation is replaced with probability
    `rate` by another label, drawn evenly; a relation may become NoRel."""
    rng = np.random.default_rng([seed, round(1e6 * rate)])

    def drawn(label: str, labels: Sequence[str]) -> str:
        wrong, other = rng.random() < rate, int(rng.integers(1, len(labels)))
        return labels[(labels.index(label) + other) % len(labels)] if wrong else label

    found = []
    for one in passages:
        entities = tuple(drawn(label, ENTITIES) for label in one.entities)
        relations = {pair: drawn(label, RELATIONS) for pair, label in one.relations.items()}
        kept = {pair: label for pair, label in relations.items() if label != NO_RELATION}
        found.append(replace(one, entities=entities, relations=kept))
    return found


def load_corpus(name: str) -> ErCorpus:
    """The corpus of that name: `bundled`, `conll04`, `auto` (Roth and Yih's if it is found, otherwise the
    bundled one), or a file in Roth and Yih's format."""
    if name == "auto":
        name = "conll04" if find("conll04") else "bundled"
    if name == "bundled":
        what = "the bundled mini corpus (CC0)"
        return ErCorpus(name, what, _read(bundled("er", "sentences.corp")), {})
    if name == "conll04":
        file = require("conll04")[0]
        related = [one for one in _read(file) if one.relations]
        published = _published(file.with_name("splits.json"), related)
        return ErCorpus(name, "Roth and Yih 2004, the sentences with relations", tuple(related), published)
    if Path(name).is_file():
        return ErCorpus(name, "a file of the user", _read(name), {})
    raise InvalidInput(
        "expected the corpus `bundled`, `conll04` or a file in the format of Roth and Yih's corpus, found"
        f" {name!r}; name one of these."
    )


def labelled(sentence: RelationSentence) -> Labelled:
    """The labelled passage of a sentence; its rows with an entity label are the candidates."""
    words: list[str] = []
    tags: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    entities = []
    for row, (phrase, pos, entity) in enumerate(
        zip(sentence.phrases, sentence.pos, sentence.entities, strict=True)
    ):
        first = len(words)
        words += [_WRITTEN.get(word, word) for word in phrase]
        tags += _tags(pos, len(phrase))
        if entity != NO_CANDIDATE:
            spans[row] = (first, len(words))
            entities.append(_known(entity, ENTITY_NAMES, "entity", sentence.id))
    place = {row: i for i, row in enumerate(spans)}
    relations = {}
    for relation in sentence.relations:
        if relation.arg1 not in place or relation.arg2 not in place or relation.arg1 == relation.arg2:
            raise MalformedCorpus(
                f"expected relations between two candidates, found {relation.type} between rows"
                f" {relation.arg1} and {relation.arg2} of sentence {sentence.id}; give both an entity label."
            )
        pair = place[relation.arg1], place[relation.arg2]
        relations[pair] = _known(relation.type, RELATION_NAMES, "relation", sentence.id)
    passage = Passage(tuple(words), tuple(tags), tuple(spans.values()))
    return Labelled(sentence.id, passage, tuple(entities), relations)


def _read(path: str | Path) -> tuple[Labelled, ...]:
    return tuple(labelled(sentence) for sentence in read_roth_yih(path))


def _tags(pos: str, size: int) -> Sequence[str]:
    """The tags of a row's words: if there are too few tags, the last one is repeated; surplus tags are
    dropped."""
    found = [tag or ":" for tag in pos.split("/")]
    return (found + found[-1:] * size)[:size]


def _known(label: str, names: dict[str, str], what: str, sentence: str) -> str:
    if label not in names:
        raise MalformedCorpus(
            f"expected one of {', '.join(names)} as {what} label, found {label!r} in sentence {sentence};"
            " correct the label."
        )
    return names[label]


def _published(
    path: Path, passages: Sequence[Labelled]
) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """The splits of a file, if it exists; a dev part becomes the end of training."""
    if not path.is_file():
        return {}
    place = {one.id: i for i, one in enumerate(passages)}
    found = {}
    try:
        for name, parts in json.loads(path.read_text(encoding="utf-8")).items():
            if isinstance(parts, dict):
                train = (parts["train"] if "train" in parts else parts["training"]) + parts.get("dev", [])
                test = parts["test"] if "test" in parts else parts["testing"]
                found[name] = (_places(train, place), _places(test, place))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise MalformedCorpus(
            f"expected splits as {{name: {{train, dev, test: sentence ids}}}} in {str(path)!r}, found"
            f" {error!r:.60}; correct or remove the file."
        ) from None
    return found


def _places(ids: Iterable[int | str], place: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(place[str(i)] for i in ids)
