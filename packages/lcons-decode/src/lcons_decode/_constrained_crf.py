"""A CRF of sklearn-crfsuite that decodes under constraints, in the style of scikit-learn.

    ConstrainedCRF(crf, constraints).fit(X, y).predict(X)

    predict:            argmax_y score(y) + soft penalties, under the hard constraints
    predict_marginals:  p(y_t = label), p(y) proportional to exp(score(y) + soft penalties) over the y that
                        break no hard constraint

The scores are those of the CRF, which `fit` trains as it is without constraints. If `constraints` is a
function, `fit` calls it with its labels: in cross-validation, constraints are then learned from the training
part alone.

scikit-learn and sklearn-crfsuite are not imported here; their objects are read. CRFsuite writes its weights
with six decimals, so labellings whose scores differ by less may be exchanged.

Not in the paper.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, NotFitted
from lcons_decode._adapters import CrfsuiteScores
from lcons_decode._constraints import Constraint
from lcons_decode._scores import Scored
from lcons_decode._stream import decode_scored
from lcons_decode.chains._marginals import marginals
from lcons_decode.chains._windows import ChainConstraints

Labels = Sequence[Sequence[str]]
Given = Iterable[Constraint] | Callable[[Labels], Iterable[Constraint]]


class ConstrainedCRF:
    """A `sklearn_crfsuite.CRF` under constraints.

    crf: the CRF; `fit` trains a copy of it.
    constraints: what decoders accept, or a function of the training labels that returns it.
    columns: for constraints that read a column such as "word" or "pos", the attribute of an item that has it,
        as in {"pos": "postag"}.

    After `fit`: `crf_` is the trained CRF, `constraints_` are the constraints, `classes_` the labels.
    """

    def __init__(self, crf: Any, constraints: Given = (), columns: Mapping[str, str] | None = None) -> None:
        self.crf = crf
        self.constraints = constraints
        self.columns = columns

    def fit(self, X: Sequence[Any], y: Labels, **options: Any) -> Self:
        """Trains the CRF on sequences of items X and their labels y; `options` are passed to its `fit`."""
        if not all(hasattr(self.crf, name) for name in ("fit", "tagger_", "get_params")):
            raise InvalidInput(
                f"expected a sklearn_crfsuite.CRF, found {type(self.crf).__name__}; pass one as `crf`."
            )
        self.crf_: Any = type(self.crf)(**copy.deepcopy(self.crf.get_params(deep=False)))
        self.crf_.fit(X, y, **options)
        self._read(list(self.constraints(y)) if callable(self.constraints) else list(self.constraints))
        return self

    def predict(self, X: Sequence[Any]) -> NDArray[np.object_]:
        """One list of labels per sequence, the best one under the constraints."""
        scored = map(self._scored, X)
        return _objects([list(found.y) for _, found in decode_scored(scored, self._fitted().constraints_)])

    def predict_single(self, xseq: Any) -> list[str]:
        """The labels of one sequence."""
        return list(self.predict([xseq])[0])

    def predict_marginals(self, X: Sequence[Any]) -> NDArray[np.object_]:
        """For each sequence, the probability of each label at each position, under the local constraints."""
        return _objects([self.predict_marginals_single(xseq) for xseq in X])

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The probability of each label at each position of one sequence."""
        scored = self._fitted()._scored(xseq)
        found = marginals(scored.scores, self._local, scored.x or None).probability
        return [dict(zip(scored.scores.labels, row, strict=True)) for row in found.tolist()]

    def score(self, X: Sequence[Any], y: Labels) -> float:
        """The share of the items whose label is right."""
        pairs = [
            pair
            for gold, found in zip(y, self.predict(X), strict=True)
            for pair in zip(gold, found, strict=True)
        ]
        return sum(a == b for a, b in pairs) / max(1, len(pairs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; with `deep`, those of the CRF as `crf__NAME`, too."""
        own = {
            name: getattr(self, name)
            for name in inspect.signature(type(self).__init__).parameters
            if name != "self"
        }
        if not deep:
            return own
        return {**own, **{f"crf__{name}": value for name, value in self.crf.get_params().items()}}

    def set_params(self, **params: Any) -> Self:
        """Changes settings by name; `crf__NAME` is a setting of the CRF."""
        known = self.get_params()
        unknown = sorted(set(params) - set(known))
        if unknown:
            raise InvalidInput(f"unknown setting {unknown[0]!r}; the settings are {', '.join(known)}.")
        for name, value in params.items():
            inner = name.removeprefix("crf__")
            if inner == name:
                setattr(self, name, value)
            else:
                self.crf.set_params(**{inner: value})
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.crf!r}, {self.constraints!r})"

    def __getstate__(self) -> dict[str, Any]:
        """The settings and the trained CRF; what is read from it is read again."""
        return {name: value for name, value in vars(self).items() if name not in ("_scores", "_local")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "crf_" in state:
            self._read(state["constraints_"])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "crf_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        # Labels are sequences, so that scikit-learn's kinds of estimators do not apply.
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, dict=True),
        )

    def _read(self, constraints: list[Constraint]) -> None:
        self._scores = CrfsuiteScores(self.crf_.tagger_)
        self.classes_: tuple[str, ...] = self._scores.labels
        self.constraints_ = constraints
        named = ChainConstraints.of(constraints, self.classes_).named
        self._local = ChainConstraints.of([*named.hard, *named.soft], self.classes_)

    def _fitted(self) -> Self:
        if not hasattr(self, "crf_"):
            raise NotFitted(f"this {type(self).__name__} is not fitted yet; call `fit` first.")
        return self

    def _scored(self, xseq: Sequence[Any]) -> Scored:
        scores = self._fitted()._scores.scores(xseq)
        return Scored(scores, {name: _column(xseq, own) for name, own in (self.columns or {}).items()})


def _column(xseq: Sequence[Any], attribute: str) -> tuple[str, ...]:
    found = [item.get(attribute) if isinstance(item, Mapping) else None for item in xseq]
    if not all(isinstance(value, str) for value in found):
        raise InvalidInput(
            f"expected a text {attribute!r} in each item, as the setting `columns` states, found an item"
            " without it; write items as {attribute: value}."
        )
    return tuple(map(str, found))


def _objects(rows: list[Any]) -> NDArray[np.object_]:
    """(N,) an array of lists, also if all have the same length."""
    found = np.empty(len(rows), dtype=object)
    found[:] = rows
    return found
