"""Penn POS tags for words, from the best tagger that the machine has.

That is the spaCy pipeline en_core_web_sm if it is installed, else a spaCy tagger that is trained on the best
tagged corpus and kept in the user's cache: spaCy's own architecture, two layers deep; Adam with weight
averages. The same sentences give the same tagger, bit for bit, on one machine. The name of its folder is a
hash of all that decides what the tagger is.

Words are tagged as they are, never tokenised again. The tags are those of the tagger's training data: Penn
Treebank tags, to which `en_core_web_sm` adds those of OntoNotes (HYPH, NFP, ADD, AFX, XX).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lcons_core import InvalidInput, LconsError
from lcons_core._files import replacing_folder
from lcons_tasks.bundled import bundled
from lcons_tasks.data import find, read_columns
from lcons_tasks.data._catalog import cache_folder
from lcons_tasks.data.text._tokens import REPLACEMENT, encodable

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PIPELINE = "en_core_web_sm"
# The other components of the pipeline, which tagging does not need.
_NOT_NEEDED = ("parser", "senter", "ner", "attribute_ruler", "lemmatizer")
# The number of sentences that are tagged in one matrix product.
_BATCH = 64

# (sentences, epochs, sentences per update, dropout) for corpora of up to so many sentences. They were chosen
# on CoNLL-2000's training set, the last 936 sentences of it to measure: 250 sentences give 89.9% in 8 s of
# one core, 1,000 give 95%, 4,000 97.4% and 8,000 98.1% in 80 s. Of a larger corpus, the first are used.
PLANS = ((100, 30, 4, 0.4), (1_000, 10, 4, 0.4), (4_000, 8, 16, 0.2), (10_000, 4, 32, 0.1))
# Increase this number when the same sentences would give another tagger.
RECIPE = 2

TaggedSentence: TypeAlias = tuple[Sequence[str], Sequence[str]]
Corpus: TypeAlias = Callable[[], tuple[str, list[TaggedSentence]]]
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PosTagger:
    """A spaCy pipeline that tags words, and its `name`."""

    name: str
    pipeline: Language = field(repr=False)

    def tags(self, words: Sequence[str]) -> tuple[str, ...]:
        """One tag per word."""
        return self.tags_many([words])[0]

    def tags_many(self, sentences: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        """One tag per word, for each of the sentences; the same as `tags` of each, but faster."""
        with self.pipeline.memory_zone():  # spaCy forgets new words after it, so that memory does not grow
            docs = self.pipeline.pipe(map(self._doc, sentences), batch_size=_BATCH)
            return [tuple(token.tag_ for token in doc) for doc in docs]

    def _doc(self, words: Sequence[str]) -> Doc:
        from spacy.tokens import Doc

        if isinstance(words, str):
            raise InvalidInput(f"POS tags need a sequence of words: got the text {words!r:.60}.")
        # spaCy does not accept an empty word.
        return Doc(self.pipeline.vocab, words=[encodable(word) or REPLACEMENT for word in words])


def tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """The name and sentences of CoNLL-2000's training set if it is on disk, else of the bundled corpus."""
    if places := find("conll2000"):
        name, paths = "CoNLL-2000", [places[0]]
    else:
        parts = ("train", "dev", "test")
        name, paths = "the bundled mini corpus", [bundled("chunking", f"{part}.txt") for part in parts]
    return name, [(s.words, s.columns["pos"]) for path in paths for s in read_columns(path)]


def find_pos_tagger(
    corpus: Corpus | None = None, folder: Path | None = None, progress: Progress | None = None
) -> PosTagger:
    """The installed pipeline en_core_web_sm, else a tagger trained on the corpus.

    corpus: returns its name and its (words, tags) sentences; by default `tagged_corpus`.
    folder: the folder where a trained tagger is kept for the next time, by default in the user's cache.
    progress: called with the number of sentences so far and of all epochs.
    """
    import spacy

    if importlib.util.find_spec(PIPELINE) is not None:
        try:
            nlp = importlib.import_module(PIPELINE).load(exclude=_NOT_NEEDED)
        except Exception as error:  # a pipeline made for another spaCy may raise anything
            raise LconsError(
                f"the installed spaCy pipeline {PIPELINE} does not load ({type(error).__name__}: {error});"
                f" run `python -m spacy download {PIPELINE}` or uninstall it."
            ) from error
        return PosTagger(f"spaCy pipeline {PIPELINE} {nlp.meta.get('version', '')}".rstrip(), nlp)
    name, sentences = (corpus or tagged_corpus)()
    sentences = sentences[: PLANS[-1][0]]
    target = (folder or cache_folder().parent / "pos") / f"pos-{_fingerprint(sentences)}"
    try:
        nlp = spacy.load(target)
    except Exception:  # missing or damaged: a damaged file may raise anything, from msgpack to KeyError
        nlp = _trained(sentences, progress or (lambda done, total: None))
        try:
            with replacing_folder(target) as place:
                nlp.to_disk(place)
        except OSError as error:
            raise LconsError(f"cannot write the trained POS tagger to {str(target)!r}: {error}.") from None
    return PosTagger(f"spaCy tagger trained on {len(sentences)} sentences of {name}", nlp)


@lru_cache(1)
def loaded_pos_tagger() -> PosTagger:
    """The best tagger, which each process loads once."""
    return find_pos_tagger()


def tagger_identity() -> str:
    """The identity of the best tagger: the installed pipeline and its version, else the hash of the training
    corpus, the settings and spaCy's version."""
    if importlib.util.find_spec(PIPELINE) is not None:
        return f"{PIPELINE} {metadata.version(PIPELINE)}"
    return _fingerprint(tagged_corpus()[1][: PLANS[-1][0]])


def _plan(size: int) -> tuple[int, int, int, float]:
    return next((plan for plan in PLANS if size <= plan[0]), PLANS[-1])


def _fingerprint(sentences: Sequence[TaggedSentence]) -> str:
    decides = [RECIPE, _plan(len(sentences)), metadata.version("spacy"), sentences]
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()


def _trained(sentences: Sequence[TaggedSentence], progress: Progress) -> Language:
    """A pipeline with a tagger that is trained on the sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from thinc.api import Adam

    _, epochs, size, dropout = _plan(len(sentences))
    with _seeded():
        nlp = spacy.blank("en")
        tagger: Any = nlp.add_pipe("tagger", config={"model": {"tok2vec": {"depth": 2}}})
        for tag in sorted({encodable(tag) for _, tags in sentences for tag in tags}):
            tagger.add_label(tag)
        examples = []
        for words, tags in sentences:
            shown = [encodable(word) for word in words]
            gold = Doc(nlp.vocab, words=shown, tags=[encodable(tag) for tag in tags])
            examples.append(Example(Doc(nlp.vocab, words=shown), gold))
        nlp.initialize(lambda: examples)
        optimizer = Adam(0.001, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)
        shuffled = random.Random(0)
        for epoch in range(epochs):
            shuffled.shuffle(examples)
            for first in range(0, len(examples), size):
                batch = examples[first : first + size]
                nlp.update(batch, sgd=optimizer, drop=dropout)
                progress(epoch * len(examples) + first + len(batch), epochs * len(examples))
        with nlp.use_params(optimizer.averages):
            averaged = nlp.to_bytes()
        return nlp.from_bytes(averaged)


@contextmanager
def _seeded() -> Iterator[None]:
    """Seeds the global generators of `random` and numpy, the only ones from which spaCy draws, within the
    block, and restores their state after it."""
    python, arrays = random.getstate(), np.random.get_state()
    random.seed(0)
    np.random.seed(0)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)
