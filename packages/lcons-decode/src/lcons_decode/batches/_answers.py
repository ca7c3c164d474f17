"""The answers for the rows of a batch, as arrays and as columns.

labels    one label per token; null if no labelling has a finite score
score     the score of the labels, with soft penalties; null likewise
status    as in `lcons_decode.Status`
changed   how many labels differ from the best ones without constraints
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from lcons_decode._result import Status
from lcons_decode._scores import Floats, Ints

# The new columns, with the type of their cells: [str] is a list of strings.
ANSWERS: Mapping[str, Any] = MappingProxyType(
    {"labels": [str], "score": float, "status": str, "changed": int}
)
STATUSES = tuple(Status)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers for B sequences of N tokens: packed label indices y (N,), offsets (B + 1,), the names of
    the labels, scores (B,), indices into `STATUSES` (B,), and counts of changed labels (B,)."""

    y: Ints
    offsets: Ints
    labels: tuple[str, ...]
    scores: Floats
    statuses: Ints
    changed: Ints

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """The answers of consecutive sequences of one model."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        arrays = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("y", "scores", "statuses", "changed")
        )
        y, scores, statuses, changed = arrays
        return cls(y, np.concatenate([[0], np.cumsum(lengths)]), parts[0].labels, scores, statuses, changed)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def found(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(B,) whether there are labels."""
        return self.statuses != STATUSES.index(Status.INFEASIBLE)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The columns of each row."""
        names = list(map(self.labels.__getitem__, self.y.tolist()))
        places = self.offsets.tolist()
        cells = (self.found, self.scores, self.statuses, self.changed)
        for i, (found, score, status, changed) in enumerate(
            zip(*(values.tolist() for values in cells), strict=True)
        ):
            labels = names[places[i] : places[i + 1]] if found else None
            yield {
                "labels": labels,
                "score": score if found else None,
                "status": str(STATUSES[status]),
                "changed": changed,
            }

    def counts(self) -> Counter[str]:
        """How many sequences and tokens there are, how many sequences the constraints changed, and how many
        have each status other than optimal."""
        found = Counter({"sequences": len(self), "tokens": len(self.y)})
        found["changed"] = int((self.changed > 0).sum())
        return found + status_counts(STATUSES[i] for i in self.statuses.tolist())


def status_counts(statuses: Iterable[object]) -> Counter[str]:
    """How often each status other than optimal occurs."""
    counts = Counter(map(str, statuses))
    del counts[str(Status.OPTIMAL)]
    return counts
