"""Penn POS tags for words, from the best tagger that the machine has.

That is the spaCy pipeline en_core_web_sm if it is installed, else a tagger that is trained on the best tagged
corpus and kept in the cache. Words are tagged as they are, never tokenised again. The tags are those of the
tagger's training data: Penn Treebank tags, to which `en_core_web_sm` adds those of OntoNotes (HYPH, NFP, ADD,
AFX, XX).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lcons_core import InvalidInput, LconsError
from lcons_core._files import replacing_folder
from lcons_tasks.bundled import bundled
from lcons_tasks.data import find, read_columns
from lcons_tasks.data._catalog import cache_folder
from lcons_tasks.data.text._plan import (
    TaggedSentence,
    TaggerNotFound,
    checked,
    fingerprint,
    plan_for,
)
from lcons_tasks.data.text._spacy_tagger import TAGGER, TaggerProgress, tags_of, train_tagger
from lcons_tasks.data.text._tokens import REPLACEMENT, encodable

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


PIPELINE = "en_core_web_sm"

# The other components of the pipeline, which tagging does not need.
_NOT_NEEDED = ("parser", "senter", "ner", "attribute_ruler", "lemmatizer")

# The largest number of sentences whose tags are cached.
MOST_KNOWN = 2**14
# The number of sentences that are tagged in one matrix product.
_BATCH = 64


@dataclass(frozen=True, eq=False)
class PosTagger:
    """A spaCy pipeline that tags words, and its `name`; the tags of a sentence are cached."""

    name: str
    pipeline: Language = field(repr=False)
    _known: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)

    def tags(self, words: Sequence[str]) -> tuple[str, ...]:
        """One tag per word."""
        return self.tags_many([words])[0]

    def tags_many(self, sentences: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
        """One tag per word, for each of the sentences; the same as `tags` of each, but faster."""
        asked = [_words(sentence) for sentence in sentences]
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        new = list(dict.fromkeys(words for words in asked if words not in self._known))
        docs = self.pipeline.pipe((self._doc(words) for words in new), batch_size=_BATCH)
        for words, doc in zip(new, docs, strict=True):
            self._known[words] = tuple(token.tag_ for token in doc)
        return [self._known[words] for words in asked]

    def _doc(self, words: tuple[str, ...]) -> Doc:
        from spacy.tokens import Doc

        # spaCy does not accept an empty word.
        return Doc(self.pipeline.vocab, words=[encodable(word) or REPLACEMENT for word in words])


def find_pos_tagger(
    train_on: Callable[[], tuple[str, Sequence[TaggedSentence]]] | None = None,
    *,
    cache_dir: str | PathLike[str] | None = None,
    progress: Callable[[TaggerProgress], None] | None = None,
) -> PosTagger:
    """The installed pipeline en_core_web_sm, else a tagger trained on the corpus that `train_on` returns.

    train_on: returns the name of a corpus and its (words, tags) sentences; the first `SENTENCE_LIMIT` are
        used. It is called only if the pipeline is not installed.
    cache_dir: the folder where a trained tagger is kept for the next time; None: it is not kept.
    progress: called with a `TaggerProgress` at each update of the training.
    """
    if importlib.util.find_spec(PIPELINE) is not None:
        return _installed()
    if train_on is None:
        raise TaggerNotFound(
            f"expected the spaCy pipeline {PIPELINE} or a corpus with POS tags to train a tagger on, found"
            f" neither; run `python -m spacy download {PIPELINE}` or add such a corpus."
        )
    corpus, sentences = train_on()
    used = checked(sentences)
    name = f"spaCy tagger trained on {len(used)} sentences of {corpus}"
    if cache_dir is None:
        return PosTagger(name, train_tagger(used, plan_for(len(used)), progress))
    return PosTagger(name, _kept(used, Path(cache_dir), progress))


def _installed() -> PosTagger:
    try:
        nlp = importlib.import_module(PIPELINE).load(exclude=_NOT_NEEDED)
    except Exception as error:  # a pipeline made for another spaCy may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise TaggerNotFound(
            f"the installed spaCy pipeline {PIPELINE} does not load: {reason}; run `python -m spacy download"
            f" {PIPELINE}` or uninstall it."
        ) from error
    return PosTagger(f"spaCy pipeline {PIPELINE} {nlp.meta.get('version', '')}".rstrip(), nlp)


def _kept(
    sentences: Sequence[TaggedSentence], cache: Path, progress: Callable[[TaggerProgress], None] | None
) -> Language:
    from spacy.about import __version__ as spacy_version

    plan = plan_for(len(sentences))
    target = cache / f"pos-{fingerprint(sentences, plan, spacy_version)}"
    nlp = _read(target, tags_of(sentences)) if target.is_dir() else None
    if nlp is None:
        nlp = train_tagger(sentences, plan, progress)
        try:
            with replacing_folder(target) as folder:
                nlp.to_disk(folder)
        except OSError as error:
            raise LconsError(f"cannot write the trained POS tagger to {str(cache)!r}: {error}.") from None
    return nlp


def _read(folder: Path, tags: tuple[str, ...]) -> Language | None:
    """The tagger in the folder; None if it is damaged, so that it is trained again."""
    import spacy

    try:
        nlp = spacy.load(folder)
        return nlp if tuple(nlp.get_pipe(TAGGER).labels) == tags else None  # type: ignore[attr-defined]
    except Exception:  # a damaged file may raise anything, from msgpack to KeyError
        return None


def _words(sentence: Sequence[str]) -> tuple[str, ...]:
    if isinstance(sentence, str):
        raise InvalidInput(
            f"expected a sequence of words, found the text {sentence!r:.60}; tokenise it first."
        )
    return tuple(sentence)


def best_pos_tagger(progress: Callable[[TaggerProgress], None] | None = None) -> PosTagger:
    """The tagger of `find_pos_tagger`; if one is trained, on `tagged_corpus` and kept in the user's cache."""
    return find_pos_tagger(tagged_corpus, cache_dir=cache_folder().parent / "pos", progress=progress)


@lru_cache(1)
def loaded_pos_tagger() -> PosTagger:
    """The best tagger, which each process loads once."""
    return best_pos_tagger()


def tagger_identity() -> str:
    """The identity of the best tagger: the installed pipeline and its version, else a hash of the training
    corpus, the plan and spaCy's version."""
    if importlib.util.find_spec(PIPELINE) is not None:
        return f"{PIPELINE} {metadata.version(PIPELINE)}"
    _, sentences = tagged_corpus()
    used = checked(sentences)
    return fingerprint(used, plan_for(len(used)), metadata.version("spacy"))


def tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """The name and sentences of CoNLL-2000's training set if it is found, else of the bundled corpus."""
    found = find("conll2000")
    if found:
        name, paths = "CoNLL-2000", [found[0]]
    else:
        parts = ("train", "dev", "test")
        name, paths = "the bundled mini corpus", [bundled("chunking", f"{part}.txt") for part in parts]
    return name, [(s.words, s.columns["pos"]) for path in paths for s in read_columns(path)]
