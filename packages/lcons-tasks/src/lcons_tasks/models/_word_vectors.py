"""Pretrained word vectors, if the machine has any: nothing is downloaded.

The first of these is used: the file that LCONS_VECTORS names (npz with `words` and `vectors`, or GloVe's
text), `vectors/*.npz` in the data folders, the catalog's GloVe file there.
`LCONS_VECTORS=none` means none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput
from lcons_core.storage._archive import opened_archive
from lcons_tasks.data import find
from lcons_tasks.data._catalog import data_folders
from lcons_tasks.data._lines import read_vectors

VARIABLE = "LCONS_VECTORS"


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words: `name`, lower-case `words` (N,) and `vectors` (N, dimension)."""

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", np.asarray(self.vectors, dtype=np.float32))
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            shape = self.vectors.shape
            raise InvalidInput(f"{self.name!r} needs one vector per word: got {len(self.words)} for {shape}.")
        if not self.vectors.size or not np.isfinite(self.vectors).all():
            raise InvalidInput(f"{self.name!r} needs vectors of finite numbers: got others or none.")

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.vectors.shape[1]

    @cached_property
    def sha256(self) -> str:
        """A hash of words and vectors."""
        digest = hashlib.sha256("\n".join(self.words).encode())
        digest.update(np.ascontiguousarray(self.vectors, dtype="<f4").tobytes())
        return digest.hexdigest()

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """(N + 1, dimension): row 0, for unknown words, is zero."""
        return np.concatenate([np.zeros((1, self.dimension), np.float32), self.vectors])

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """(T,) rows of `table`."""
        return np.array([self.index.get(word.lower(), 0) for word in words], dtype=np.int64)

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word in `table`."""
        return {word: i for i, word in enumerate(self.words, start=1)}


def find_vectors() -> WordVectors | None:
    """The first word vectors that are found, or None."""
    path = os.environ.get(VARIABLE)
    if path == "none":
        return None
    in_folders = (sorted(folder.glob("vectors/*.npz")) for folder in data_folders())
    files = [Path(path)] if path else [*chain.from_iterable(in_folders), *(find("glove") or ())]
    return load_vectors(files[0]) if files else None


def load_vectors(path: Path) -> WordVectors:
    """The word vectors of an npz file or of a text file."""
    if path.suffix != ".npz":
        pairs = list(read_vectors(path))
        return WordVectors(path.name, tuple(word for word, _ in pairs), np.array([v for _, v in pairs]))
    try:
        with opened_archive(path) as archive:
            words = tuple(map(str, archive.array("words")))
            vectors = archive.array("vectors").astype(np.float32)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        problem = f"{str(path)!r} is no npz file of `words` and `vectors` ({reason})"
        raise InvalidInput(f"{problem}; set {VARIABLE} to another file or to `none`.") from None
    return WordVectors(path.name, words, vectors)
