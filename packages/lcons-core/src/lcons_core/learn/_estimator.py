"""`ConstraintLearner`: a scikit-learn style estimator that learns a rectifier network from labelled psi.

    ConstraintLearner(hidden=K).fit(X, y).network_      accepts psi  iff  1 - sum_k ReLU(a_k) >= 0

Equal examples are first folded into one with a weight (`_examples.py`). Several values of `hidden`,
`learning_rate`, `decay` or `penalty` are searched by cross-validation (`_search.py`); a single configuration
is trained directly (`_schedule.py`, `_population.py`). With restarts "auto" there are 32 restarts if the
number of distinct psi times K is small, fewer (halved repeatedly, at least 2) if it is large. Measured: a
single start with K = 2 recovers the source-relation pairs in 4 of 5 cases; that all of 32 fail practically
never happens. Cross-validation uses a quarter of the restarts.

Paper: Sec. 3 and Appendices B, C.3, D.2 and E.2: the hyper-parameters of Table 6 (synthetic), Table 8
(entities and relations), Table 12 (citation) and Table 13 (chunking). The optimizer is always Adam,
beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7. `decay` is the inverse-time decay of Keras, which also has this
epsilon: the rate at step t is rate / (1 + decay * t).

    ConstraintLearner(K, **GRID)

Differs from the paper: the tables of entity-relation and citation have no number of epochs; the grid uses
that of the other two. No table has the number of folds.

Not in the paper: several restarts trained together, class weights, tau, and the rounding of W and b to
multiples of 2^-20 (`_arithmetic.py`). All figures are those of the rounded network, which also predicts.

The module needs only numpy; `fit` needs torch. scikit-learn is imported only if it requests the tags.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import checked_array
from lcons_core._errors import INSTALL_TORCH, FitWarning, InvalidInput, MissingExtra, NotFitted
from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi, as_psi
from lcons_core._types import Bools, Floats
from lcons_core.learn._examples import fold_labelled

if TYPE_CHECKING:
    from lcons_core.learn._search import Outcome

AUTO = "auto"
AUTO_HIDDEN = (1, 2, 3, 5, 8, 10)
MOST_HIDDEN = 4096
MOST_WEIGHTS = 2**27
MOST_RESTARTS = 32
AUTO_WORK = 2**21
# Of Tables 6, 8 and 12. Table 13: rates 0.001, 0.005, 0.01 and 0.0001, no decay.
GRID: Mapping[str, Any] = MappingProxyType(
    {"learning_rate": (0.001, 0.01, 0.1), "decay": (0.0, 1e-7, 1e-6), "epochs": 1000}
)


@dataclass(frozen=True)
class Progress:
    """Loss and accuracy of the best member so far on the weighted examples; the number still in training."""

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    members: int


@dataclass(eq=False)
class ConstraintLearner:
    """Learns which psi are valid from examples with two labels.

    y is bool, 0/1 or -1/+1, where the larger label means valid. For all other labels, `valid` states the
    label of valid examples, here or in `fit`; here, so that scikit-learn's searches and cross-validation
    have it, too. It may be a function of both labels: with `max`, the larger means valid.

    hidden: K, several K to choose from, or "auto" (the smallest K within one standard error of the best).
    seed: the only source of randomness.
    restarts: the number of networks trained together, of which the best is kept; "auto": 32 for small data,
        down to 2 for large data.
    learning_rate, decay: of Adam; the rate is rate / (1 + decay * step). Of several values, cross-validation
        chooses one.
    epochs: the largest number of passes; training ends earlier if the examples are separated or nothing
        improves.
    class_weight: "balanced" (both labels have the same total weight), None, or {label: weight}.
    cv: the number of folds of cross-validation, if there are several configurations.
    patience: the number of checks (one every 10 steps, or one per epoch if that is longer) without
        improvement before the rate is reduced; training ends after three reductions.
    penalty: a number times half the sum of squared weights is added to the loss, in units of the mean squared
        length of psi. "auto": 0 if there are at least ten distinct psi per weight of the network (or fewer
        than 100 in all); otherwise the best of five on a held-out fifth of the examples, and, if psi is long,
        the better one of `learning_rate` and a tenth of it. Of several, cross-validation chooses one.
    robust: examples whose labels disagree with the others are set aside before learning (`_search.py`),
        unless one network separates all of them or nearly does; for data in which some labels are wrong.
    progress: called with a `Progress` at each check.

    After `fit`: `network_` (rounded, exact), `classes_` (ascending), `valid_` (the label that the network
    accepts), `n_features_in_`, `configuration_` (the chosen hidden, learning_rate and decay, and the penalty
    if there is one), `cv_results_` (`params` and their scores; None without cross-validation),
    `training_accuracy_` and `held_out_accuracy_` (with class weights; None if nothing was
    held out), and `set_aside_` (how many distinct examples). With penalty "auto", a fit that is poor, or much
    better than on held-out examples, is a `FitWarning` with both accuracies (`fit_warning_`).

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["ok", "ok", "ok", "wrong"]
    >>> learner = ConstraintLearner(hidden=1).fit(X, y, valid="ok")
    >>> learner.predict(X).tolist(), learner.network_.accepts(X).tolist(), learner.score(X, y)
    (['ok', 'ok', 'ok', 'wrong'], [True, True, True, False], 1.0)
    """

    hidden: int | Sequence[int] | str = 10
    _: KW_ONLY
    seed: int = 0
    restarts: int | str = AUTO
    learning_rate: float | Sequence[float] = 0.03
    decay: float | Sequence[float] = 0.0
    epochs: int = 1000
    class_weight: str | Mapping[Any, float] | None = "balanced"
    cv: int = 5
    patience: int = 10
    progress: Callable[[Progress], None] | None = None
    valid: Any = None
    penalty: float | Sequence[float] | str = AUTO
    robust: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, valid: Any = None) -> ConstraintLearner:
        """Learns `network_` from X (N, d) and two labels (N,); `valid`: the label of valid examples, if y is
        not bool, 0/1 or -1/+1 and the learner has no `valid`."""
        psi = checked_psi(X)
        labels, weights = _labels(y, len(psi)), _weights(sample_weight, len(psi))
        classes, place = two_classes(labels, self.valid if valid is None else valid)
        examples = fold_labelled(psi, labels == classes[place], weights)
        if not examples.weight.any(axis=0).all():
            raise InvalidInput("both classes need an example whose weight is not zero.")
        self.fit_folded(examples, classes, place)
        return self

    def fit_folded(self, examples: PsiRows, classes: NDArray[Any], place: int) -> Bools:
        """Learns from folded examples in canonical order; returns the verdict on each of them. The valid
        label is `classes[place]`."""
        outcome = _learn(self, examples, (classes[1 - place], classes[place]))
        self.network_ = outcome.trained.network
        self.classes_, self.valid_, self.n_features_in_ = classes, classes[place], examples.psi.d
        self.configuration_ = outcome.configuration
        self.cv_results_ = outcome.results
        self.training_accuracy_ = outcome.trained.accuracy
        self.held_out_accuracy_ = outcome.held_out
        self.set_aside_ = int((examples.weight > 0).sum() - (outcome.examples.weight > 0).sum())
        self.fit_warning_ = outcome.warning
        if outcome.warning is not None:
            warnings.warn(outcome.warning, FitWarning, stacklevel=3)
        if outcome.examples is examples:
            return outcome.trained.accepted
        return self.network_.accepts(examples.psi)

    def decision_function(self, X: Any) -> Floats:
        """(N,) values above 0 for `classes_[1]`, as scikit-learn expects: the margins of `network_`, with the
        other sign if `valid_` is `classes_[0]`. `network_.margin` is at least 0 for valid psi, always."""
        margin: Floats = self._network().margin(self._psi(X))
        return margin if self.valid_ == self.classes_[1] else -margin

    def predict(self, X: Any) -> NDArray[Any]:
        """(N,) predicted labels, decided exactly."""
        accepted = self._network().accepts(self._psi(X))
        labels: NDArray[Any] = self.classes_[(accepted == (self.valid_ == self.classes_[1])).astype(np.intp)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the examples, by weight, for which `predict` is right."""
        predicted = self.predict(X)
        right = predicted == _labels(y, len(predicted))
        return float(np.average(right, weights=_weights(sample_weight, len(right))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def set_params(self, **params: Any) -> ConstraintLearner:
        """Changes settings by name."""
        for name, value in params.items():
            if name not in self.get_params():
                raise InvalidInput(f"unknown setting {name!r}; use one of {', '.join(self.get_params())}.")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(sparse=True),
        )

    def _network(self) -> RectifierNetwork:
        if not hasattr(self, "network_"):
            raise NotFitted("this ConstraintLearner is not fitted yet; call fit(X, y) first.")
        return self.network_

    def _psi(self, X: Any) -> Any:
        psi = checked_psi(X)
        if psi.d != self.n_features_in_:
            raise InvalidInput(f"X has {psi.d} columns, but the learner expects {self.n_features_in_}.")
        return psi if isinstance(X, SparsePsi) or hasattr(X, "tocsr") else psi.dense()


def _learn(learner: ConstraintLearner, examples: PsiRows, labels: tuple[Any, Any]) -> Outcome:
    """The result of the search, after a check of the settings."""
    hidden = hidden_values(learner.hidden, examples.psi.d)
    rates = _numbers("learning_rate", learner.learning_rate, positive=True)
    decays = _numbers("decay", learner.decay)
    penalties = None if _is_auto("penalty", learner.penalty) else _numbers("penalty", learner.penalty)
    several = max(map(len, (hidden, rates, decays, penalties or ()))) > 1
    restarts = _restarts(learner.restarts, len(examples))
    progress = learner.progress
    try:
        from lcons_core.learn import _search
    except ImportError as error:
        raise MissingExtra(f"learning needs torch ({error}); run: {INSTALL_TORCH}") from error
    search = _search.Search(
        examples,
        _class_weights(learner.class_weight, labels),
        restarts,
        # There are many members in cross-validation, and they are only compared.
        lambda K: max(restarts(K) // (4 if learner.restarts == AUTO else 1), 1),
        whole("cv", learner.cv, 2) if several or learner.robust else 2,
        whole("epochs", learner.epochs),
        whole("patience", learner.patience),
        whole("seed", learner.seed, 0),
        None if progress is None else lambda *step: progress(Progress(*step)),
    )
    grid = _search.Grid(hidden, rates, decays, penalties, smallest=learner.hidden == AUTO)
    # Networks narrower than the final one may be enough to recognise wrong labels.
    widths = [*AUTO_HIDDEN, *(K for K in hidden if AUTO_HIDDEN[-1] < K)]
    return _search.learn(search, grid, widths if learner.robust else ())


def _is_auto(name: str, value: Any) -> bool:
    if isinstance(value, str) and value != AUTO:
        raise InvalidInput(f'{name} must be a number or "auto", found {value!r}.')
    return isinstance(value, str)


def hidden_values(hidden: Any, d: int) -> list[int]:
    """The distinct K to choose from, ascending."""
    if _is_auto("hidden", hidden):
        return list(AUTO_HIDDEN)
    values = list(hidden) if isinstance(hidden, (Sequence, np.ndarray)) else [hidden]
    if not values:
        raise InvalidInput("hidden must contain at least one K, found none; pass K.")
    for K in values:
        if whole("hidden", K) > min(MOST_HIDDEN, MOST_WEIGHTS // (d + 1)):
            raise InvalidInput(f"hidden must be at most {MOST_HIDDEN} and K * d at most 2^27, found K = {K}.")
    return sorted({int(K) for K in values})


def _restarts(restarts: Any, distinct: int) -> Callable[[int], int]:
    """The number of restarts for K hidden units."""
    if _is_auto("restarts", restarts):
        return lambda K: min(MOST_RESTARTS, max(2, 2 ** int(math.log2(AUTO_WORK / (distinct * K) + 1))))
    number = whole("restarts", restarts)
    return lambda _: number


def _class_weights(weights: Any, labels: tuple[Any, Any]) -> tuple[float, float] | None:
    """(invalid, valid) weights of these two labels, or None for balanced."""
    if weights is None:
        return (1.0, 1.0)
    if isinstance(weights, str) and weights == "balanced":
        return None
    if not isinstance(weights, Mapping):
        raise InvalidInput(f'class_weight must be "balanced", None or {{label: weight}}, found {weights!r}.')
    low, high = _numbers("class_weight", [weights.get(label, 1.0) for label in labels], positive=True)
    return low, high


def _numbers(name: str, value: Any, positive: bool = False) -> list[float]:
    """One or several finite numbers, above 0 or at least 0, as a list."""
    values = list(value) if isinstance(value, (Sequence, np.ndarray)) else [value]
    for number in values:
        real = isinstance(number, (int, float, np.integer, np.floating))
        if not real or not math.isfinite(number) or number < 0 or (positive and number == 0):
            least = "above 0" if positive else "at least 0"
            raise InvalidInput(f"{name} must be finite and {least}, found {number!r}.")
    if not values:
        raise InvalidInput(f"{name} must have at least one value, found none.")
    return [float(number) for number in values]


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, found {value!r}.")
    return int(value)


def checked_psi(X: Any) -> SparsePsi:
    """X as a `SparsePsi`, checked to be two-dimensional, numeric, finite and not empty."""
    if not isinstance(X, SparsePsi):
        matrix = X if hasattr(X, "tocsr") else checked_array(X, "X", 2)
        X = as_psi(matrix, int(matrix.shape[-1]))
    psi = X if isinstance(X, SparsePsi) else SparsePsi.from_dense(X)
    if not len(psi) or not psi.d:
        raise InvalidInput(f"X needs a row and a column, found {len(psi)} rows and {psi.d} columns.")
    return psi


def _labels(y: Any, number: int) -> NDArray[Any]:
    """y as an array of `number` labels."""
    labels = np.asarray(y)
    if labels.shape != (number,):
        raise InvalidInput(f"y must have one label for each of {number} examples, found {labels.shape}.")
    return labels


def _weights(sample_weight: Any, number: int) -> Floats:
    """(number,) finite, non-negative weights; ones if `sample_weight` is None."""
    weights = np.ones(number) if sample_weight is None else checked_array(sample_weight, "sample_weight", 1)
    if weights.shape != (number,) or (weights < 0).any():
        raise InvalidInput(f"sample_weight must be {number} numbers of at least 0, found others.")
    return weights


def two_classes(labels: NDArray[Any], valid: Any = None) -> tuple[NDArray[Any], int]:
    """(classes, place): the two distinct labels in ascending order, and the place of the valid one. Without
    `valid`, they must be bool, 0/1 or -1/+1, because no order of other labels shows which one is meant.

    >>> two_classes(np.array(["infeasible", "feasible"]), valid="feasible")
    (array(['feasible', 'infeasible'], dtype='<U10'), 0)
    """
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InvalidInput("y must have labels of one type, found several; use numbers or strings.") from None
    if len(classes) != 2:
        raise InvalidInput(f"y must have two labels, valid and invalid, found {len(classes)} class(es).")
    low, high = classes.tolist()
    if valid is None:
        if [low, high] in ([0, 1], [-1, 1]):
            return classes, 1
        raise InvalidInput(f"y must be bool, 0/1 or -1/+1, got {low!r} and {high!r}; pass valid={high!r}.")
    stated = valid((low, high)) if callable(valid) else valid
    if stated not in (low, high):
        raise InvalidInput(f"expected `valid` to be {low!r} or {high!r}, found {stated!r}.")
    return classes, int(stated == high)
