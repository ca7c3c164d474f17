"""Networks, rows, and the points of a space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

Psi = Mapping[int, Any]
Case = Mapping[str, Any]

OTHER = "(other)"


def common_scale(numbers: Iterable[float]) -> int:
    """The least integer that makes every number whole when multiplied with it."""
    return max((number.as_integer_ratio()[1] for number in numbers), default=1)


def whole(number: float, scale: int) -> int:
    """number * scale, which must be an integer."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (scale // denominator)


class Networks:
    """Networks `[[W, b], ...]`, as integers over one scale."""

    def __init__(self, parts: Sequence[Any]) -> None:
        floats = [
            [[float(w) for w in row] + [float(bias)] for row, bias in zip(*part, strict=True)]
            for part in parts
        ]
        self.scale = common_scale(x for part in floats for unit in part for x in unit)
        self.parts = [[[whole(x, self.scale) for x in unit] for unit in part] for part in floats]

    @property
    def units(self) -> list[list[int]]:
        """The units of all parts: w and b, times the scale."""
        return [unit for part in self.parts for unit in part]

    def activations(self, psi: Psi) -> list[list[Any]]:
        """w_k . psi + b_k times the scale, part by part."""
        items = list(psi.items())
        return [[unit[-1] + sum(unit[j] * v for j, v in items) for unit in part] for part in self.parts]

    def margin(self, psi: Psi) -> Fraction:
        """The least margin of the parts."""
        worst = max(sum(a for a in part if a > 0) for part in self.activations(psi))
        return Fraction(self.scale - worst) / self.scale

    def accepts(self, psi: Psi) -> bool:
        """Whether every part accepts."""
        return all(sum(a for a in part if a > 0) <= self.scale for part in self.activations(psi))

    def rows(self) -> list[tuple[tuple[int, ...], list[Fraction]]]:
        """(S, coefficients and bias) of every non-empty S of the units of a part, in binary counting."""
        found, first = [], 0
        for part in self.parts:
            for bits in range(1, 2 ** len(part)):
                S = [k for k in range(len(part)) if bits >> k & 1]
                *sums, b = (sum(column) for column in zip(*(part[k] for k in S), strict=True))
                row = [*(Fraction(-total, self.scale) for total in sums), 1 - Fraction(b, self.scale)]
                found.append((tuple(first + k for k in S), row))
            first += len(part)
        return found


def value_at(row: Sequence[Any], psi: Psi) -> Any:
    """Coefficients and bias at psi."""
    return row[-1] + sum(row[j] * v for j, v in psi.items())


@dataclass(frozen=True)
class Point:
    """A point of a space: psi, its value per axis, and its names per block."""

    psi: dict[int, int]
    axes: dict[str, str]
    names: dict[str, Any]

    def inside(self, box: Mapping[str, Iterable[str]]) -> bool:
        """Whether it has one of the values of each axis of a box."""
        return all(self.axes[axis] in values for axis, values in box.items())


def axes_of(space: Case) -> list[tuple[str, Case, list[tuple[str, dict[int, int]]]]]:
    """(name, block, [(value, its psi)]) of every axis: one per one-hot block, one per column of others."""
    found: list[tuple[str, Case, list[tuple[str, dict[int, int]]]]] = []
    column = 0
    for block in space["blocks"]:
        values, kind = block["values"], block["kind"]
        if kind == "one-hot":
            choices: list[tuple[str, dict[int, int]]] = [(v, {column + i: 1}) for i, v in enumerate(values)]
            found.append((block["name"], block, choices + ([(OTHER, {})] if block.get("other") else [])))
        else:
            low, high = (block["low"], block["high"]) if kind == "count" else (0, 1)
            for i, value in enumerate(values):
                numbers = [(str(n), {column + i: n} if n else {}) for n in range(low, high + 1)]
                found.append((f"{block['name']} {value}", block, numbers))
        column += len(values)
    return found


def points_of(space: Case) -> list[Point]:
    """Every point of a space, the last axis fastest, without those that its requirements exclude."""
    axes, found = axes_of(space), []
    for choice in product(*(choices for _, _, choices in axes)):
        chosen = {name: value for (name, _, _), (value, _) in zip(axes, choice, strict=True)}
        if any(chosen[b] == v and chosen[n] not in some for b, v, n, some in space.get("requires", ())):
            continue
        psi: dict[int, int] = {}
        names: dict[str, Any] = {}
        for (name, block, _), (value, own) in zip(axes, choice, strict=True):
            psi |= own
            if block["kind"] == "one-hot":
                names[name] = value
            elif block["kind"] == "count":
                names.setdefault(block["name"], {})[name[len(block["name"]) + 1 :]] = int(value)
            else:
                held = names.setdefault(block["name"], [])
                held += [name[len(block["name"]) + 1 :]] if value == "1" else []
        found.append(Point(psi, chosen, names))
    return found
