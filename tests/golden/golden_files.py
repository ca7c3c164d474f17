"""Compares what lcons does now with files that say what it did, and writes these anew with `--update-golden`.

Text is compared line by line, and data as JSON, in which numbers may differ by 1e-9 of their size: another
processor may add in another order. A difference is shown as a unified diff.
"""

import difflib
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from lcons_cli.main import main
from lcons_core import LearnedConstraint

HERE = Path(__file__).parent
EXPECTED, INPUTS, V010 = HERE / "expected", HERE / "inputs", HERE / "v0.1.0"
TOLERANCE = 1e-9


def lcons(*arguments: str, stdin: str | None = None) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, arguments, input=stdin)


@dataclass(frozen=True)
class Golden:
    """Compares with a file below `expected`; `update`: writes that file instead."""

    update: bool

    def text(self, name: str, found: str) -> None:
        path = EXPECTED / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8")
        elif (kept := _kept(path)) != found:
            pytest.fail(difference(kept, found, name), pytrace=False)

    def data(self, name: str, found: Any) -> None:
        text = readable(found)
        if self.update or not alike(json.loads(_kept(EXPECTED / name) or "null"), json.loads(text)):
            self.text(name, text)


def _kept(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def difference(kept: str, found: str, name: str) -> str:
    lines = difflib.unified_diff(
        kept.splitlines(), found.splitlines(), f"kept {name}", f"found {name}", lineterm=""
    )
    return "\n".join(["not as it was; if it is meant to change, use --update-golden", *lines])


def readable(data: Any) -> str:
    """JSON with an innermost list or object per line.

    >>> print(readable({"a": {"b": [1, 2]}}))
    {
     "a": {"b": [1, 2]}
    }
    """
    return _lines(data, "") + "\n"


def _lines(data: Any, indent: str) -> str:
    flat = json.dumps(data, ensure_ascii=False)
    if not isinstance(data, dict | list) or len(indent + flat) < 100 or _is_flat_list(data):
        return flat
    inner = indent + " "
    if isinstance(data, dict):
        shown = [
            f"{json.dumps(key, ensure_ascii=False)}: {_lines(value, inner)}" for key, value in data.items()
        ]
        return "{\n" + ",\n".join(inner + one for one in shown) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _lines(one, inner) for one in data) + f"\n{indent}]"


def _is_flat_list(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(one, int | float) for one in data)


def alike(kept: Any, found: Any) -> bool:
    """Whether JSON is the same but for the last digits of numbers."""
    if isinstance(kept, float) and isinstance(found, float):
        return math.isclose(kept, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if type(kept) is not type(found):
        return False
    if isinstance(kept, dict):
        return kept.keys() == found.keys() and all(alike(kept[key], found[key]) for key in kept)
    if isinstance(kept, list):
        return len(kept) == len(found) and all(map(alike, kept, found))
    return bool(kept == found)


def exact(array: Any) -> Any:
    """An array as text that holds each bit: numbers here are not compared with a tolerance."""
    return [exact(row) for row in array] if np.ndim(array) > 1 else " ".join(repr(float(x)) for x in array)


def fingerprint(constraint: LearnedConstraint) -> str:
    """The sizes of a constraint's arrays, their sums for a first look, and a hash of every bit of them."""
    parts = constraint.network.parts
    arrays = [array for part in parts for array in (part.W, part.b)]
    digest = hashlib.sha256(b"".join(np.asarray(array, "<f8").tobytes() for array in arrays)).hexdigest()
    shapes = ", ".join("x".join(map(str, part.W.shape)) for part in parts)
    sums = [sum(float(array.sum()) for array in arrays[first::2]) for first in (0, 1)]
    return f"W {shapes} sum {sums[0]:.6f}, b sum {sums[1]:.6f}, sha256 {digest[:32]}"
