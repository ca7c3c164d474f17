"""How a constraint judges data: what it forbids of valid structures and allows of invalid ones.

A valid structure that it forbids is an error of the constraint: a decoder under it can never be right there.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, why
from lcons_core.features import SequenceFeature
from lcons_core.psi import SparsePsi
from lcons_core.space import Kind
from lcons_tasks.labelled.data import Data, PsiTable
from lcons_tasks.labelled.parts import Parts

MOST_SHOWN = 5
ROW, STRUCTURE = "row", "structure"
_LONGEST = 12


@dataclass(frozen=True)
class Forbidden:
    """Parts of valid structures with one psi: how often it was met, in words, where first, and the sum that
    forbids it. `structure` is the number in the file, from 1."""

    count: int
    words: str
    structure: int
    text: str
    why: str


@dataclass(frozen=True)
class Judgement:
    """Counts on data; `new` parts are those that training has not, `invalid` vectors those that ought to be
    forbidden (None where there are none to judge), `invalid_new` of which training had not. `unit` is what a
    structure is called."""

    unit: str
    structures: int
    forbidden_structures: int
    parts: int
    forbidden_parts: int
    new_parts: int | None
    new_allowed: int | None
    invalid: int | None
    invalid_new: int | None
    invalid_forbidden: int | None
    outside: int
    outside_example: str
    unknown: int
    examples: tuple[Forbidden, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def judge(
    constraint: LearnedConstraint,
    data: Data,
    parts: Parts,
    seen: Set[bytes] | None = None,
    invalid: SparsePsi | None = None,
    seen_invalid: Set[bytes] = frozenset(),
    most: int = MOST_SHOWN,
) -> Judgement:
    """What the constraint says about the valid `parts` of `data`, and about invalid vectors beside them.

    `seen` and `seen_invalid` are the row keys of what training had; the parts forbidden most often are shown.
    """
    accepted = _accepted(constraint, parts.psi)
    rejected = np.flatnonzero(~accepted)
    new = None
    if seen is not None:
        new = np.array([key not in seen for key in parts.psi.row_keys()], dtype=np.bool_)
    numbers = data.numbers()
    outside = ""
    if parts.outside:
        i, reason = parts.outside[0]
        outside = f"{_unit(data)} {numbers[i]}: {reason}"
    return Judgement(
        unit=_unit(data),
        structures=parts.inside,
        forbidden_structures=len(np.unique(parts.owner[rejected])),
        parts=len(accepted),
        forbidden_parts=len(rejected),
        new_parts=None if new is None else int(new.sum()),
        new_allowed=None if new is None else int((new & accepted).sum()),
        invalid=None if invalid is None else len(invalid),
        invalid_new=None if invalid is None else sum(k not in seen_invalid for k in invalid.row_keys()),
        invalid_forbidden=None if invalid is None else int((~_accepted(constraint, invalid)).sum()),
        outside=len(parts.outside),
        outside_example=outside,
        unknown=parts.unknown,
        examples=tuple(_examples(constraint, data, parts, rejected, most)),
    )


def _accepted(constraint: LearnedConstraint, psi: SparsePsi) -> Any:
    return constraint.network.accepts(psi) if len(psi) else np.zeros(0, dtype=np.bool_)


def _examples(
    constraint: LearnedConstraint, data: Data, parts: Parts, rejected: Any, most: int
) -> list[Forbidden]:
    psi = parts.psi.take(rejected)
    first: dict[bytes, int] = {}
    counts: dict[bytes, int] = {}
    for row, key in zip(rejected.tolist(), psi.row_keys(), strict=True):
        first.setdefault(key, row)
        counts[key] = counts.get(key, 0) + 1
    # sorted() is stable: ties go to the one met first.
    chosen = sorted(first, key=lambda key: -counts[key])[:most]
    found = []
    for key in chosen:
        row = first[key]
        words, reason = _reason(constraint, parts.psi.take(np.array([row])).dense()[0])
        owner = int(parts.owner[row])
        text = _text(constraint, data, owner, int(parts.position[row]))
        found.append(Forbidden(counts[key], words, int(data.numbers()[owner]), text, reason))
    return found


def _reason(constraint: LearnedConstraint, point: Any) -> tuple[str, str]:
    """The smallest forbidden part of a vector that was looked for, and the sum that forbids all of it."""
    named = constraint.space.describe(point)
    full = str(why(constraint, named))
    one_hot = {block.name for block in constraint.space.blocks if block.kind is Kind.ONE_HOT}
    if one_hot == set(named):
        for name in list(named):
            rest = {other: value for other, value in named.items() if other != name}
            if rest and why(constraint, rest).forbidden:
                named = rest
    return ", ".join(_said(name, value) for name, value in named.items()), full


def _said(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{name} {value}"
    if isinstance(value, dict):
        value = [f"{one} {number}" for one, number in value.items() if number]
    shown = ", ".join(value[:_LONGEST]) + (f" and {len(value) - _LONGEST} more" if value[_LONGEST:] else "")
    return f"{name}: {shown or 'none'}"


def _text(constraint: LearnedConstraint, data: Data, owner: int, position: int) -> str:
    """The tokens of a window with their labels, a tuple, or the beginning of a structure."""
    if isinstance(data, PsiTable):
        return ""
    instance = data.instances[owner]
    if data.tuples:
        return f"({', '.join(instance.y[position])})"
    feature = constraint.feature
    places: list[int] = list(range(len(instance.y)))
    if isinstance(feature, SequenceFeature):
        places = [t for t, _ in feature.label_terms(len(instance.y), position)]
    words = instance.x.get("word")
    shown = [f"{words[t]}/{instance.y[t]}" if words else instance.y[t] for t in places[:_LONGEST]]
    return " ".join([*shown, *(["..."] if places[_LONGEST:] else [])])


def _unit(data: Data) -> str:
    return ROW if isinstance(data, PsiTable) else STRUCTURE


def warning(judgement: Judgement, where: str, data: Data, advice: str) -> str | None:
    """One sentence where valid structures are forbidden, else None."""
    if not judgement.forbidden_structures:
        return None
    first = judgement.examples[0]
    share = 100 * judgement.forbidden_structures / judgement.structures
    unit = _unit(data)
    what = f"valid {unit}s" if isinstance(data, PsiTable) else "gold structures"
    text = f" ({first.text})" if first.text else ""
    pieces = f", {judgement.forbidden_parts:,} of {judgement.parts:,} parts"
    if isinstance(data, PsiTable):
        pieces = ""
    return (
        f"the constraint forbids {judgement.forbidden_structures:,} of {judgement.structures:,} {what}"
        f" {where} ({share:.1f}%{pieces}), such as {unit} {first.structure}{text}: {first.words}; {advice}"
    )
