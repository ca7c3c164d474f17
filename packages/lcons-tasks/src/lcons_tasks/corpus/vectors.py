"""Word vectors in GloVe's text format: a word and its numbers a line, single spaces between."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lcons_tasks.corpus.lines import malformed, numbered_lines, quoted


def read_vectors(
    path: str | os.PathLike[str], dimension: int | None = None
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """(word, vector) of each line; the first line sets a `dimension` that is not stated."""
    for number, text in numbered_lines(path):
        word, *numbers = text.split(" ")
        dimension = dimension or len(numbers)
        try:
            vector = np.array([float(n) for n in numbers], dtype=np.float32)
        except ValueError:
            vector = np.full(1, np.nan, dtype=np.float32)
        if not word or len(numbers) != dimension or not dimension or not np.isfinite(vector).all():
            raise malformed(
                path,
                number,
                f"expected a word and {dimension or 'some'} numbers, found {len(numbers)} cells after the"
                f" word in {quoted(text)}; correct the line.",
            )
        yield word, vector
