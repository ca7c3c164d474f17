"""The inputs X, y and sample_weight of a learner: checked once, and equal examples folded into weights.

X is an array, a scipy.sparse matrix or a `SparsePsi`, and becomes a `SparsePsi`; sample_weight is
non-negative. scikit-learn is not imported here; if the caller has imported it, errors and warnings also have
scikit-learn's types, so that its tools recognise them.

y has two distinct labels, and `valid` states which of them means valid: the label itself, or a function of
both such as `max`. Without it, y must be bool, 0/1 or -1/+1, and the larger label means valid. Of other
labels, such as "feasible" and "infeasible", no order can tell which one is meant, so they are refused.

A learner gets each distinct psi once, with one weight as an invalid and one as a valid example:

    weight[i, VALID] = sum of the weights of the valid examples equal to psi[i],   INVALID likewise

in an order that depends only on the vectors. So training is bit for bit the same if an example has weight 2
or occurs twice, has weight 0 or is absent, and for any order of the examples. A vector that occurs with both
labels keeps both weights.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import InvalidInput, NotFitted
from lcons_core._psi import PsiRows, SparsePsi, as_psi
from lcons_core._types import Floats, Ints

# The columns of weights.
INVALID, VALID = 0, 1


def fold_labelled(psi: SparsePsi, is_valid: NDArray[np.bool_], weights: Floats) -> PsiRows:
    """Distinct psi in canonical order, with the total weight of each label (N, 2)."""
    present = np.flatnonzero(weights != 0)
    keys = psi.row_keys()
    first: dict[bytes, int] = {}
    owner = np.fromiter((first.setdefault(keys[i], int(i)) for i in present.tolist()), np.int64, len(present))
    rows = np.array([first[key] for key in sorted(first)], dtype=np.int64)
    rank = np.empty(len(psi), dtype=np.int64)
    rank[rows] = np.arange(len(rows))
    # Weights ascend within a vector, because float sums must not depend on the order of the examples.
    order = np.argsort(weights[present], kind="stable")
    present, owner = present[order], rank[owner[order]]
    label, weight = is_valid[present], weights[present]
    totals = [_totals(owner[side], weight[side], len(rows)) for side in (~label, label)]
    return PsiRows.of(psi.take(rows), weight=np.stack(totals, axis=1))


def accuracy(weight: Floats, accepted: NDArray[np.bool_]) -> float:
    """The share, by weights (N, 2), of the examples for which a verdict (N,) on their psi is right."""
    invalid, valid = np.ascontiguousarray(weight.T)
    # Computed from the errors, so that no errors means exactly 1.0 for all weights.
    wrong = valid[~accepted].sum() + invalid[accepted].sum()
    return float(1.0 - wrong / (valid.sum() + invalid.sum()))


def _totals(owner: Ints, weight: Floats, number: int) -> Floats:
    return np.bincount(owner, weight, minlength=number).astype(np.float64)


class WrongType(InvalidInput, TypeError):
    """An entry is not a number."""


def checked_psi(X: Any) -> SparsePsi:
    """X as a `SparsePsi`, checked to be two-dimensional, numeric and finite."""
    if isinstance(X, SparsePsi):
        return _not_empty(X)
    sparse = hasattr(X, "tocsr")
    array: Any = X.tocsr() if sparse else _as_array(X)
    if array.ndim != 2:
        raise InvalidInput(
            f"Expected 2D array, got {array.ndim}D array instead: X must be (examples, columns), found shape"
            f" {array.shape}. Reshape your data, with X.reshape(1, -1) for a single example."
        )
    if np.iscomplexobj(array.data if sparse else array):
        raise InvalidInput("Complex data not supported: X must be real; pass its real part.")
    entries = _numbers(array.data if sparse else array)
    if not np.isfinite(entries).all():
        raise InvalidInput(
            f"X must be finite, found {int((~np.isfinite(entries)).sum())} NaN or infinity value(s);"
            " replace or drop them."
        )
    if not array.shape[1]:
        raise InvalidInput(
            f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required; pass at"
            " least one column of psi."
        )
    if sparse:
        psi = as_psi(array, int(array.shape[1]))
        assert isinstance(psi, SparsePsi)
        return _not_empty(psi)
    return _not_empty(SparsePsi.from_dense(entries))


def checked_labels(y: Any, number: int) -> NDArray[Any]:
    """y as a one-dimensional array of `number` labels."""
    if y is None:
        raise InvalidInput(
            "This learner requires y to be passed, but the target y is None; pass one of two labels per"
            " example."
        )
    labels = y if isinstance(y, np.ndarray) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel().",
            _sklearn_kind("DataConversionWarning", UserWarning),
            stacklevel=3,
        )
        labels = labels.ravel()
    if labels.ndim != 1 or len(labels) != number:
        raise InvalidInput(
            f"y must have one label per example, found shape {labels.shape} for {number} example(s);"
            " pass a one-dimensional y as long as X."
        )
    if labels.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: y must be two labels; pass numbers or strings.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise InvalidInput(
                "Input y contains NaN or Input y contains infinity or a value too large for"
                " dtype('float64').; pass two finite labels."
            )
        if (labels != np.rint(labels)).any():
            raise InvalidInput(
                "Unknown label type: continuous. y must have two labels, found fractions; pass classes."
            )
    return labels


# Labels whose larger one means valid without being stated; False and True equal 0 and 1.
UNDERSTOOD = ([0, 1], [-1, 1])


def two_classes(labels: NDArray[Any], valid: Any = None) -> tuple[NDArray[Any], int]:
    """(classes, place): the two distinct labels in ascending order, and the place of the valid one.

    >>> two_classes(np.array(["infeasible", "feasible"]), valid="feasible")
    (array(['feasible', 'infeasible'], dtype='<U10'), 0)
    """
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidInput(
            "y must have labels of one type, found types that cannot be compared; use two numbers or two"
            " strings."
        ) from None
    if len(classes) > 2:
        raise InvalidInput(
            "Only binary classification is supported. The type of the target is multiclass: found"
            f" {len(classes)} labels; pass two, valid and invalid."
        )
    if len(classes) < 2:
        raise InvalidInput(
            f"y must have two classes, found 1 class ({classes[:1].tolist()}); a constraint is learned from"
            " valid and invalid examples: add examples of the other class."
        )
    low, high = classes.tolist()
    if valid is None:
        if [low, high] in UNDERSTOOD:
            return classes, 1
        raise InvalidInput(
            f"expected y of bool, 0/1 or -1/+1, or the argument `valid`, found the labels {low!r} and"
            f" {high!r}; pass `valid={low!r}` for a network that accepts {low!r} and rejects {high!r}, or"
            f" `valid={high!r}` for one that accepts {high!r} and rejects {low!r}."
        )
    stated = valid((low, high)) if callable(valid) else valid
    places = [place for place, label in enumerate((low, high)) if label == stated]
    if len(places) != 1:
        raise InvalidInput(
            f"expected `valid` to be one of the labels {low!r} and {high!r}, found {stated!r}; pass the label"
            " of the valid examples."
        )
    return classes, places[0]


def checked_weights(sample_weight: Any, number: int) -> Floats:
    """(number,) finite, non-negative weights; ones if `sample_weight` is None."""
    if sample_weight is None:
        return np.ones(number)
    weights = _numbers(np.asarray(sample_weight))
    if weights.ndim == 0:
        weights = np.full(number, float(weights))
    if weights.shape != (number,):
        raise InvalidInput(
            f"sample_weight must have one entry per example, found shape {weights.shape} for {number}"
            " example(s); pass a one-dimensional array as long as X."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInput(
            "sample_weight must be finite and not negative, found other values; clip or drop them."
        )
    return weights


def not_fitted(name: str) -> NotFitted:
    """The error of a learner that is used before `fit`; also of scikit-learn's type, if that is loaded."""
    kind = _not_fitted_kind(_sklearn_kind("NotFittedError", NotFitted))
    return kind(f"this {name} is not fitted yet (it has no network_); call fit(X, y) first.")


@cache
def _not_fitted_kind(theirs: Any) -> type[NotFitted]:
    return NotFitted if theirs is NotFitted else type("NotFitted", (NotFitted, theirs), {})


def _sklearn_kind(name: str, otherwise: Any) -> Any:
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)


def _as_array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise InvalidInput(
            f"X must be a rectangular array of numbers, found rows of different lengths ({error}); pad or"
            " drop them."
        ) from None


def _numbers(array: NDArray[Any]) -> Floats:
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = WrongType if isinstance(error, TypeError) else InvalidInput
        raise kind(
            f"X and its weights must be numbers, found an entry that is not a number ({error}); encode it as"
            " columns of psi."
        ) from None


def _not_empty(psi: SparsePsi) -> SparsePsi:
    if not len(psi) or not psi.d:
        raise InvalidInput(
            f"Found array with {len(psi)} sample(s) and {psi.d} column(s) while a minimum of 1 is required;"
            " pass at least one example."
        )
    return psi
