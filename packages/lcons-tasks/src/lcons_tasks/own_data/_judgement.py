"""The judgement of a constraint on data: the valid structures that it forbids, the invalid ones it allows.

A valid structure that it forbids is an error of the constraint: decoding under it can never be correct there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from lcons_core import LabelledExamples, LearnedConstraint, SparsePsi, why
from lcons_core._blocks import Kind
from lcons_core._types import Bools
from lcons_core.features import SequenceFeature
from lcons_core.learn._evidence import Needed
from lcons_core.reason._words import by_chance
from lcons_tasks.own_data._data import Data, PsiTable, Structures
from lcons_tasks.own_data._examples import Parts, parts_of
from lcons_tasks.own_data._recommendation import Bound

MOST_SHOWN = 5
MOST_UNDECIDED = 3
# With fewer structures, a share in percent would be misleading.
FEWEST = 30
# Up to this share of held-out structures may be left out without a warning.
FEW_OUTSIDE = 0.05
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

    `new` parts are not in training (None if the data are training data). `invalid` rows of a table should be
    forbidden (None if there are none). `outside` structures cannot be judged."""

    unit: str
    structures: int
    forbidden_structures: int
    parts: int
    forbidden_parts: int
    new_parts: int | None
    new_allowed: int | None
    invalid: int | None
    invalid_forbidden: int | None
    outside: int
    outside_example: str
    examples: tuple[Forbidden, ...]

    @property
    def bound(self) -> Bound:
        """The bound on the share of valid parts that are forbidden."""
        return Bound(self.forbidden_parts, self.parts)

    def warnings(self, where: str) -> list[str]:
        """A sentence if valid structures are forbidden, and one if more than a few cannot be judged."""
        texts = []
        for example in self.examples[:1]:
            text = f" ({example.text})" if example.text else ""
            what = f"valid {ROW}s" if self.unit == ROW else "gold structures"
            texts.append(
                f"the constraint forbids {of(self.forbidden_structures, self.structures, what)} {where},"
                f" such as {self.unit} {example.structure}{text}: {example.words}."
            )
        if self.outside > FEW_OUTSIDE * (self.structures + self.outside):
            texts.append(f"{self.outside:,} {self.unit}s {where} cannot be judged ({self.outside_example}).")
        return texts


def of(part: int, whole: int, what: str, share: bool | None = None) -> str:
    """A part of a whole in words, with its share if there are enough.

    >>> of(1, 40, "rows"), of(1, 4, "rows")
    ('1 of 40 rows (2.5%)', '1 of 4 rows')
    """
    shown = whole >= FEWEST if share is None else share
    return f"{part:,} of {whole:,} {what}" + (f" ({percent(part / whole)})" if shown else "")


def percent(share: float) -> str:
    """A share in percent; only a share of 1 is 100 %, and only a share of 0 is 0 %.

    >>> percent(0.0045), percent(0.0002), percent(0.9999), percent(1.0)
    ('0.4%', 'under 0.1%', 'over 99.9%', '100.0%')
    """
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "under 0.1%"
    return "over 99.9%" if text == "100.0" and share < 1 else f"{text}%"


def added(judgements: Sequence[Judgement]) -> Judgement:
    """The judgements of several folds as one: counts are added, and of equal examples the first is kept."""
    sums: dict[str, Any] = {}
    for name in (field.name for field in fields(Judgement) if field.type in ("int", "int | None")):
        known = [value for judgement in judgements if (value := getattr(judgement, name)) is not None]
        sums[name] = sum(known) if known else None
    counts: Counter[str] = Counter()
    examples: dict[str, Forbidden] = {}
    for example in (example for judgement in judgements for example in judgement.examples):
        counts[example.words] += example.count
        examples.setdefault(example.words, example)
    first = next((judgement.outside_example for judgement in judgements if judgement.outside), "")
    shown = (replace(examples[words], count=count) for words, count in counts.most_common(MOST_SHOWN))
    return replace(judgements[0], **sums, outside_example=first, examples=tuple(shown))


def judge(
    constraint: LearnedConstraint,
    data: Data,
    parts: Parts,
    seen: AbstractSet[bytes] | None = None,
    invalid: SparsePsi | None = None,
) -> Judgement:
    """The judgement of the constraint on the valid `parts` of `data`, and on the `invalid` rows.

    `seen`: the keys of the valid training parts, if the data are not in training, so that parts may be new.
    """
    psi = parts.rows.psi
    accepted = accepts(constraint, psi)
    new = None if seen is None else np.array([key not in seen for key in psi.row_keys()], dtype=np.bool_)
    rejected = np.flatnonzero(~accepted)
    keys = psi.take(rejected).row_keys()
    first = dict(zip(reversed(keys), reversed(rejected.tolist()), strict=True))
    unit = ROW if isinstance(data, PsiTable) else STRUCTURE
    outside = [f"{unit} {data.numbers()[i]}: {reason}" for i, reason in parts.outside.items()]
    often = Counter(keys).most_common(MOST_SHOWN)
    return Judgement(
        unit=unit,
        structures=parts.inside,
        forbidden_structures=len(np.unique(parts.rows.owner[rejected])),
        parts=len(accepted),
        forbidden_parts=len(rejected),
        new_parts=None if new is None else int(new.sum()),
        new_allowed=None if new is None else int((new & accepted).sum()),
        invalid=None if invalid is None else len(invalid),
        invalid_forbidden=None if invalid is None else int((~accepts(constraint, invalid)).sum()),
        outside=len(outside),
        outside_example="".join(outside[:1]),
        examples=tuple(_forbidden(constraint, data, parts, first[key], count) for key, count in often),
    )


