"""Compares what lcons does now with files that say what it did, and writes these anew with `--update-golden`.

Another processor may add in another order: the weights of a network differ from the sixth decimal on. So
numbers with four decimals or more may differ by 1e-4 in text, and by 1e-9 of their size in JSON. A difference
is shown as a unified diff.
"""

import difflib
import hashlib
import json
import math
import re
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
TOLERANCE, TEXT_TOLERANCE = 1e-9, 1e-4
NUMBER = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")


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
        elif not same_text(kept := _kept(path), found):
            pytest.fail(difference(kept, found, name), pytrace=False)

    def data(self, name: str, found: Any) -> None:
        text = readable(found)
        if self.update or not alike(json.loads(_kept(EXPECTED / name) or "null"), json.loads(text)):
            self.text(name, text)


def processor() -> str:
    """A hash of training by torch alone, which differs between kinds of processors."""
    import torch

    generator = torch.Generator().manual_seed(0)
    digest = hashlib.sha256()
    for dtype in (torch.float32, torch.float64):
        X = torch.rand(700, 98, generator=generator, dtype=dtype)
        W = torch.randn(98, 30, generator=generator, dtype=dtype)
        for _ in range(50):
            W = W - 0.01 * X.T @ torch.sigmoid(X @ W)
        digest.update(W.numpy().tobytes())
    return digest.hexdigest() + "\n"


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


def same_text(kept: str, found: str) -> bool:
    """Whether text is the same but for the last digits of long numbers."""
    numbers = zip(NUMBER.findall(kept), NUMBER.findall(found), strict=False)
    return NUMBER.sub("#", kept) == NUMBER.sub("#", found) and all(
        math.isclose(float(old), float(new), abs_tol=TEXT_TOLERANCE) for old, new in numbers
    )


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
    return same_text(kept, found) if isinstance(kept, str) else bool(kept == found)


def exact(array: Any) -> Any:
    """An array as text that holds each bit."""
    return [exact(row) for row in array] if np.ndim(array) > 1 else " ".join(repr(float(x)) for x in array)


def fingerprint(constraint: LearnedConstraint) -> str:
    """The sizes of a constraint's arrays, and their sums."""
    parts = constraint.network.parts
    arrays = [array for part in parts for array in (part.W, part.b)]
    shapes = ", ".join("x".join(map(str, part.W.shape)) for part in parts)
    sums = [sum(float(array.sum()) for array in arrays[first::2]) for first in (0, 1)]
    return f"W {shapes} sum {sums[0]:.6f}, b sum {sums[1]:.6f}"
