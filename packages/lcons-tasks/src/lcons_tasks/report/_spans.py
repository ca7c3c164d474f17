"""Labels as spans, by what all labels of a file are: IOB and its relatives, or names of their own.

| labels | a span is |
|---|---|
| B-X, I-X, O; L-, U- (BILOU) and E-, S- (IOBES) too | a chunk, by the rules of conlleval |
| others | a run of one label, except O |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lcons_core._schemes import OUTSIDE
from lcons_decode.files import NO_LABEL
from lcons_tasks.stats import chunks, runs_as_iob2

Span = tuple[str, int, int]

_IOB = re.compile(r"O|[BI]|[BILUES]-.+", re.DOTALL)
_AS_IOB = {"U": "B", "S": "B", "L": "I", "E": "I"}


def are_iob(labels: Iterable[str]) -> bool:
    """Whether labels are IOB or a relative of it, some of them not O.

    >>> are_iob(["B-NP", "I-NP", "O"]), are_iob(["U-NP", "O"]), are_iob(["author", "O"]), are_iob(["O"])
    (True, True, False, False)
    """
    found = set(labels) - {NO_LABEL}
    return bool(found - {OUTSIDE}) and all(_IOB.fullmatch(label) for label in found)


def spans_of(labels: Sequence[str], iob: bool) -> tuple[Span, ...]:
    """(type, first, after the last) of each span.

    >>> spans_of(["B-NP", "L-NP", "U-NP"], iob=True), spans_of(["author", "author", "O"], iob=False)
    ((('NP', 0, 2), ('NP', 2, 3)), (('author', 0, 2),))
    """
    if iob:
        return tuple(chunks([_AS_IOB.get(label[:1], label[:1]) + label[1:] for label in labels]))
    return tuple(one for one in chunks(runs_as_iob2(labels)) if one[0] not in (OUTSIDE, NO_LABEL))
