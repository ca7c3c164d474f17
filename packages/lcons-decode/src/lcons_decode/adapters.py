"""Chain scores from the models of other libraries; nothing is imported, their objects are only read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_decode.scores import ChainScores


def from_pytorch_crf(crf: Any, emission: Any, labels: Sequence[str]) -> ChainScores:
    """The scores of one sequence (T, L) under a `torchcrf.CRF`, whose transitions are [from, to] as ours."""
    needed = ("transitions", "start_transitions", "end_transitions")
    missing = [name for name in needed if not hasattr(crf, name)]
    if missing:
        raise InvalidInput(f"a torchcrf.CRF is needed, found {type(crf).__name__} without {missing[0]!r}.")
    return ChainScores(emission, crf.transitions, crf.start_transitions, crf.end_transitions, labels=labels)


class CrfsuiteScores:
    """Reads a `pycrfsuite.Tagger` once and scores sequences as it does.

    CRFsuite has no start and stop scores: those are zero. Its dump has six decimals.
    """

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
        """The scores of one sequence of attribute lists or {attribute: value}; unknown attributes weigh
        nothing."""
        emission = np.zeros((len(sequence), len(self.labels)))
        for row, item in zip(emission, sequence, strict=True):
            for attribute, value in _attributes(item):
                for label, weight in self._weights.get(attribute, ()):
                    row[label] += value * weight
        return ChainScores(emission, self._transition, labels=self.labels)


def _attributes(item: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """(attribute, value) pairs as python-crfsuite reads an item: a string counts each time it occurs."""
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
