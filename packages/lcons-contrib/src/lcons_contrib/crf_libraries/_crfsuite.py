"""The scores of sequences under a tagger of python-crfsuite.

CRFsuite has no start and stop scores, so they are zero here. It writes its weights with six decimals, so two
labellings whose scores differ by less may be exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_decode import ChainScores


class CrfsuiteScores:
    """Reads a `pycrfsuite.Tagger` once and then scores sequences as the tagger does."""

    def __init__(self, tagger: Any) -> None:
        info = tagger.info()
        self.labels: tuple[str, ...] = tuple(tagger.labels())
        index = {label: i for i, label in enumerate(self.labels)}
        self._transition = np.zeros((len(index), len(index)))
        for (before, after), weight in info.transitions.items():
            self._transition[index[before], index[after]] = weight
        self._weights: dict[str, list[tuple[int, float]]] = {}
        for (attribute, label), weight in info.state_features.items():
            self._weights.setdefault(attribute, []).append((index[label], weight))

    def scores(self, sequence: Sequence[Mapping[str, Any] | Sequence[str]]) -> ChainScores:
        """The scores of one sequence of attribute lists or {attribute: value}; unknown attributes are
        ignored."""
        emission = np.zeros((len(sequence), len(self.labels)))
        for row, item in zip(emission, sequence, strict=True):
            for attribute, value in _attributes(item):
                for label, weight in self._weights.get(attribute, ()):
                    row[label] += value * weight
        return ChainScores(emission, self._transition, labels=self.labels)


def _attributes(item: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """The (attribute, value) pairs of an item, as python-crfsuite reads it: a string counts every time."""
    if not isinstance(item, Mapping):
        for name in item:
            yield prefix + name, 1.0
        return
    for name, value in item.items():
        if isinstance(value, str):
            yield f"{prefix}{name}:{value}", 1.0
        elif isinstance(value, Mapping | Sequence | set):
            yield from _attributes(value, f"{prefix}{name}:")
        else:
            yield prefix + name, float(value)
