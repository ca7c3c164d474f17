"""The judgement of a constraint on data: the valid structures that it forbids, the invalid ones it allows.

A valid structure that it forbids is an error of the constraint: decoding under it can never be correct there.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, Recipe, SparsePsi, why
from lcons_core._blocks import Kind
from lcons_core.features import SequenceFeature
from lcons_tasks.own_data._bound import Bound
from lcons_tasks.own_data._data import Data, PsiTable
from lcons_tasks.own_data._examples import Parts, times
from lcons_tasks.own_data._vocabulary import Unknown

MOST_SHOWN = 5
# With fewer structures, a share in percent would be misleading.
FEWEST = 30
ROW, STRUCTURE = "row", "structure"
_LONGEST = 12


@dataclass(frozen=True)
class Forbidden:
    """A psi of valid structures that is forbidden: how often it occurs, its words, its first place, and the
    sum that forbids it. `structure` is the number in the file, from 1."""

    count: int
    words: str
    structure: int
    text: str
    why: str


@dataclass(frozen=True)
class Judgement:
    """Counts on data; `unit` is the name of a structure.

    Of the forbidden parts, `forbidden_rare` were seen in training, but less often than `min_support`, and
    `forbidden_unseen` were never valid in training and are among its invalid vectors. `new` parts are not in
    training. `invalid` vectors should be forbidden (None if there are none to judge), and `invalid_new` of
    them are not in training. `unknown` are tokens of unknown context."""

    unit: str
    structures: int
    forbidden_structures: int
    parts: int
    forbidden_parts: int
    forbidden_rare: int
    forbidden_unseen: int
    new_parts: int | None
    new_allowed: int | None
    invalid: int | None
    invalid_new: int | None
    invalid_forbidden: int | None
    outside: int
    outside_example: str
    unknown: Unknown | None
    examples: tuple[Forbidden, ...]

    @property
    def bound(self) -> Bound:
        """The bound on the share of valid parts that are forbidden."""
        return Bound(self.forbidden_parts, self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def added(judgements: Sequence[Judgement], most: int = MOST_SHOWN) -> Judgement:
    """The judgements of several folds as one: counts are added, and of equal examples the first is kept."""
    first = judgements[0]

    def total(name: str) -> Any:
        known = [value for one in judgements if (value := getattr(one, name)) is not None]
        return sum(known) if known else None

    counts: dict[str, int] = {}
    examples: dict[str, Forbidden] = {}
    for example in (example for one in judgements for example in one.examples):
        counts[example.words] = counts.get(example.words, 0) + example.count
        examples.setdefault(example.words, example)
    frequent = sorted(examples.values(), key=lambda one: -counts[one.words])[:most]
    unknown = [one.unknown for one in judgements if one.unknown is not None]
    merged = None
    if unknown:
        tokens, never = (sum(getattr(one, name) for one in unknown) for name in ("tokens", "never"))
        merged = replace(unknown[0], tokens=tokens, never=never)
    numbers = (field.name for field in fields(Judgement) if field.type in ("int", "int | None"))
    return replace(
        first,
        **{name: total(name) for name in numbers},
        outside_example=next((one.outside_example for one in judgements if one.outside), ""),
        unknown=merged,
        examples=tuple(replace(one, count=counts[one.words]) for one in frequent),
    )


@dataclass(frozen=True)
class Known:
    """Keys of the training vectors: all valid ones, the frequent ones that are learned, and invalid ones."""

    valid: AbstractSet[bytes]
    learned: AbstractSet[bytes]
    invalid: AbstractSet[bytes]


def judge(
    constraint: LearnedConstraint,
    data: Data,
    parts: Parts,
    known: Known,
    held_out: bool = False,
    invalid: SparsePsi | None = None,
    unknown: Unknown | None = None,
    most: int = MOST_SHOWN,
) -> Judgement:
    """The judgement of the constraint on the valid `parts` of `data`, and on the `invalid` vectors.

    `held_out`: the data are not in training, so that some parts may be new. The examples are the `most` parts
    that are forbidden most often.
    """
    psi = parts.rows.psi
    accepted = _accepted(constraint, psi)
    rejected = np.flatnonzero(~accepted)
    keys = psi.take(rejected).row_keys()
    new = None
    if held_out:
        new = np.array([key not in known.valid for key in psi.row_keys()], dtype=np.bool_)
    numbers = data.numbers()
    outside = ""
    if parts.outside:
        i, reason = parts.outside[0]
        outside = f"{_unit(data)} {numbers[i]}: {reason}"
    return Judgement(
        unit=_unit(data),
        structures=parts.inside,
        forbidden_structures=len(np.unique(parts.rows.owner[rejected])),
        parts=len(accepted),
        forbidden_parts=len(rejected),
        forbidden_rare=sum(key in known.valid and key not in known.learned for key in keys),
        forbidden_unseen=sum(key in known.invalid and key not in known.valid for key in keys),
        new_parts=None if new is None else int(new.sum()),
        new_allowed=None if new is None else int((new & accepted).sum()),
        invalid=None if invalid is None else len(invalid),
        invalid_new=None if invalid is None else sum(k not in known.invalid for k in invalid.row_keys()),
        invalid_forbidden=None if invalid is None else int((~_accepted(constraint, invalid)).sum()),
        outside=len(parts.outside),
        outside_example=outside,
        unknown=unknown,
        examples=tuple(_examples(constraint, data, parts, rejected, most)),
    )


def _accepted(constraint: LearnedConstraint, psi: SparsePsi) -> Any:
    if not len(psi):
        return np.zeros(0, dtype=np.bool_)
    # A corpus shows the same few vectors again and again.
    group, first = psi.groups()
    return constraint.network.accepts(psi.take(first))[group]


def _examples(
    constraint: LearnedConstraint, data: Data, parts: Parts, rejected: Any, most: int
) -> list[Forbidden]:
    psi, position = parts.rows.psi, parts.position
    first: dict[bytes, int] = {}
    counts: dict[bytes, int] = {}
    for row, key in zip(rejected.tolist(), psi.take(rejected).row_keys(), strict=True):
        first.setdefault(key, row)
        counts[key] = counts.get(key, 0) + 1
    # sorted() is stable: ties go to the first one.
    chosen = sorted(first, key=lambda key: -counts[key])[:most]
    found = []
    for key in chosen:
        row = first[key]
        words, reason = _reason(constraint, psi.take(np.array([row])).dense()[0])
        owner = int(parts.rows.owner[row])
        text = _text(constraint, data, owner, int(position[row]))
        found.append(Forbidden(counts[key], words, int(data.numbers()[owner]), text, reason))
    return found


def _reason(constraint: LearnedConstraint, point: Any) -> tuple[str, str]:
    """A small forbidden part of a vector, in words, and the sum that forbids the whole vector."""
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


def percent(share: float) -> str:
    """A share in percent; only a share of 1 is 100 %, and only a share of 0 is 0 %.

    >>> percent(0.0045), percent(0.0002), percent(0.9999), percent(1.0)
    ('0.4%', 'under 0.1%', 'over 99.9%', '100.0%')
    """
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "under 0.1%"
    return "over 99.9%" if text == "100.0" and share < 1 else f"{text}%"


def warning(judgement: Judgement, where: str, data: Data, recipe: Recipe) -> str | None:
    """One sentence if valid structures are forbidden, with advice; otherwise None."""
    if not judgement.forbidden_structures:
        return None
    first = judgement.examples[0]
    unit = _unit(data)
    of_rows = isinstance(data, PsiTable)
    what = f"valid {unit}s" if of_rows else "gold structures"
    text = f" ({first.text})" if first.text else ""
    figures = [] if of_rows else [f"{judgement.forbidden_parts:,} of {judgement.parts:,} parts"]
    if judgement.structures >= FEWEST:
        figures.insert(0, percent(judgement.forbidden_structures / judgement.structures))
    shown = f" ({', '.join(figures)})" if figures else ""
    return (
        f"the constraint forbids {judgement.forbidden_structures:,} of {judgement.structures:,} {what}"
        f" {where}{shown}, such as {unit} {first.structure}{text}: {first.words};"
        f" {_advice(judgement, recipe)}"
    )


def _advice(judgement: Judgement, recipe: Recipe) -> str:
    """Advice for each reason why parts are forbidden."""
    rare, unseen = judgement.forbidden_rare, judgement.forbidden_unseen
    others = judgement.forbidden_parts - rare - unseen
    unit = ROW if judgement.unit == ROW else "part"
    causes = []
    if rare:
        causes.append(
            f"{_many(rare, unit)} seen in training, but fewer than {times(recipe.min_support)}, so lower the"
            " argument `min_support`"
        )
    if unseen:
        causes.append(
            f"{_many(unseen, unit)} never valid in training and among its invalid vectors, so use more data"
        )
    if others:
        causes.append(
            f"{_many(others, unit)} never invalid in training, so learn with more caution"
            f" (`caution={4 * recipe.caution:g}`)"
        )
    return "; ".join([*causes, "or use it as a soft constraint."])


def _many(number: int, unit: str) -> str:
    return f"1 {unit} was" if number == 1 else f"{number:,} {unit}s were"
