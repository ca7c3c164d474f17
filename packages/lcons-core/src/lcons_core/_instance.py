"""One training structure: an input x of named columns and an output y of labels.

For a sequence, y has one label per token, and each column of x has one value per token. For pairs and other
tuples, y is a sequence of tuples and x is empty. Plain label sequences and (x, y) tuples are also accepted as
instances, so (words, tags) pairs can be passed directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcons_core._errors import InvalidInput

WORD = "word"


@dataclass(frozen=True)
class Instance:
    """x: columns by name, each as long as y; y: the labels."""

    x: Mapping[str, Sequence[str]]
    y: Sequence[Any]

    def __post_init__(self) -> None:
        for name, column in self.x.items():
            if len(column) != len(self.y):
                raise InvalidInput(
                    f"column {name!r} has {len(column)} values but there are {len(self.y)} labels;"
                    " pass one value per label."
                )


def read_instance(value: Any, column: str | None = None) -> Instance:
    """`value` as an `Instance`.

    If `column` is given, a tuple is read as (x, y). An x that is a plain sequence is read as words; this
    raises `InvalidInput` if another column is needed.
    """
    if isinstance(value, Instance):
        return value
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(
            "expected a structure (a sequence of labels, an (x, y) pair or an Instance), found"
            f" {type(value).__name__}; split text into tokens and labels first."
        )
    pair = isinstance(value, tuple) and len(value) == 2 and not isinstance(value[0], str)
    if column is None or not pair:
        return Instance({}, value)
    x, y = value
    if isinstance(x, Mapping):
        return Instance(x, y)
    if column != WORD:
        raise InvalidInput(
            f"expected a structure with a column {column!r}, found a plain sequence, which is read as words;"
            f" pass ({{{WORD!r}: [...], {column!r}: [...]}}, labels)."
        )
    return Instance({WORD: x}, y)


def read_instances(values: Iterable[Any], column: str | None = None) -> list[Instance]:
    """All `values` as instances; at least one."""
    instances = [read_instance(value, column) for value in values]
    if not instances:
        raise InvalidInput("expected at least one structure to learn from, found none.")
    return instances
