"""The best POS tagger at hand: an installed pipeline, else one trained on the best tagged corpus and kept."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib import metadata

from lcons_tasks.bundled import bundled
from lcons_tasks.corpus import cache_folder, find, read_columns
from lcons_tasks.text.keeping import fingerprint
from lcons_tasks.text.plan import SENTENCE_LIMIT, plan_for
from lcons_tasks.text.pos import PIPELINE, PosTagger, find_pos_tagger
from lcons_tasks.text.tagged import TaggedSentence, checked
from lcons_tasks.text.training import TaggerProgress


def best_pos_tagger(progress: Callable[[TaggerProgress], None] | None = None) -> PosTagger:
    """As `find_pos_tagger`, with a tagger trained on `tagged_corpus` and kept in the user's cache."""
    return find_pos_tagger(tagged_corpus, cache_dir=cache_folder().parent / "pos", progress=progress)


def tagger_identity() -> str:
    """What decides the tags: the installed pipeline and its version, else spaCy's and the training corpus."""
    if importlib.util.find_spec(PIPELINE) is not None:
        return f"{PIPELINE} {metadata.version(PIPELINE)}"
    _, sentences = tagged_corpus()
    used = checked(sentences, SENTENCE_LIMIT)
    return fingerprint(used, plan_for(len(used)), metadata.version("spacy"))


def tagged_corpus() -> tuple[str, list[TaggedSentence]]:
    """CoNLL-2000's training set where it is found, else the bundled sentences."""
    found = find("conll2000")
    if found:
        name, paths = "CoNLL-2000", [found[0]]
    else:
        parts = ("train", "dev", "test")
        name, paths = "the bundled mini corpus", [bundled("chunking", f"{part}.txt") for part in parts]
    return name, [(s.words, s.columns["pos"]) for path in paths for s in read_columns(path)]
