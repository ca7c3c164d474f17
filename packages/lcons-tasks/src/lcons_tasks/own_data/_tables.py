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
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lcons_core import DamagedFile, InvalidInput
from lcons_core._types import Bools
from lcons_core.storage._archive import opened_archive
from lcons_tasks.data._lines import MalformedCorpus, malformed, quoted, unreadable
from lcons_tasks.own_data._data import PsiTable

VALID = "valid"
DELIMITERS = ",;\t"


def cells_of(header: str) -> list[str]:
    """The cells of a header, which are separated by comma, semicolon or tab."""
    return [cell.strip() for cell in header.split(max(DELIMITERS, key=header.count))]


def csv_rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of the header and of each row; a row without text has no cells."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise malformed(path, 1, f"expected UTF-8 text: got other bytes at {error.start}.") from None
    header = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=header.count))
    width = len(cells_of(header))
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and len(cells) != width:
                raise malformed(
                    path, reader.line_num, f"expected {width} cells as in the header: got {len(cells)}."
                )
            yield reader.line_num, cells if any(cells) else []
    except csv.Error as error:
        raise malformed(path, reader.line_num, f"expected CSV: {error}.") from None


def read_csv(path: str | os.PathLike[str], valid: str | None = None) -> PsiTable:
    """The vectors of a CSV file (comma, semicolon or tab); `valid`: the label of valid vectors."""
    rows = [(line, cells) for line, cells in csv_rows(path) if cells]
    if len(rows) < 2 or VALID not in rows[0][1]:
        raise malformed(path, 1, f"expected a header with {VALID!r} or with words and labels, and rows.")
    names = rows[0][1]
    place = names.index(VALID)
    X = np.array([_numbers(path, line, cells[:place] + cells[place + 1 :]) for line, cells in rows[1:]])
    return _table(path, names[:place] + names[place + 1 :], X, [cells[place] for _, cells in rows[1:]], valid)


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
    if X.dtype.kind not in "biuf" or y.dtype.kind not in "biufU" or names.dtype.kind != "U" or y.ndim != 1:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected X (rows, columns) of numbers, y (rows) and names (columns) of text:"
            f" got {X.dtype} {X.shape}, {y.dtype} {y.shape} and {names.dtype} {names.shape}."
        )
    labels = [str(label) for label in (y if y.dtype.kind == "U" else y.astype(np.float64)).tolist()]
    return _table(path, np.atleast_1d(names).tolist(), X.astype(np.float64), labels, valid)


def _table(
    path: str | os.PathLike[str],
    names: Sequence[str],
    X: np.ndarray,
    labels: Sequence[str],
    valid: str | None,
) -> PsiTable:
    try:
        if len(set(names)) != len(names) or not all(names):
            raise InvalidInput("each column needs a name of its own.")
        return PsiTable(tuple(names), X, _verdict(labels, valid))
    except InvalidInput as error:
        raise malformed(path, 1, str(error)) from None


def _verdict(labels: Sequence[str], valid: str | None) -> Bools:
    """Which of the labels mean valid. Numbers are equal if their values are: 1 and 1.0."""
    codes = np.array([_same(label) for label in labels])
    distinct = sorted(set(codes.tolist()))
    if valid is None and (set(distinct) <= {"0", "1"} or distinct == ["-1", "1"]):
        return np.asarray(codes == "1")
    if valid is None or _same(valid) not in distinct or len(distinct) > 2 or "" in distinct:
        stated = "0 and 1; state the valid one of two others (`valid`)" if valid is None else repr(valid)
        raise InvalidInput(f"expected two labels, {stated}: got {', '.join(map(repr, distinct[:5]))}.")
    return np.asarray(codes == _same(valid))


def _same(label: str) -> str:
    """One text for all ways to write a number; other labels as they are."""
    try:
        return f"{float(label):.17g}"
    except ValueError:
        return label


def _numbers(path: str | os.PathLike[str], line: int, cells: Sequence[str]) -> list[float]:
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError as error:
        raise malformed(path, line, f"expected numbers: {error}.") from None
    if not np.isfinite(numbers).all():
        raise malformed(path, line, f"expected finite numbers: got {quoted(', '.join(cells))}.")
    return numbers
