"""References as labelled tokens with POS tags: bundled, Cora, AnyStyle, or a file of the user; and splits.

The label of a token is the field of its segment. Text outside any field, such as a final full stop in Cora,
belongs to the field before it. Corpora have no fixed split: a seed draws 60% for training, 20% for dev and
20% for test (Cora: 300, 100 and 100).

Paper: Sec. 5. Its split of Cora is not available. Differs from the paper: seeded splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.bundled import bundled
from lcons_tasks.data import MalformedCorpus, Sentence, read_anystyle, read_references, require
from lcons_tasks.data._references import CORA_FIELDS, Reference
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.data.text._pos import find_pos_tagger, tagger_identity
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._run import corpus_named

SHARES = (0.6, 0.2)
SMALLEST = 10
BUNDLED = "bundled"


@dataclass(frozen=True, eq=False)
class CitationCorpus:
    """References with fields as labels and columns `pos` and `clue`; `tagger` is the source of the POS
    tags."""

    name: str
    what: str
    references: tuple[Sentence, ...]
    tagger: str

    @cached_property
    def sha256(self) -> str:
        """A hash of words, tags and fields."""
        return hash_sentences(self.references)

    def split(self, seed: int) -> tuple[list[int], list[int], list[int]]:
        """The indices of the training, dev and test references of a seed."""
        n = len(self.references)
        order = np.random.default_rng(seed).permutation(n).tolist()
        first, second = (round(sum(SHARES[: k + 1]) * n) for k in range(2))
        return order[:first], order[first:second], order[second:]


def load_corpus(name: str, kept: Stages) -> CitationCorpus:
    """The corpus of that name: `bundled`, `cora`, `anystyle`, `auto` (Cora if it is found, otherwise the
    bundled one), or a file of tagged references or AnyStyle's XML. spaCy adds missing POS tags once, and they
    are kept."""
    name = corpus_named(name, "cora")
    what, labelled = read_labelled(name)
    if name == BUNDLED:
        lines = bundled("citation", "references.pos").read_text(encoding="utf-8").splitlines()
        tags, tagger = [tuple(line.split()) for line in lines], "the corpus itself"
    else:
        tags, tagger = _tags([words for words, _ in labelled], kept)
    sentences = (
        Sentence(words, labels, {"pos": tuple(pos), CLUE: tuple(map(clue_or_shape, words))})
        for (words, labels), pos in zip(labelled, tags, strict=True)
    )
    return CitationCorpus(name, what, tuple(sentences), tagger)


@lru_cache(maxsize=2)
def read_labelled(name: str) -> tuple[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """A description of a corpus, and the tokens and fields of its references, without POS tags."""
    if name == BUNDLED:
        what = "the bundled mini corpus (twelve styles, CC0)"
        references = list(read_references(bundled("citation", "references.txt"), CORA_FIELDS))
    elif name == "cora":
        what = "Cora references (computer science)"
        references = list(read_references(require("cora")[0], CORA_FIELDS))
    elif name == "anystyle":
        what, references = "AnyStyle's core set", list(read_anystyle(require("anystyle")[0]))
    elif Path(name).is_file():
        reader = read_anystyle if name.endswith(".xml") else read_references
        what, references = "a file of the user", list(reader(name))
    else:
        raise InvalidInput(
            "expected the corpus `bundled`, `cora`, `anystyle` or a file of tagged references or AnyStyle's"
            f" XML, found {name!r}; name one of these."
        )
    labelled = [label_tokens(reference, name) for reference in references]
    fields = {label for _, labels in labelled for label in labels}
    if len(labelled) < SMALLEST or len(fields) < 2:
        raise InvalidInput(
            f"corpus {name!r} needs at least {SMALLEST} references and two fields: got {len(labelled)} and"
            f" {len(fields)}; add some."
        )
    return what, labelled


def label_tokens(reference: Reference, source: str = "the corpus") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of a reference, and the field of each.

    >>> from lcons_tasks.data._references import Segment
    >>> label_tokens(Reference((Segment("journal", "Mind,"), Segment("volume", "59"), Segment(None, "."))))
    (('Mind', ',', '59', '.'), ('journal', 'journal', 'volume', 'volume'))
    """
    words: list[str] = []
    labels: list[str] = []
    field = next((segment.field for segment in reference.segments if segment.field), None)
    if field is None:
        raise MalformedCorpus(
            f"expected a field in each reference of {source!r}, found none in {reference.text!r:.60}; tag"
            " one."
        )
    for segment in reference.segments:
        field = segment.field or field
        tokens = [token.text for token in reference_tokens(segment.text)]
        words += tokens
        labels += [field] * len(tokens)
    return tuple(words), tuple(labels)


def _tags(texts: Sequence[tuple[str, ...]], kept: Stages) -> tuple[list[tuple[str, ...]], str]:
    """The POS tags of texts and the name of their tagger, kept by content."""
    words = hash_sentences(Sentence(text, text) for text in texts)

    def make() -> tuple[list[tuple[str, ...]], str]:
        tagger = find_pos_tagger()
        return [tuple(tags) for tags in tagger.tags_many(texts)], tagger.name

    return kept.keep("pos", {"words": words, "tagger": tagger_identity()}, make)
