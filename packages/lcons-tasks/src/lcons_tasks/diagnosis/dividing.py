"""Which part of a file a constraint was learned from, as its provenance records it.

`lcons learn` holds the last 20 % out unless told otherwise, and records `learned_from`, such as "the first
80 % of the structures (16 of 20)" or "all 20 structures".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lcons_core import LearnedConstraint
from lcons_tasks.labelled.data import Data, split

RECORDED = "learned_from"
_FIRST = re.compile(r"the first 80 % of the .*\(([\d,]+) of ([\d,]+)\)")


@dataclass(frozen=True, eq=False)
class Division:
    """What was learned from, and what was held out, None where the provenance tells of no such part; `why`
    says in words what it tells."""

    train: Data
    held_out: Data | None
    why: str


def divide(constraint: LearnedConstraint, data: Data) -> Division:
    """The parts of the file that a constraint was learned from.

    >>> from lcons_core import iob2
    >>> from lcons_tasks.labelled import Structures
    >>> divide(iob2(["B-X", "I-X", "O"]), Structures.of([(["a"], ["O"])])).why
    'the constraint does not record which part of its data it has not seen'
    """
    recorded = constraint.provenance.get(RECORDED)
    if not isinstance(recorded, str):
        return Division(data, None, "the constraint does not record which part of its data it has not seen")
    found = _FIRST.fullmatch(recorded)
    if found is None:
        return Division(data, None, f"the constraint was learned from {recorded:.80}")
    sizes = [int(number.replace(",", "")) for number in found.groups()]
    train, held_out = split(data)
    if held_out is None or [len(train), len(data)] != sizes:
        return Division(
            data, None, f"the constraint was learned from {recorded:.80}, and here are {len(data):,} in all"
        )
    return Division(train, held_out, f"the constraint was learned from {recorded}")
