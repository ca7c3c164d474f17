"""Tables of psi vectors: CSV with a header and a column `valid`, npz with `X`, `y` and `names`.

The labels in `valid` and y are 0 and 1 or -1 and 1, where 1 means valid. If they are two others, the argument
`valid` states the label of valid vectors.

The names and numbers of the columns decide on the blocks (`lcons_core.space_of_columns`). The order of
columns in the file is the order of psi:

    source=Person,source=Location,relation=NoRel,relation=Kill,valid
    1,0,0,1,1
    0,1,0,1,0
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile
from lcons_core.storage._archive import opened_archive
from lcons_tasks.data._lines import MalformedCorpus, malformed, quoted, unreadable
from lcons_tasks.own_data._data import PsiTable

VALID = "valid"
DELIMITERS = ",;\t"


def csv_rows(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """(line, cells) of each row that is not empty; the cells are separated by comma, semicolon or tab."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise malformed(path, 1, f"expected UTF-8 text: got other bytes at {error.start}.") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text.split("\n", 1)[0]))
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise malformed(path, reader.line_num, f"expected CSV: {error}.") from None
    if len(rows) < 2:
        raise malformed(path, 1, f"expected a header and rows: got {len(rows)} lines.")
    width = len(rows[0][1])
    for line, cells in rows:
        if len(cells) != width:
            raise malformed(path, line, f"expected {width} cells as in the header: got {len(cells)}.")
    return [(line, [cell.strip() for cell in cells]) for line, cells in rows]


def read_csv(path: str | os.PathLike[str], valid: str | None = None) -> PsiTable:
    """The vectors of a CSV file (comma, semicolon or tab); `valid`: the label of valid vectors."""
    (first, header), *rows = csv_rows(path)
    if VALID not in header:
        raise malformed(path, first, f"expected a column named {VALID!r}: got {', '.join(header):.200}.")
    place = header.index(VALID)
    names = header[:place] + header[place + 1 :]
    X = np.array([_numbers(path, line, cells[:place] + cells[place + 1 :], names) for line, cells in rows])
    return _table(path, names, X, [cells[place] for _, cells in rows], valid)


def read_npz(path: str | os.PathLike[str], valid: str | None = None) -> PsiTable:
    """The vectors of an npz file: X (N, d), y (N,), names (d,); `valid`: the label of valid vectors in y."""
    try:
        with opened_archive(path) as archive:
            X, y, names = (archive.array(name) for name in ("X", "y", "names"))
    except (DamagedFile, KeyError) as error:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected an npz file with arrays X, y and names: {error!s:.200}"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    kinds = X.dtype.kind in "biuf" and y.dtype.kind in "biufU" and names.dtype.kind == "U"
    if not kinds or X.ndim != 2 or y.shape != X.shape[:1] or names.shape != X.shape[1:]:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected X (rows, columns) of numbers, y (rows) and names (columns) of text:"
            f" got {X.dtype} {X.shape}, {y.dtype} {y.shape} and {names.dtype} {names.shape}."
        )
    labels = [str(label) for label in (y if y.dtype.kind == "U" else y.astype(np.float64)).tolist()]
    return _table(path, names.tolist(), X.astype(np.float64), labels, valid)


def delimiter_of(header: str) -> str:
    """The character that separates the cells of a header."""
    return max(DELIMITERS, key=header.count)


def _table(
    path: str | os.PathLike[str],
    names: Sequence[str],
    X: NDArray[np.float64],
    labels: Sequence[str],
    valid: str | None,
) -> PsiTable:
    if len(set(names)) != len(names) or not all(names):
        twice = next((name for name in names if names.count(name) > 1 or not name), "")
        raise malformed(path, 1, f"expected a different name for each column: got {twice!r} twice or empty.")
    return PsiTable(tuple(names), X, _verdict(os.fspath(path), labels, valid))


def _verdict(file: str, labels: Sequence[str], valid: str | None) -> NDArray[np.bool_]:
    """Which of the labels mean valid. Numbers are equal if their values are: 1 and 1.0."""
    codes = np.array([_same(label) for label in labels])
    distinct = sorted(set(codes.tolist()))
    if valid is None and (set(distinct) <= {"0", "1"} or distinct == ["-1", "1"]):
        return codes == "1"
    if valid is None or _same(valid) not in distinct or len(distinct) > 2 or "" in distinct:
        stated = f"{valid!r} (the argument `valid`) and another label" if valid else "0 and 1"
        raise MalformedCorpus(
            f"{file}: expected {stated} of valid and invalid rows: got {', '.join(map(repr, distinct[:5]))};"
            " state the valid one of two labels, as in `valid='feasible'`."
        )
    return codes == _same(valid)


def _same(label: str) -> str:
    """One text for all ways to write a number; other labels as they are."""
    try:
        number = float(label)
    except ValueError:
        return label
    return str(int(number)) if number.is_integer() else str(number)


def _numbers(
    path: str | os.PathLike[str], line: int, cells: Sequence[str], header: Sequence[str]
) -> list[float]:
    numbers = []
    for name, cell in zip(header, cells, strict=True):
        try:
            number = float(cell)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            raise malformed(path, line, f"expected a number in column {name!r}: got {quoted(cell)}.")
        numbers.append(number)
    return numbers
