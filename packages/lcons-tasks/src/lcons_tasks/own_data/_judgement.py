"""The judgement of a constraint on data: the valid structures that it forbids, the invalid ones it allows.

A valid structure that it forbids is an error of the constraint: decoding under it can never be correct there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from lcons_core import LabelledExamples, LearnedConstraint, SparsePsi, why
from lcons_core._blocks import Kind
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Ints
from lcons_core.features import SequenceFeature
from lcons_core.learn._evidence import Needed
from lcons_core.reason._words import by_chance
from lcons_tasks.own_data._bound import Bound
from lcons_tasks.own_data._data import Data, PsiTable, Structures
from lcons_tasks.own_data._examples import Parts, parts_of

MOST_SHOWN = 5
MOST_UNDECIDED = 3
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def warning(self, where: str) -> str | None:
        """One sentence if valid structures are forbidden; otherwise None."""
        if not self.forbidden_structures:
            return None
        first = self.examples[0]
        text = f" ({first.text})" if first.text else ""
        what = f"valid {ROW}s" if self.unit == ROW else "gold structures"
        share = f" ({percent(self.forbidden_structures / self.structures)})" * (self.structures >= FEWEST)
        return (
            f"the constraint forbids {self.forbidden_structures:,} of {self.structures:,} {what}{share}"
            f" {where}, such as {self.unit} {first.structure}{text}: {first.words}."
        )


def added(judgements: Sequence[Judgement]) -> Judgement:
    """The judgements of several folds as one: counts are added, and of equal examples the first is kept."""
    sums: dict[str, int | None] = {}
    for name in (field.name for field in fields(Judgement) if field.type in ("int", "int | None")):
        known = [value for one in judgements if (value := getattr(one, name)) is not None]
        sums[name] = sum(known) if known else None
    counts: Counter[str] = Counter()
    examples: dict[str, Forbidden] = {}
    for example in (example for one in judgements for example in one.examples):
        counts[example.words] += example.count
        examples.setdefault(example.words, example)
    return replace(
        judgements[0],
        **sums,  # type: ignore[arg-type]
        outside_example=next((one.outside_example for one in judgements if one.outside), ""),
        examples=tuple(
            replace(examples[words], count=count) for words, count in counts.most_common(MOST_SHOWN)
        ),
    )


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
    accepted = accepts(constraint, parts.rows.psi)
    new = None
    if seen is not None:
        new = np.array([key not in seen for key in parts.rows.psi.row_keys()], dtype=np.bool_)
    unit = ROW if isinstance(data, PsiTable) else STRUCTURE
    outside = [f"{unit} {data.numbers()[i]}: {reason}" for i, reason in parts.outside[:1]]
    return Judgement(
        unit=unit,
        structures=parts.inside,
        forbidden_structures=len(np.unique(parts.rows.owner[~accepted])),
        parts=len(accepted),
        forbidden_parts=int((~accepted).sum()),
        new_parts=None if new is None else int(new.sum()),
        new_allowed=None if new is None else int((new & accepted).sum()),
        invalid=None if invalid is None else len(invalid),
        invalid_forbidden=None if invalid is None else int((~accepts(constraint, invalid)).sum()),
        outside=len(parts.outside),
        outside_example="".join(outside),
        examples=tuple(_examples(constraint, data, parts, np.flatnonzero(~accepted))),
    )


def gold_bound(constraint: LearnedConstraint, gold: Structures) -> Bound:
    """The bound on the share of gold parts that the constraint rejects; what it cannot read is left out."""
    assert constraint.feature is not None
    accepted = accepts(constraint, parts_of(constraint.feature, gold).rows.psi)
    return Bound(int((~accepted).sum()), len(accepted))


def accepts(constraint: LearnedConstraint, psi: SparsePsi) -> Bools:
    """(N,) the verdicts of rows, each kind of row judged once."""
    if not len(psi):
        return np.zeros(0, dtype=np.bool_)
    # A corpus shows the same few vectors again and again.
    group, first = psi.groups()
    return constraint.network.accepts(psi.take(first))[group]


def percent(share: float) -> str:
    """A share in percent; only a share of 1 is 100 %, and only a share of 0 is 0 %.

    >>> percent(0.0045), percent(0.0002), percent(0.9999), percent(1.0)
    ('0.4%', 'under 0.1%', 'over 99.9%', '100.0%')
    """
    text = f"{100 * share:.1f}"
    if text == "0.0" and share > 0:
        return "under 0.1%"
    return "over 99.9%" if text == "100.0" and share < 1 else f"{text}%"


def _examples(constraint: LearnedConstraint, data: Data, parts: Parts, rejected: Ints) -> list[Forbidden]:
    """The parts that are forbidden most often; ties go to the first one."""
    psi = parts.rows.psi
    keys = psi.take(rejected).row_keys()
    first = dict(zip(reversed(keys), reversed(rejected.tolist()), strict=True))
    examples = []
    for key, count in Counter(keys).most_common(MOST_SHOWN):
        row = first[key]
        words, reason = _reason(constraint, psi.take(np.array([row])).dense()[0])
        owner = int(parts.rows.owner[row])
        text = _text(constraint, data, owner, int(parts.position[row]))
        examples.append(Forbidden(count, words, int(data.numbers()[owner]), text, reason))
    return examples


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
    return ", ".join(_in_words(name, value) for name, value in named.items()), full


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
    feature = constraint.feature
    places: list[int] = list(range(len(instance.y)))
    if isinstance(feature, SequenceFeature):
        places = [t for t, _ in feature.label_terms(len(instance.y), position)]
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
        rows: PsiRows = examples.undecided
        if not len(rows):
            return cls(0, 0, needed, ())
        first = np.argsort(-rows.weight, kind="stable")[:MOST_UNDECIDED]
        words = []
        for psi, chance in zip(rows.psi.take(first).dense(), rows.weight[first].tolist(), strict=True):
            named = ", ".join(f"{name} {value}" for name, value in constraint.space.describe(psi).items())
            words.append(f"{named}  [expected {by_chance(chance)} by chance]")
        rejected = int((~constraint.network.accepts(rows.psi)).sum())
        return cls(len(rows), rejected, needed, tuple(words))

    @property
    def warning(self) -> str | None:
        """One sentence if the network rejects some of them; otherwise None."""
        if not self.rejected:
            return None
        return (
            f"the constraint forbids {self.rejected:,} of {self.count:,} combinations for which there is too"
            " little evidence; learn with more hidden units (the argument `hidden`) or more caution."
        )
