"""Tables of psi vectors: CSV with a header and a column `valid` of 0 and 1, or -1 and 1; 1 means valid.

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
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lcons_core import InvalidInput
from lcons_tasks.data._lines import malformed, quoted, unreadable
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


def read_csv(path: str | os.PathLike[str]) -> PsiTable:
    """The vectors of a CSV file (comma, semicolon or tab)."""
    rows = [(line, cells) for line, cells in csv_rows(path) if cells]
    if len(rows) < 2 or VALID not in rows[0][1]:
        raise malformed(path, 1, f"expected a header with {VALID!r} or with words and labels, and rows.")
    names = rows[0][1]
    if len(set(names)) != len(names) or not all(names):
        raise malformed(path, 1, "each column needs a name of its own.")
    place = names.index(VALID)
    numbers = np.array([_numbers(path, line, cells) for line, cells in rows[1:]])
    verdicts = set(numbers[:, place].tolist())
    if not verdicts <= {0, 1} and verdicts != {-1, 1}:
        raise malformed(path, 1, f"expected 0 and 1 in {VALID!r}: got {sorted(verdicts)[:5]}.")
    X = np.delete(numbers, place, axis=1)
    try:
        return PsiTable((*names[:place], *names[place + 1 :]), X, numbers[:, place] == 1)
    except InvalidInput as error:
        raise malformed(path, 1, str(error)) from None


def _numbers(path: str | os.PathLike[str], line: int, cells: list[str]) -> list[float]:
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError as error:
        raise malformed(path, line, f"expected numbers: {error}.") from None
    if not np.isfinite(numbers).all():
        raise malformed(path, line, f"expected finite numbers: got {quoted(', '.join(cells))}.")
    return numbers
