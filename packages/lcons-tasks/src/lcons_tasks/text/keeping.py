"""Trained taggers in a cache: each appears whole or not at all, under a name that says what is in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from lcons_core.errors import LconsError
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.text.errors import UnusableCache
from lcons_tasks.text.plan import Plan
from lcons_tasks.text.tagged import TaggedSentence

# To be raised when the same sentences and plan come to give another tagger.
RECIPE = 1


def fingerprint(sentences: Sequence[TaggedSentence], plan: Plan, spacy_version: str) -> str:
    """The sha256 of all that decides what the trained tagger is."""
    digest = hashlib.sha256(json.dumps([RECIPE, asdict(plan), spacy_version], sort_keys=True).encode())
    for words, tags in sentences:
        digest.update(json.dumps([list(words), list(tags)]).encode() + b"\n")
    return digest.hexdigest()


@contextlib.contextmanager
def kept_folder(target: Path) -> Iterator[Path]:
    """A folder that takes the place of `target` when the block ends well."""
    with explained(target.parent), replacing_folder(target) as made:
        yield made


@contextlib.contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Errors of the file system within the block say what the folder is for."""
    try:
        yield
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        raise UnusableCache(
            f"expected to keep the trained POS tagger in {folder}, found that it cannot be written"
            f" ({error.strerror or error}); name another cache folder or make room in this one."
        ) from error