def gold_bound(constraint: LearnedConstraint, gold: Structures) -> Bound:
    """The bound on the share of gold parts that the constraint rejects; what it cannot read is left out."""
    assert constraint.feature is not None
    accepted = accepts(constraint, parts_of(constraint.feature, gold.instances).rows.psi)
    return Bound(int((~accepted).sum()), len(accepted))


def accepts(constraint: LearnedConstraint, psi: SparsePsi) -> Bools:
    """(N,) the verdicts of rows; a corpus shows the same few again and again, so each kind is judged once."""
    if not len(psi):
        return np.zeros(0, dtype=np.bool_)
    group, first = psi.groups()
    return constraint.network.accepts(psi.take(first))[group]


def _forbidden(constraint: LearnedConstraint, data: Data, parts: Parts, row: int, count: int) -> Forbidden:
    """A part that is forbidden: a small forbidden part of it in words, and the sum that forbids all of it."""
    named = constraint.space.describe(parts.rows.psi.take(np.array([row])).dense()[0])
    total = why(constraint, named).arithmetic
    if all(block.kind is Kind.ONE_HOT for block in constraint.space.blocks if block.name in named):
        named = smallest_forbidden(constraint, named)
    owner = int(parts.rows.owner[row])
    text = _text(constraint, data, owner, parts.position(row))
    words = ", ".join(_in_words(name, value) for name, value in named.items())
    return Forbidden(count, words, int(data.numbers()[owner]), text, total)


def smallest_forbidden(constraint: LearnedConstraint, named: dict[str, Any]) -> dict[str, Any]:
    """The values of a forbidden combination without those that are not needed for it."""
    for name in list(named):
        rest = {other: value for other, value in named.items() if other != name}
        if rest and why(constraint, rest).forbidden:
            named = rest
    return named


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{name} {value}"
    if isinstance(value, dict):
        value = [f"{column} {number}" for column, number in value.items() if number]
    shown = ", ".join(value[:_LONGEST]) + (f" and {len(value) - _LONGEST} more" if value[_LONGEST:] else "")
    return f"{name}: {shown or 'none'}"


def _text(constraint: LearnedConstraint, data: Data, owner: int, position: int) -> str:
    """The tokens of a window with their labels, a tuple, or the beginning of a structure."""
    if isinstance(data, PsiTable):
        return ""
    instance = data.instances[owner]
    if data.tuples:
        return f"({', '.join(instance.y[position])})"
    places: list[int] = list(range(len(instance.y)))
    if isinstance(constraint.feature, SequenceFeature):
        places = [t for t, _ in constraint.feature.label_terms(len(instance.y), position)]
    words = instance.x.get("word")
    shown = [f"{words[t]}/{instance.y[t]}" if words else instance.y[t] for t in places[:_LONGEST]]
    return " ".join([*shown, *(["..."] if places[_LONGEST:] else [])])


@dataclass(frozen=True)
class Undecided:
    """`count` windows have too little evidence to forbid them; the network rejects `rejected` of them anyway.

    The `examples`, in words, are those that come closest to enough evidence."""

    count: int
    rejected: int
    needed: Needed
    examples: tuple[str, ...]

    @classmethod
    def of(cls, constraint: LearnedConstraint, examples: LabelledExamples, needed: Needed) -> Undecided:
        """The undecided windows of examples."""
        rows, shown = examples.undecided, []
        for i in np.argsort(-rows.weight, kind="stable")[:MOST_UNDECIDED]:
            point = constraint.space.describe(rows.psi.take(np.array([i])).dense()[0])
            words = ", ".join(f"{name} {value}" for name, value in point.items())
            shown.append(f"{words}  [expected {by_chance(float(rows.weight[i]))} by chance]")
        rejected = int((~accepts(constraint, rows.psi)).sum())
        return cls(len(rows), rejected, needed, tuple(shown))

    @property
    def warnings(self) -> list[str]:
        """A sentence if the network rejects some of them."""
        text = (
            f"the constraint forbids {self.rejected:,} of {self.count:,} combinations for which there is too"
            " little evidence; learn with more hidden units (the argument `hidden`) or more caution."
        )
        return [text] if self.rejected else []
