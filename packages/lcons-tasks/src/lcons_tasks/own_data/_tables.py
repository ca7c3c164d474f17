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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile, FeatureSpace, space_of_columns
from lcons_core._types import Floats
from lcons_core.storage._archive import opened_archive
from lcons_tasks.data._lines import MalformedCorpus, malformed, quoted, unreadable
from lcons_tasks.own_data._data import PsiTable

VALID = "valid"
DELIMITERS = ",;\t"
_KINDS = {"U": "text", "biuf": "numbers", "biufU": "numbers or text"}


def read_csv(path: str | os.PathLike[str], valid: str | None = None) -> PsiTable:
    """The vectors of a CSV file (comma, semicolon or tab); `valid`: the label of valid vectors."""
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
            f"expected a column named {VALID!r} (1 for valid vectors, 0 for invalid; or two labels), found"
            f" {', '.join(header[:12])}{' ...' if len(header) > 12 else ''}; add or rename it. Words with"
            " labels are read as CoNLL columns or JSON lines, tuples of names as JSON lines.",
        )
    place = header.index(VALID)
    labels = [_label(path, line, cells, header, place) for line, cells in rows[1:]]
    verdict = _verdict(f"{os.fspath(path)}: ", f"column {VALID!r}", labels, valid)
    names = header[:place] + header[place + 1 :]
    X = np.array(
        [_numbers(path, line, cells[:place] + cells[place + 1 :], names) for line, cells in rows[1:]]
    )
    return PsiTable(tuple(names), X, verdict)


def read_npz(path: str | os.PathLike[str], valid: str | None = None) -> PsiTable:
    """The vectors of an npz file: X (N, d), y (N,), names (d,); `valid`: the label of valid vectors in y."""
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
    for name, array, kinds in (("X", X, "biuf"), ("y", y, "biufU"), ("names", names, "U")):
        if array.dtype.kind not in kinds:
            raise MalformedCorpus(
                f"{os.fspath(path)}: expected {name} to hold {_KINDS[kinds]}, found"
                f" {array.dtype}; convert it before saving."
            )
    if X.ndim != 2 or y.shape != X.shape[:1] or names.shape != X.shape[1:]:
        raise MalformedCorpus(
            f"{os.fspath(path)}: expected X (rows, columns), y (rows) and names (columns), found shapes"
            f" {X.shape}, {y.shape} and {names.shape}; save one y per row and one name per column."
        )
    _check_names(path, names.tolist())
    labels = [str(label) for label in (y if y.dtype.kind == "U" else y.astype(np.float64)).tolist()]
    return PsiTable(
        tuple(names.tolist()), X.astype(np.float64), _verdict(f"{os.fspath(path)}: ", "y", labels, valid)
    )


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


def _label(path: str | os.PathLike[str], line: int, cells: list[str], header: list[str], place: int) -> str:
    _check_width(path, line, cells, header)
    if not cells[place].strip():
        raise malformed(path, line, f"expected a label in column {header[place]!r}, found none; write it.")
    return cells[place].strip()


def _verdict(file: str, where: str, labels: list[str], valid: str | None) -> NDArray[np.bool_]:
    """Which of the labels mean valid. Numbers are equal if their values are: 1 and 1.0."""
    codes = np.array([_same(label) for label in labels])
    found = sorted(set(codes.tolist()))
    if valid is None:
        if set(found) <= {"0", "1"} or set(found) == {"-1", "1"}:
            return codes == "1"
        if len(found) != 2:
            raise MalformedCorpus(
                f"{file}expected 0 and 1 in {where}, found {_shown(found[:5])}{' ...' * (len(found) > 5)};"
                " write 1 for valid, 0 for invalid, or two labels and pass the argument `valid`."
            )
        low, high = found
        raise MalformedCorpus(
            f"{file}expected 0 and 1 in {where}, or the argument `valid`, found the labels {low!r} and"
            f" {high!r}; pass `valid={low!r}` if {low!r} is valid and {high!r} invalid, or"
            f" `valid={high!r}` if {high!r} is valid and {low!r} invalid."
        )
    if len(found) > 2:
        raise MalformedCorpus(
            f"{file}expected two labels in {where}, found {len(found)} ({_shown(found[:5])}"
            f"{' ...' * (len(found) > 5)}); keep two, valid and invalid."
        )
    chosen = _same(valid)
    if chosen not in found:
        raise MalformedCorpus(
            f"{file}expected the label {valid!r} of the argument `valid` in {where}, found"
            f" {' and '.join(map(repr, found))}; pass one of these."
        )
    return codes == chosen


def _same(label: str) -> str:
    """One text for all ways to write a number; other labels as they are."""
    try:
        number = float(label)
    except ValueError:
        return label
    return str(int(number)) if number.is_integer() else str(number)


def _check_width(path: str | os.PathLike[str], line: int, cells: list[str], header: list[str]) -> None:
    if len(cells) != len(header):
        raise malformed(
            path,
            line,
            f"expected {len(header)} cells as in the header, found {len(cells)}; correct the line.",
        )


def _numbers(path: str | os.PathLike[str], line: int, cells: list[str], header: list[str]) -> NDArray[Any]:
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


def _shown(values: Iterable[str]) -> str:
    """Values on one line."""
    return ", ".join(" ".join(value.split()) for value in values)
