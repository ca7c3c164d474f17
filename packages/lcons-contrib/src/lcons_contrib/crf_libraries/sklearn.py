"""A CRF of sklearn-crfsuite that decodes under constraints, in the style of scikit-learn.

    ConstrainedCRF(crf, constraints).fit(X, y).predict(X)

    predict:            argmax_y score(y) + soft penalties, under the hard constraints
    predict_marginals:  p(y_t = label), p(y) proportional to exp(score(y) + soft penalties) over the y that
                        break no hard constraint

The scores are those of the CRF, which `fit` trains as it is without constraints. If `constraints` is a
function, `fit` calls it with its labels: in cross-validation, constraints are then learned from the training
part alone.

CRFsuite writes its weights with six decimals, so labellings whose scores differ by less may be exchanged.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from lcons_contrib.crf_libraries._crfsuite import CrfsuiteScores
from lcons_core import InvalidInput
from lcons_decode import ChainConstraints, Scored, marginals
from lcons_decode._constraints import Constraint
from lcons_decode._stream import decode_scored

Labels = Sequence[Sequence[str]]


class ConstrainedCRF(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A `sklearn_crfsuite.CRF` under constraints.

    crf: the CRF; `fit` trains a copy of it.
    constraints: what decoders accept, or a function of the training labels that returns it.
    columns: for constraints that read a column such as "word" or "pos", the attribute of an item that has it,
        as in {"pos": "postag"}.

    After `fit`: `crf_` is the trained CRF, `constraints_` are the constraints, `classes_` the labels.
    """

    def __init__(
        self,
        crf: Any,
        constraints: Iterable[Constraint] | Callable[[Labels], Iterable[Constraint]] = (),
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.crf = crf
        self.constraints = constraints
        self.columns = columns

    def fit(self, X: Sequence[Any], y: Labels, **options: Any) -> Self:
        """Trains the CRF on sequences of items X and their labels y; `options` are passed to its `fit`."""
        self.crf_ = clone(self.crf).fit(X, y, **options)
        self._scores = CrfsuiteScores(self.crf_.tagger_)
        self.classes_ = self._scores.labels
        self.constraints_ = list(self.constraints(y) if callable(self.constraints) else self.constraints)
        ChainConstraints.of(self.constraints_, self.classes_)  # raises: a constraint on other labels
        return self

    def predict(self, X: Sequence[Any]) -> NDArray[np.object_]:
        """One list of labels per sequence, the best one under the constraints."""
        check_is_fitted(self)
        decodings = decode_scored(map(self._scored, X), self.constraints_)
        return _objects([list(decoding.y) for _, decoding in decodings])

    def predict_marginals(self, X: Sequence[Any]) -> NDArray[np.object_]:
        """For each sequence, the probability of each label at each position, under the local constraints."""
        check_is_fitted(self)
        named = ChainConstraints.of(self.constraints_, self.classes_).named
        local = ChainConstraints.of([*named.hard, *named.soft], self.classes_)
        rows = []
        for scored in map(self._scored, X):
            probabilities = marginals(scored.scores, local, scored.x or None).probability.tolist()
            rows.append([dict(zip(self.classes_, position, strict=True)) for position in probabilities])
        return _objects(rows)

    def score(self, X: Sequence[Any], y: Labels) -> float:
        """The share of the items whose label is right."""
        pairs = zip(y, self.predict(X), strict=True)
        right = [a == b for gold, labels in pairs for a, b in zip(gold, labels, strict=True)]
        return sum(right) / max(1, len(right))

    def _scored(self, xseq: Sequence[Any]) -> Scored:
        columns = {name: _column(xseq, attribute) for name, attribute in (self.columns or {}).items()}
        return Scored(self._scores.scores(xseq), columns)


def _column(xseq: Sequence[Any], attribute: str) -> tuple[str, ...]:
    values = [item.get(attribute) if isinstance(item, Mapping) else None for item in xseq]
    if not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"expected a text {attribute!r} in each item, as the setting `columns` states.")
    return tuple(map(str, values))


def _objects(rows: list[Any]) -> NDArray[np.object_]:
    """(N,) an array of lists, also if all have the same length."""
    objects = np.empty(len(rows), dtype=object)
    objects[:] = rows
    return objects
