"""Tables of psi vectors: CSV with a header and a 0/1 column `valid`, npz with `X`, `y` and `names`.

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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile, FeatureSpace, Floats, space_of_columns
from lcons_core.storage import opened_archive
from lcons_tasks.data._lines import MalformedCorpus, malformed, quoted, unreadable
from lcons_tasks.own_data._data import PsiTable

VALID = "valid"
DELIMITERS = ",;\t"


def read_csv(path: str | os.PathLike[str]) -> PsiTable:
    """The vectors of a CSV file (comma, semicolon or tab)."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise malformed(
            path, 1, f"expected UTF-8 text, found other bytes at {error.start}; save the file as UTF-8."
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text.split("\n", 1)[0]))
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise malformed(path, reader.line_num, f"expected CSV, found {error}; correct the line.") from None
    if len(rows) < 2:
        raise malformed(
            path, 1, f"expected a header and rows of numbers, found {len(rows)} lines; add at least one row."
        )
    header = [cell.strip() for cell in rows[0][1]]
    _check_names(path, header)
    if VALID not in header:
        raise malformed(
            path,
            rows[0][0],
            f"expected a column named {VALID!r} (1 for valid vectors, 0 for invalid), found"
            f" {', '.join(header[:12])}{' ...' if len(header) > 12 else ''}; add or rename it.",
        )
    numbers = np.array([_numbers(path, line, cells, header) for line, cells in rows[1:]])
    place = header.index(VALID)
    verdict = numbers[:, place]
    if not np.isin(verdict, (0, 1)).all():
        row = int(np.argmin(np.isin(verdict, (0, 1))))
        raise malformed(
            path, rows[1 + row][0], f"expected 0 or 1 in column {VALID!r}, found {verdict[row]:g}; change it."
        )
    names = [name for name in header if name != VALID]
    return PsiTable(tuple(names), np.delete(numbers, place, axis=1), verdict == 1)


def read_npz(path: str | os.PathLike[str]) -> PsiTable:
    """The vectors of an npz file: X (N, d), y (N,) of 0 and 1, names (d,)."""
    try:
        with opened_archive(path) as archive:
            missing = [name for name in ("X", "y", "names") if name not in archive.names]
            if missing:
                raise MalformedCorpus(
                    f"{os.fspath(path)}: expected arrays X (rows, columns), y (rows) and names (columns),"
                    f" found {', '.join(archive.names) or 'none'}; save them with numpy.savez."
                )
            X, y, names = (archive.array(name) for name in ("X", "y", "names"))
    except DamagedFile as error:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected an npz file of numbers and text, found something else"
            f" ({error!s:.200}); save X, y and names with numpy.savez, names as text."
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    for name, array, kinds in (("X", X, "biuf"), ("y", y, "biuf"), ("names", names, "U")):
        if array.dtype.kind not in kinds:
            raise MalformedCorpus(
                f"{os.fspath(path)}: expected {name} to hold {'text' if kinds == 'U' else 'numbers'}, found"
                f" {array.dtype}; convert it before saving."
            )
    if X.ndim != 2 or y.shape != X.shape[:1] or names.shape != X.shape[1:]:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected X (rows, columns), y (rows) and names (columns), found shapes"
            f" {X.shape}, {y.shape} and {names.shape}; save one y per row and one name per column."
        )
    if not np.isin(y, (0, 1)).all():
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected y of 0 and 1, found other values; write 1 for valid, 0 for invalid."
        )
    _check_names(path, names.tolist())
    return PsiTable(tuple(names.tolist()), X.astype(np.float64), y == 1)


def table_space(names: Iterable[str], X: Floats) -> FeatureSpace:
    """The space of a table's columns (`lcons_core.space_of_columns`)."""
    return space_of_columns(X, names)


def delimiter_of(header: str) -> str:
    """The character that separates the cells of a header."""
    return max(DELIMITERS, key=header.count)


def _check_names(path: str | os.PathLike[str], names: list[str]) -> None:
    if len(set(names)) != len(names) or not all(names):
        twice = next((name for name in names if names.count(name) > 1 or not name), "")
        raise malformed(
            path, 1, f"expected a different name for each column, found {twice!r} twice or empty; rename it."
        )


def _numbers(path: str | os.PathLike[str], line: int, cells: list[str], header: list[str]) -> NDArray[Any]:
    if len(cells) != len(header):
        raise malformed(
            path,
            line,
            f"expected {len(header)} cells as in the header, found {len(cells)}; correct the line.",
        )
    row = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            row[i] = float(cell)
        except ValueError:
            row[i] = np.nan
        if not np.isfinite(row[i]):
            raise malformed(
                path, line, f"expected a number in column {header[i]!r}, found {quoted(cell)}; correct it."
            )
    return row
