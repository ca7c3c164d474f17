"""`ConstraintLearner`: a scikit-learn style estimator that learns a rectifier network from labelled psi.

    ConstraintLearner(hidden=K).fit(X, y).network_      accepts psi  iff  1 - sum_k ReLU(a_k) >= 0

Paper: Sec. 3 and the hyper-parameters of the appendices (`_settings.py`).

Equal examples are first folded into one with a weight (`_inputs.py`). Several values of `hidden`,
`learning_rate` or `decay` are searched by cross-validation (`_search.py`); a single configuration is trained
directly (`_schedule.py`, `_population.py`).

Not in the paper: several restarts trained together, class weights, tau, and the rounding of W and b to
multiples of 2^-20 (`_arithmetic.py`). All figures are those of the rounded network, which also predicts.

The module needs only numpy; `fit` needs torch. scikit-learn is imported only if it requests the tags.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import FitWarning, InvalidInput, MissingExtra
from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._types import Floats
from lcons_core.learn._examples import LabelledExamples
from lcons_core.learn._inputs import (
    checked_labels,
    checked_psi,
    checked_weights,
    fold_labelled,
    not_fitted,
    two_classes,
)
from lcons_core.learn._scale import Scaling
from lcons_core.learn._settings import (
    AUTO_HIDDEN,
    LEAST_HELD_OUT,
    PENALTIES,
    POOR,
    Progress,
    class_weights_of,
    few,
    hidden_values,
    numbers,
    penalties_of,
    restarts_for,
    warning_of,
    whole,
)

if TYPE_CHECKING:
    from lcons_core.learn._search import Configuration

AUTO = "auto"
# Above this mean squared length of psi, a tenth of the learning rate is tried, too: one step of Adam moves an
# activation by the rate times the sum of |psi|.
LONG = 100.0
HELD_OUT_FOLDS = 5


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
    temperature: tau in sigmoid(tau * margin); the set that a network describes does not depend on it.
    patience: the number of checks (one every 10 steps, or one per epoch if that is longer) without
        improvement before the rate is reduced; training ends after three reductions.
    penalty: a number times half the sum of squared weights is added to the loss, in units of the mean squared
        length of psi. "auto": 0 if there are at least ten distinct psi per weight of the network (or fewer
        than 100 in all); otherwise the best of five on a held-out fifth of the examples, and, if psi is long,
        the better one of `learning_rate` and a tenth of it. Of several, cross-validation chooses one.
    robust: examples whose labels disagree with the others are set aside before learning (`_noise.py`), unless
        one network separates all of them or nearly does; for data in which some labels are wrong.
    batch_size: None: all at once for up to 2048 distinct vectors, otherwise 1024 at a time.
    progress: called with a `Progress` at each check.

    After `fit`: `network_` (rounded, exact), `classes_` (ascending), `valid_` (the label that the network
    accepts), `n_features_in_`, `configuration_` (the chosen hidden, learning_rate and decay, and the penalty
    if there is one), `history_` (all `Progress` of the final training), `cv_results_` (None without
    cross-validation), `training_accuracy_` and `held_out_accuracy_` (with class weights; None if nothing was
    held out), and `set_aside_` (how many distinct examples). With penalty "auto", a fit that is poor, or much
    better than on held-out examples, is a `FitWarning` with both accuracies (`fit_warning_`).

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["ok", "ok", "ok", "wrong"]
    >>> learner = ConstraintLearner(hidden=1).fit(X, y, valid="ok")
    >>> learner.predict(X).tolist(), learner.network_.accepts(X).tolist(), learner.score(X, y)
    (['ok', 'ok', 'ok', 'wrong'], [True, True, True, False], 1.0)
    """

    def __init__(
        self,
        hidden: int | Sequence[int] | str = 10,
        *,
        seed: int = 0,
        restarts: int | str = "auto",
        learning_rate: float | Sequence[float] = 0.03,
        decay: float | Sequence[float] = 0.0,
        epochs: int = 1000,
        class_weight: str | Mapping[Any, float] | None = "balanced",
        cv: int = 5,
        temperature: float = 4.0,
        patience: int = 10,
        batch_size: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        valid: Any = None,
        penalty: float | Sequence[float] | str = "auto",
        robust: bool = False,
    ) -> None:
        self.hidden = hidden
        self.seed = seed
        self.restarts = restarts
        self.learning_rate = learning_rate
        self.decay = decay
        self.epochs = epochs
        self.class_weight = class_weight
        self.cv = cv
        self.temperature = temperature
        self.patience = patience
        self.batch_size = batch_size
        self.progress = progress
        self.valid = valid
        self.penalty = penalty
        self.robust = robust

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, valid: Any = None) -> ConstraintLearner:
        """Learns `network_` from X (N, d) and two labels (N,); `valid`: the label of valid examples, if y is
        not bool, 0/1 or -1/+1 and the learner has no `valid`."""
        psi = checked_psi(X)
        labels = checked_labels(y, len(psi))
        classes, place = two_classes(labels, self.valid if valid is None else valid)
        is_valid = labels == classes[place]
        weights = checked_weights(sample_weight, len(psi))
        examples = fold_labelled(psi, is_valid, weights)
        if not examples.weight.any(axis=0).all():
            raise InvalidInput(
                "both classes must have an example of positive weight, found a label with only zero weights;"
                " give some of its examples a positive weight."
            )
        found = _learn(self, examples, (classes[1 - place], classes[place]))
        self.network_: RectifierNetwork = found.network
        self.configuration_: dict[str, Any] = found.configuration
        self.history_: tuple[Progress, ...] = found.history
        self.cv_results_: dict[str, Any] | None = found.results
        self.training_accuracy_: float = found.training
        self.held_out_accuracy_: float | None = found.held_out
        self.set_aside_: int = found.set_aside
        self.classes_: NDArray[Any] = classes
        self.valid_: Any = classes[place]
        self.n_features_in_: int = psi.d
        self.fit_warning_: str | None = None
        if self.penalty == AUTO:
            self.fit_warning_ = warning_of(found.training, found.held_out)
        if self.fit_warning_ is not None:
            warnings.warn(self.fit_warning_, FitWarning, stacklevel=2)
        return self

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
        right = predicted == checked_labels(y, len(predicted))
        return float(np.average(right, weights=checked_weights(sample_weight, len(right))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> ConstraintLearner:
        """Changes settings by name."""
        unknown = sorted(set(params) - set(self._defaults()))
        if unknown:
            raise InvalidInput(
                f"unknown setting {unknown[0]!r}; the settings are {', '.join(self._defaults())}."
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

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

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def _network(self) -> RectifierNetwork:
        if not hasattr(self, "network_"):
            raise not_fitted(type(self).__name__)
        return self.network_

    def _psi(self, X: Any) -> Any:
        psi = checked_psi(X)
        if psi.d != self.n_features_in_:
            raise InvalidInput(
                f"X has {psi.d} features, but {type(self).__name__} is expecting {self.n_features_in_}"
                " features as input; use the space that the constraint was learned on."
            )
        return psi if isinstance(X, SparsePsi) or hasattr(X, "tocsr") else psi.dense()


@dataclass(frozen=True)
class _Found:
    """The network, the chosen configuration, the history of its training, the scores of all, and figures."""

    network: RectifierNetwork
    configuration: dict[str, Any]
    history: tuple[Progress, ...]
    results: dict[str, Any] | None
    training: float
    held_out: float | None
    set_aside: int


def _learn(learner: ConstraintLearner, examples: PsiRows, labels: tuple[Any, Any]) -> _Found:
    """Checks the settings; sets examples aside (robust), chooses the penalty, then the others, and trains."""
    hidden = hidden_values(learner.hidden, examples.psi.d)
    rates = numbers("learning_rate", learner.learning_rate, positive=True)
    decays = numbers("decay", learner.decay, positive=False)
    seed = whole("seed", learner.seed, 0)
    restarts = restarts_for(learner.restarts, len(examples))
    penalties = penalties_of(learner.penalty)
    class_weights = class_weights_of(learner.class_weight, labels)
    epochs, patience = whole("epochs", learner.epochs, 1), whole("patience", learner.patience, 1)
    temperature = numbers("temperature", learner.temperature, positive=True)[0]
    size = None if learner.batch_size is None else whole("batch_size", learner.batch_size, 1)
    try:
        from lcons_core.learn import _noise as noise
        from lcons_core.learn import _schedule as training
        from lcons_core.learn import _search as selection
    except ImportError as error:
        raise MissingExtra(
            f"learning needs torch, which cannot be imported ({error}); run: pip install torch."
        ) from error
    settings = training.Settings(epochs, temperature, patience, size)

    def held_out(configurations: list[Configuration]) -> Floats:
        """The accuracy of each configuration on a held-out fifth."""
        split = (examples, configurations, 1, HELD_OUT_FOLDS, class_weights, settings, seed, learner.progress)
        return selection.cross_validate(*split, tested=1)[:, 0]

    if learner.robust:
        # Cross-validation has the narrower ones, because the final training may have more units than needed.
        widths = [*AUTO_HIDDEN, *(K for K in hidden if AUTO_HIDDEN[-1] < K)]
        trials = selection.grid(widths, rates[:1], decays[:1])
        widest = trials[-1]
        weighed = selection.weigh(examples, class_weights)
        one = training.train(
            weighed, widest.members(0, restarts(widest.hidden)), settings, seed, learner.progress
        )
        if noise.contradicts(one[0].network, examples):
            examples = noise.set_aside(
                examples, trials, whole("cv", learner.cv, 2), settings, seed, learner.progress
            )
    apart: float | None = None
    divisible = len(examples) >= LEAST_HELD_OUT and selection.rarer(examples) >= HELD_OUT_FOLDS
    if penalties is None and divisible and few(len(examples), max(hidden) * (examples.psi.d + 1)):
        slow = [rates[0] / 10] if len(rates) == 1 and _mean_square(examples) > LONG else []
        trials = selection.grid(hidden[-1:], [*rates[:1], *slow], decays[:1], PENALTIES)
        scores = held_out(trials)
        best = int(np.argmax(scores))
        apart, penalties = float(scores[best]), [trials[best].penalty]
        if len(rates) == 1:
            rates = [trials[best].learning_rate]
    configurations = selection.grid(hidden, rates, decays, [0.0] if penalties is None else penalties)
    chosen, results = configurations[0], None
    if len(configurations) > 1:
        # There are many members here and they are only compared; the winner has all its restarts below.
        fewer = 4 if learner.restarts == "auto" else 1
        scores = selection.cross_validate(
            examples,
            configurations,
            lambda K: max(restarts(K) // fewer, 1),
            whole("cv", learner.cv, 2),
            class_weights,
            settings,
            seed,
            learner.progress,
        )
        winner = selection.choose(configurations, scores, smallest=learner.hidden == "auto")
        chosen = configurations[winner]
        results = _results(configurations, scores, winner)
        apart = float(scores[winner].mean())
    history: list[Progress] = []

    def record(progress: Progress) -> None:
        history.append(progress)
        if learner.progress is not None:
            learner.progress(progress)

    found = training.train(
        selection.weigh(examples, class_weights),
        chosen.members(0, restarts(chosen.hidden)),
        settings,
        seed,
        record,
    )
    right = found[0].accuracy
    if learner.penalty == AUTO and apart is None and right < POOR and divisible:
        apart = float(held_out([chosen])[0])
    dropped = int((weighed.weight > 0).sum() - (examples.weight > 0).sum()) if learner.robust else 0
    return _Found(found[0].network, _described(chosen), tuple(history), results, right, apart, dropped)


def _described(configuration: Configuration) -> dict[str, Any]:
    """The configuration as plain data; the penalty only if there is one, and no noise, which is only assumed
    while examples are set aside."""
    omitted = {"noise"} if configuration.penalty else {"noise", "penalty"}
    return {name: value for name, value in vars(configuration).items() if name not in omitted}


def _mean_square(examples: PsiRows) -> float:
    """The mean squared length of psi as it is trained on."""
    return float((Scaling.of(examples.psi).apply(examples.psi).values ** 2).sum() / len(examples))


def accept_everything(learner: ConstraintLearner, d: int) -> None:
    """Sets the results of a learner as if it had learned that all vectors of d columns are valid."""
    hidden_values(learner.hidden, d)
    learner.network_ = RectifierNetwork(np.zeros((1, d)), [0.0])
    learner.configuration_ = {"hidden": 1, "learning_rate": 0.0, "decay": 0.0}
    learner.history_ = ()
    learner.cv_results_ = None
    learner.classes_ = np.array([False, True])
    learner.valid_ = learner.classes_[1]
    learner.n_features_in_ = d
    learner.training_accuracy_ = 1.0
    learner.held_out_accuracy_ = None
    learner.set_aside_ = 0
    learner.fit_warning_ = None


def _results(configurations: Sequence[Any], scores: Floats, winner: int) -> dict[str, Any]:
    """Scores per configuration, with the names that scikit-learn's searches use."""
    return {
        "params": [_described(configuration) for configuration in configurations],
        "split_test_score": scores,
        "mean_test_score": scores.mean(1),
        "std_test_score": scores.std(1),
        "best_index": winner,
    }


# Multiplications per second of one core, measured for learning from sparse psi.
SPEED = 2.5e8


def estimate_seconds(examples: LabelledExamples, learner: ConstraintLearner) -> float:
    """The approximate time of learning on one free core if it does not end early, though it mostly does."""
    psi, _, _ = examples.matrix()
    hidden = hidden_values(learner.hidden, psi.d)
    restarts = restarts_for(learner.restarts, len(examples))
    entries = (psi.indices.size + len(psi)) * learner.epochs / SPEED
    penalties = 1 if isinstance(learner.penalty, str) else len(np.atleast_1d(learner.penalty))
    grid = len(np.atleast_1d(learner.learning_rate)) * len(np.atleast_1d(learner.decay)) * penalties
    # Half of the restarts end after 200 steps, half of the rest after 400, ...: a third of all steps.
    seconds = entries * max(K * restarts(K) for K in hidden) / 3
    if grid * len(hidden) > 1:
        seconds += entries * grid * learner.cv * sum(K * max(restarts(K) // 4, 1) for K in hidden) / 3
    return float(seconds)
