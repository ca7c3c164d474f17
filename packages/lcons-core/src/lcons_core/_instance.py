"""One training structure: an input x of named columns and an output y of labels.

For a sequence, y has one label per token, and each column of x has one value per token. For pairs and other
tuples, y is a sequence of tuples and x is empty. Plain label sequences and (x, y) tuples are also accepted as
instances, so (words, tags) pairs can be passed directly.

A column of strings may be coded: each distinct string once, and one integer per token,

    column[t] = values[codes[t]]

so that a function of the strings (a context index, a word class) is computed once per value and looked up per
token. Dictionary arrays of Arrow and categoricals of pandas are such pairs already: their integers are used
as they are. Neither library is imported; their columns are known by their attributes.

Not in the paper: coded columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from struct import Struct
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import InvalidInput

WORD = "word"
NUMBER = Struct("=q")


@dataclass(frozen=True)
class Instance:
    """x: columns by name, each as long as y; y: the labels."""

    x: Mapping[str, Sequence[str]]
    y: Sequence[Any]

    def __post_init__(self) -> None:
        for name, column in self.x.items():
            if isinstance(column, str) or len(column) != len(self.y):
                raise InvalidInput(
                    f"column {name!r} needs {len(self.y)} values, one per label: got {column!r:.60}."
                )


def read_instance(value: Any, column: str | None = None) -> Instance:
    """`value` as an `Instance`.

    If `column` is given, a tuple is read as (x, y). An x that is a plain sequence is read as words; this
    raises `InvalidInput` if another column is needed.
    """
    if isinstance(value, Instance):
        return value
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"expected labels, an (x, y) pair or an Instance, got {type(value).__name__}.")
    pair = isinstance(value, tuple) and len(value) == 2 and not isinstance(value[0], str)
    if column is None or not pair:
        return Instance({}, value)
    x, y = value
    if isinstance(x, Mapping):
        return Instance(x, y)
    if column != WORD:
        raise InvalidInput(f"a plain sequence is read as words; pass ({{{column!r}: [...]}}, labels).")
    return Instance({WORD: x}, y)


def read_instances(values: Iterable[Any], column: str | None = None) -> list[Instance]:
    """All `values` as instances; at least one."""
    instances = [read_instance(value, column) for value in values]
    if not instances:
        raise InvalidInput("expected at least one structure to learn from, found none.")
    return instances


@dataclass(frozen=True, eq=False)
class CodedColumn(Sequence[str]):
    """values: the strings; codes (T,): the index into `values` of each token. It reads as a sequence of
    strings, and slices share the codes.

    >>> column = CodedColumn(("DT", "NN"), [0, 1, 1])
    >>> list(column), column[2], list(column[:2])
    (['DT', 'NN', 'NN'], 'NN', ['DT', 'NN'])
    """

    values: tuple[str, ...]
    codes: NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        values, codes = tuple(self.values), np.asarray(self.codes)
        if codes.size == 0 and codes.ndim == 1:
            codes = codes.astype(np.int64, copy=False)
        if not all(isinstance(value, str) for value in values):
            raise InvalidInput("the values of a column must be strings.")
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise InvalidInput(f"codes must be integers (T,), found {codes.dtype} of shape {codes.shape}.")
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(values)):
            raise InvalidInput(f"a column needs one of its {len(values)} values for every token.")
        codes = codes.view()
        codes.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "codes", codes)

    @classmethod
    def of(cls, column: Any) -> CodedColumn:
        """The column: strings in any sequence, a `CodedColumn`, an array of strings or dictionary array of
        Arrow, or a categorical or series of pandas. Missing values raise an error.

        >>> CodedColumn.of(["NN", "DT", "NN"])
        CodedColumn(values=('NN', 'DT'), codes=array([0, 1, 0]))
        """
        if isinstance(column, cls):
            return column
        if isinstance(column, str | bytes) or not hasattr(column, "__iter__"):
            raise InvalidInput(f"expected a list of strings, one per token, found {type(column).__name__}.")
        if hasattr(column, "dictionary_encode"):
            return _from_arrow(column)
        array = getattr(column, "array", column)  # of a series
        if hasattr(array, "categories"):
            return cls(tuple(array.categories), array.codes)
        if hasattr(array, "factorize"):
            codes, values = array.factorize()
            return cls(tuple(values), codes)
        return _from_strings(column)

    @classmethod
    def joined(cls, columns: Iterable[Sequence[str]]) -> CodedColumn:
        """The columns of many sequences as one, in order."""
        parts = list(columns)
        coded = [part for part in parts if isinstance(part, cls)]
        if coded and len(coded) == len(parts) and all(part.values is coded[0].values for part in coded):
            return cls(coded[0].values, np.concatenate([part.codes for part in coded]))
        return _from_strings(chain.from_iterable(parts))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> CodedColumn: ...
    def __getitem__(self, at: int | slice) -> str | CodedColumn:
        if not isinstance(at, slice):
            return self.values[self.codes[at]]
        part = object.__new__(CodedColumn)  # what was checked needs no second check
        object.__setattr__(part, "values", self.values)
        object.__setattr__(part, "codes", self.codes[at])
        return part

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.codes.tolist())


def _from_arrow(column: Any) -> CodedColumn:
    """An array or chunked array of Arrow, of strings or of a dictionary of them."""
    if hasattr(column, "combine_chunks"):
        column = column.unify_dictionaries().combine_chunks()
    encoded = column.dictionary_encode()
    if encoded.null_count:
        raise InvalidInput(f"a column needs one value per token, found {encoded.null_count} missing.")
    return CodedColumn(tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy(zero_copy_only=False))


def _from_strings(column: Iterable[Any]) -> CodedColumn:
    """Any other column, numbered by first occurrence in one pass."""
    # Numbers as bytes: joining those is faster than reading the value of one integer object per token.
    index: defaultdict[Any, bytes] = defaultdict(map(NUMBER.pack, count()).__next__)
    try:
        codes = np.frombuffer(b"".join(map(index.__getitem__, column)), dtype=np.int64)
    except TypeError:
        raise InvalidInput("a column has one string per token, found a list.") from None
    return CodedColumn(tuple(index), codes)
