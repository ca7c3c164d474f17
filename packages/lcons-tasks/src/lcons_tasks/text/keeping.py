"""Trained taggers in a cache: each appears whole or not at all, under a name that says what is in it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

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
def replacing_folder(target: Path) -> Iterator[Path]:
    """A folder beside `target` that takes its place when the block ends well, and vanishes when it does not.

    It is made first, so that a cache that cannot be written to is known before the work and not after. Two
    processes may do the same work at the same time: the last to end stays.
    """
    with explained(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".lcons-", dir=target.parent))
    try:
        made = beside / "made"
        made.mkdir()
        yield made
        with explained(target.parent):
            if target.exists():
                target.rename(beside / "replaced")
            made.rename(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Errors of the file system within the block say what the folder is for."""
    try:
        yield
    except OSError as error:
        raise UnusableCache(
            f"expected to keep the trained POS tagger in {folder}, found that it cannot be written"
            f" ({error.strerror or error}); name another cache folder or make room in this one."
        ) from error
