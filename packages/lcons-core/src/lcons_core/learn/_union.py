"""`UnionLearner`: learns a union of rectifier networks, with the number of members chosen on held-out data.

    accepts psi  iff  max_m margin_m(psi) >= 0,      margin_m = 1 - sum_k ReLU(a_mk)

One network accepts a convex set, so it cannot learn "x is 0 or at least 4". All members are trained together
on the loss of the largest margin (`_population.py`): a valid example moves the members that almost accept it,
an invalid one the members that accept it, in shares by a softmax of the margins. Restarts are trained
together as one tensor, as for single networks.

M is 1, 2, 3 or 4: the smallest whose held-out accuracy, by cross-validation on the same folds, is within one
standard error of the best, so a single network is preferred. The search ends at the first M without held-out
errors, because no larger M could be chosen.

Columns that are not 0/1, also counts, are centred and scaled for training,

    psi'_j = psi_j / s_j - m_j,     s_j a power of two near the standard deviation, m_j a whole number

and folded back: W_kj = W'_kj / s_j, b_k = b'_k - sum_j W'_kj m_j. Figures are those of the folded, rounded
networks. Measured (`tools/bench/unions.py`): without it, two boxes of whole numbers are not found.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput, MissingExtra
from lcons_core._network import RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._types import Floats
from lcons_core._union import Union
from lcons_core.learn._estimator import ConstraintLearner
from lcons_core.learn._inputs import (
    accuracy,
    checked_labels,
    checked_psi,
    checked_weights,
    fold_labelled,
    two_classes,
)
from lcons_core.learn._settings import Progress, class_weights_of, hidden_values, numbers, restarts_for, whole

AUTO_MEMBERS = (1, 2, 3, 4)
MOST_MEMBERS = 64


class UnionLearner(ConstraintLearner):
    """Learns which psi are valid as a union of networks; other settings and results as `ConstraintLearner`.

    members: M, several M to choose from, or "auto" for 1 to 4: the smallest within one standard error of the
        best held-out accuracy.
    hidden: K, the number of hidden units of each member.

    After `fit`: `network_` is a `RectifierNetwork` if one member was chosen, else a `Union`; `configuration_`
    has the chosen `members`; `cv_results_` the held-out accuracies of the numbers that were tried (None if
    only one was given).

    >>> X = [[x] for x in range(10)]
    >>> learner = UnionLearner(members=2, hidden=2).fit(X, [x == 0 or x >= 4 for [x] in X])
    >>> learner.predict(X).tolist()
    [True, False, False, False, True, True, True, True, True, True]
    """

    network_: RectifierNetwork | Union  # type: ignore[assignment]

    def __init__(
        self,
        members: int | Sequence[int] | str = "auto",
        hidden: int = 8,
        *,
        seed: int = 0,
        restarts: int | str = "auto",
        learning_rate: float = 0.05,
        decay: float = 0.0,
        epochs: int = 3000,
        class_weight: str | Mapping[Any, float] | None = "balanced",
        cv: int = 5,
        temperature: float = 4.0,
        patience: int = 10,
        batch_size: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        valid: Any = None,
    ) -> None:
        super().__init__(
            hidden,
            seed=seed,
            restarts=restarts,
            learning_rate=learning_rate,
            decay=decay,
            epochs=epochs,
            class_weight=class_weight,
            cv=cv,
            temperature=temperature,
            patience=patience,
            batch_size=batch_size,
            progress=progress,
            valid=valid,
            penalty=0.0,
        )
        self.members = members

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, valid: Any = None) -> UnionLearner:
        """Learns `network_` from X (N, d) and two labels (N,); `valid` as in `ConstraintLearner.fit`."""
        psi = checked_psi(X)
        labels = checked_labels(y, len(psi))
        classes, place = two_classes(labels, self.valid if valid is None else valid)
        examples = fold_labelled(psi, labels == classes[place], checked_weights(sample_weight, len(psi)))
        if not examples.weight.any(axis=0).all():
            raise InvalidInput(
                "both classes must have an example of positive weight, found a label with only zero weights;"
                " give some of its examples a positive weight."
            )
        course = _Course(self, examples, (classes[1 - place], classes[place]))
        chosen, results = course.choose(member_values(self.members))
        self.network_ = course.train(chosen)
        self.configuration_ = {"members": chosen, **course.configuration}
        self.history_ = tuple(course.history)
        self.cv_results_ = results
        weighed = course.search.weigh(examples, course.class_weights).weight[:, :, 0]
        self.training_accuracy_ = accuracy(weighed, self.network_.accepts(examples.psi))
        self.held_out_accuracy_ = None
        if results is not None:
            self.held_out_accuracy_ = float(results["mean_test_score"][results["best_index"]])
        self.set_aside_, self.fit_warning_ = 0, None
        self.classes_, self.valid_ = classes, classes[place]
        self.n_features_in_ = psi.d
        return self


def member_values(members: Any) -> list[int]:
    """The distinct M to choose from, ascending."""
    if isinstance(members, str):
        if members != "auto":
            raise InvalidInput(
                f'members must be one or several numbers, or "auto", found {members!r}; pass M.'
            )
        return list(AUTO_MEMBERS)
    values = list(members) if isinstance(members, (Sequence, np.ndarray)) else [members]
    if not values:
        raise InvalidInput("members must contain at least one M, found none; pass M.")
    for M in values:
        if whole("members", M, 1) > MOST_MEMBERS:
            raise InvalidInput(f"members must be at most {MOST_MEMBERS}, found {M}; use fewer members.")
    return sorted({int(M) for M in values})


class _Course:
    """The settings of a learner, checked, and the examples in the columns of training."""

    def __init__(self, learner: UnionLearner, examples: PsiRows, labels: tuple[Any, Any]) -> None:
        try:
            from lcons_core.learn import _schedule as schedule
            from lcons_core.learn import _search as search
        except ImportError as error:
            raise MissingExtra(
                f"learning needs torch, which cannot be imported ({error}); run: pip install torch."
            ) from error
        self.schedule, self.search, self.learner = schedule, search, learner
        (hidden,) = _single("hidden", hidden_values(learner.hidden, examples.psi.d))
        (rate,) = _single("learning_rate", numbers("learning_rate", learner.learning_rate, positive=True))
        (decay,) = _single("decay", numbers("decay", learner.decay, positive=False))
        self.point = search.Configuration(hidden, rate, decay)
        self.configuration = {"hidden": hidden, "learning_rate": rate, "decay": decay}
        self.seed, self.folds = whole("seed", learner.seed, 0), whole("cv", learner.cv, 2)
        self.class_weights = class_weights_of(learner.class_weight, labels)
        self.scale, self.centre = _standard(examples.psi)
        psi = _scaled(examples.psi, self.scale, self.centre)
        self.examples = PsiRows.of(psi, weight=examples.weight)
        self.history: list[Progress] = []

    def settings(self, members: int) -> Any:
        """The settings of training with this number of members."""
        learner = self.learner
        return self.schedule.Settings(
            whole("epochs", learner.epochs, 1),
            numbers("temperature", learner.temperature, positive=True)[0],
            whole("patience", learner.patience, 1),
            None if learner.batch_size is None else whole("batch_size", learner.batch_size, 1),
            members,
        )

    def restarts(self, members: int) -> int:
        """The number of restarts with this number of members."""
        return restarts_for(self.learner.restarts, len(self.examples) * members)(self.point.hidden)

    def choose(self, candidates: Sequence[int]) -> tuple[int, dict[str, Any] | None]:
        """The chosen number of members, and the held-out accuracies of those that were tried."""
        if len(candidates) == 1:
            return candidates[0], None
        tried: list[int] = []
        scores: list[Floats] = []
        for members in candidates:
            tried.append(members)
            fewer = 4 if self.learner.restarts == "auto" else 1
            [found] = self.search.cross_validate(
                self.examples,
                [self.point],
                max(self.restarts(members) // fewer, 1),
                self.folds,
                self.class_weights,
                self.settings(members),
                self.seed,
                self.learner.progress,
            )
            scores.append(found)
            if found.min() == 1.0:
                break
        table = np.array(scores)
        winner = _smallest_within_one_error(table)
        results = {
            "params": [{"members": members, **self.configuration} for members in tried],
            "split_test_score": table,
            "mean_test_score": table.mean(1),
            "std_test_score": table.std(1),
            "best_index": winner,
        }
        return tried[winner], results

    def train(self, members: int) -> RectifierNetwork | Union:
        """The best union of this number of members, in the columns of psi."""

        def record(progress: Progress) -> None:
            self.history.append(progress)
            if self.learner.progress is not None:
                self.learner.progress(progress)

        found = self.schedule.train(
            self.search.weigh(self.examples, self.class_weights),
            self.point.members(0, self.restarts(members)),
            self.settings(members),
            self.seed,
            record,
        )
        networks = [self._folded(network) for network in found[0].members]
        return networks[0] if members == 1 else Union(networks)

    def _folded(self, network: RectifierNetwork) -> RectifierNetwork:
        return RectifierNetwork(network.W / self.scale + 0.0, network.b - network.W @ self.centre + 0.0)


def _smallest_within_one_error(scores: Floats) -> int:
    """The first row whose mean is within one standard error of the best mean, of scores (M, folds)."""
    means = scores.mean(1)
    best = int(np.argmax(means))
    error = scores[best].std(ddof=1) / math.sqrt(scores.shape[1])
    return int(np.flatnonzero(means >= means[best] - error)[0])


def _standard(psi: SparsePsi) -> tuple[Floats, Floats]:
    """(s, m) of every column; 1 and 0 for columns of zeros and ones."""
    scale, centre = np.ones(psi.d), np.zeros(psi.d)
    for j in np.unique(psi.indices[psi.values != 1.0]).tolist():
        column = np.zeros(len(psi))
        column[psi.row_of[psi.indices == j]] = psi.values[psi.indices == j]
        if column.std() > 0:
            scale[j] = np.exp2(np.rint(np.log2(column.std())))
        centre[j] = np.rint(column.mean() / scale[j])
    return scale, centre


def _scaled(psi: SparsePsi, scale: Floats, centre: Floats) -> SparsePsi:
    scaled = SparsePsi(psi.indptr, psi.indices, psi.values / scale[psi.indices], psi.d)
    return SparsePsi.from_dense(scaled.dense() - centre) if centre.any() else scaled


def _single(name: str, values: Sequence[Any]) -> Sequence[Any]:
    if len(values) != 1:
        raise InvalidInput(f"UnionLearner needs one {name}, found {list(values)}; pass a single value.")
    return values
