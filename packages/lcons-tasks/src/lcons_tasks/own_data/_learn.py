"""Training, with K chosen by doubling where cross-validation says little.

Negatives that are everything unseen leave nothing to foretell: no other combination tells one that a fold
holds out, and cross-validation prefers the network that says least. There K = 1, 2, 4, ... are tried until
one tells all examples right. Elsewhere the learner's own "auto" chooses.

One constraint from data of one's own, with what it says in words and how it judges data.

    data -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint -> Judgement, Explanation

Held-out data have a part of their own in nothing but the judgement. Invalid vectors to judge by come from the
held-out structures in the way that training made its own, less what either part has as valid and what
training had as invalid. Support, exceptions and expectations of rules are counted on all training data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import ConstraintLearner, Explanation, LabelledExamples, LearnedConstraint, explain
from lcons_core._arithmetic import Floats
from lcons_core._errors import InvalidInput, LconsError
from lcons_core._psi import SparsePsi
from lcons_core.learn import Progress
from lcons_core.learn._examples import fold
from lcons_core.learn._recipe import learn_from_examples
from lcons_core.learn._settings import hidden_values, restarts_for
from lcons_tasks.own_data._data import Data, PsiTable, Structures
from lcons_tasks.own_data._examples import (
    GIVEN,
    UNSEEN,
    Making,
    Parts,
    Task,
    check_columns,
    made_of_rows,
    of_structures,
    of_table,
    parts_of,
    rows_of,
    source_of,
)
from lcons_tasks.own_data._judgement import Judgement, Known, judge, warning
from lcons_tasks.own_data._settings import LearnSettings
from lcons_tasks.own_data._vocabulary import check_labels, unknown_contexts

AUTO = "auto"
DOUBLED = (1, 2, 4, 8, 16, 32)

Before = Callable[[LabelledExamples, ConstraintLearner], None]


@dataclass(frozen=True, eq=False)
class Trained:
    """A constraint, the learner that found it, and (K, share of the examples told right) of each K that was
    tried, valid and invalid ones weighing as the settings say; none where nothing was tried."""

    constraint: LearnedConstraint
    learner: ConstraintLearner
    tried: tuple[tuple[int, float], ...] = ()


def train(
    task: Task,
    settings: LearnSettings,
    progress: Callable[[Progress], None] | None,
    before: Before | None,
) -> Trained:
    """The constraint of the examples; of several K, the smallest that is right on all, else the best."""
    if settings.hidden != AUTO or task.negatives != UNSEEN:
        return _train(task, settings, progress, before)
    best: tuple[float, Trained] | None = None
    tried: list[tuple[int, float]] = []
    for K in DOUBLED:
        found = _train(task, replace(settings, hidden=K), progress, before)
        tried.append((K, _right(task.examples, found.learner, settings.caution)))
        if best is None or tried[-1][1] > best[0]:
            best = tried[-1][1], found
        if tried[-1][1] == 1:
            break
    assert best is not None
    return replace(best[1], tried=tuple(tried))


def _train(
    task: Task,
    settings: LearnSettings,
    progress: Callable[[Progress], None] | None,
    before: Before | None,
) -> Trained:
    learner = settings.learner(task.examples)
    learner.progress = progress
    if before is not None:
        before(task.examples, learner)
    return Trained(learn_from_examples(task.examples, learner, task.feature), learner)


def _right(examples: LabelledExamples, learner: ConstraintLearner, caution: float) -> float:
    """The share of the examples told right; all valid ones weigh `caution` times as much as all others."""
    psi, valid, _ = examples.matrix()
    right = learner.predict(psi) == valid
    if right.all():
        return 1.0
    return float((caution * np.mean(right[valid]) + np.mean(right[~valid])) / (caution + 1))


# Multiplications a second of one core, as measured when sparse psi is learned from.
SPEED = 2.5e8
# More invalid vectors than these are not made from held-out data.
MOST_JUDGED = 10**6
# Of so many rules a file keeps what they rest on.
MOST_EVIDENCE = 200


@dataclass(frozen=True, eq=False)
class Counted:
    """What the figures of rules are counted on: all valid parts of the training data, also those too rare to
    be learned, each as often as it was seen; and each invalid vector once, as it was made up."""

    positives: SparsePsi
    positive_weights: Floats
    negatives: SparsePsi
    negative_weights: Floats

    @classmethod
    def of(cls, task: Task) -> Counted:
        """The vectors of a task."""
        negatives = task.examples.negatives
        return cls(task.seen.psi, task.seen.weights, negatives, np.ones(len(negatives)))


@dataclass(frozen=True)
class Learned:
    """A constraint, the examples and settings it comes from, how it judges them and held-out data, its rules.

    `chosen` is the learner's configuration, `scores` the mean accuracies of cross-validation where there was
    one, `tried` each K and how much it told right where K was doubled; `contradictions` counts vectors of a
    table that were given as valid and as invalid."""

    constraint: LearnedConstraint
    examples: LabelledExamples
    settings: LearnSettings
    negatives: str
    chosen: dict[str, Any]
    scores: tuple[float, ...]
    tried: tuple[tuple[int, float], ...]
    training: Judgement
    held_out: Judgement | None
    explanation: Explanation
    training_warning: str | None = None
    held_out_warning: str | None = None
    labels_warning: str | None = None
    contradictions: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each part of the data of which valid structures are forbidden, and one where some
        were not judged."""
        texts = (self.training_warning, self.held_out_warning, self.labels_warning)
        return tuple(text for text in texts if text is not None)


def learn(
    data: Data,
    settings: LearnSettings | None = None,
    held_out: Data | None = None,
    *,
    rules: int = 20,
    progress: Callable[[Progress], None] | None = None,
    making: Making | None = None,
    before: Before | None = None,
    by_position: bool = False,
) -> Learned:
    """The constraint that the data obey.

    `making` is told the source of negatives, how many it may make and in how many seconds, before it does;
    `before` is told of the examples and the learner, before each training. `by_position`: the held-out data
    are the end of the same data, so that any label which is only there is worth a warning.

    >>> from lcons_tasks.own_data import LearnSettings, Structures, learn
    >>> words = [(["Ann", "sings"], ["B", "O"]), (["Ann", "Lee"], ["B", "I"]), (["Oh", "Ann"], ["O", "B"])]
    >>> found = learn(Structures.of([*words, (["Oh", "no"], ["O", "O"])]), LearnSettings(hidden=2))
    >>> found.constraint.satisfied(["O", "I"]), found.training.forbidden_structures
    (False, 0)
    """
    chosen = settings or LearnSettings()
    labels_warning = None if held_out is None else check_labels(data, held_out, by_position)
    task = of_table(data, chosen) if isinstance(data, PsiTable) else of_structures(data, chosen, making)
    held = None if held_out is None else _held_out_parts(task, data, held_out)
    found = train(task, chosen, progress, before)
    recipe = {**chosen.to_dict(), "negatives": None if task.negatives == GIVEN else task.negatives}
    provenance = {**found.constraint.provenance, "recipe": {**recipe, "names": list(chosen.names)}}
    constraint = replace(found.constraint, provenance=_plain(provenance))
    valid, learned, invalid = task.seen.psi, task.examples.positives, task.examples.negatives
    keys = Known(set(valid.row_keys()), set(learned.row_keys()), set(invalid.row_keys()))
    training = judge(constraint, data, task.valid, keys)
    judged = None
    if held is not None and held_out is not None:
        unknown = None
        if isinstance(data, Structures) and isinstance(held_out, Structures):
            outside = {i for i, _ in held.outside}
            unknown = unknown_contexts(task.feature, task.name, data, held_out, outside)
        fresh = _held_out_invalid(task, chosen, held_out, held, keys)
        judged = judge(constraint, held_out, held, keys, True, fresh, unknown)
    explanation = explain(constraint, Counted.of(task), limit=rules, seed=chosen.seed)
    constraint = replace(constraint, provenance={**constraint.provenance, "evidence": evidence(explanation)})
    results = found.learner.cv_results_
    return Learned(
        constraint=constraint,
        examples=task.examples,
        settings=chosen,
        negatives=task.negatives,
        chosen=dict(found.learner.configuration_),
        scores=() if results is None else tuple(map(float, results["mean_test_score"])),
        tried=found.tried,
        training=training,
        held_out=judged,
        explanation=explanation,
        training_warning=warning(training, "that it learned from", data, chosen),
        held_out_warning=_warning_on(judged, held_out, chosen),
        labels_warning=labels_warning,
        contradictions=task.contradictions,
    )


def evidence(explanation: Explanation) -> list[dict[str, Any]]:
    """What each rule rests on in the data, for the constraint's file."""
    return [
        {
            "rule": rule.words,
            "support": round(rule.support),
            "expected": round(rule.expected, 3),
            "seen": round(rule.exceptions),
        }
        for rule in explanation.rules[:MOST_EVIDENCE]
        if rule.support is not None and rule.expected is not None and rule.exceptions is not None
    ]


def _warning_on(judged: Judgement | None, held_out: Data | None, settings: LearnSettings) -> str | None:
    if judged is None or held_out is None:
        return None
    return warning(judged, "in held-out data", held_out, settings)


def estimate_seconds(examples: LabelledExamples, learner: ConstraintLearner) -> float:
    """About how long learning takes on one free core where it does not end early, as it mostly does."""
    psi, _, _ = examples.matrix()
    hidden = hidden_values(learner.hidden, psi.d)
    restarts = restarts_for(learner.restarts, len(examples))
    entries = (psi.indices.size + len(psi)) * learner.epochs / SPEED
    grid = len(np.atleast_1d(learner.learning_rate)) * len(np.atleast_1d(learner.decay))
    # Half of the restarts end after 200 steps, half of the rest after 400, ...: a third of the full course.
    seconds = entries * max(K * restarts(K) for K in hidden) / 3
    if grid * len(hidden) > 1:
        seconds += entries * grid * learner.cv * sum(K * max(restarts(K) // 4, 1) for K in hidden) / 3
    return float(seconds)


def _held_out_parts(task: Task, data: Data, held_out: Data) -> Parts:
    """The valid parts of held-out data, which must be of the same kind as the training data."""
    if isinstance(data, PsiTable) and isinstance(held_out, PsiTable):
        if data.names != held_out.names:
            raise InvalidInput(
                f"expected the columns of the training table in held-out data, found others"
                f" ({', '.join(held_out.names[:8])}); use the same header."
            )
        return rows_of(task.examples.space, held_out, held_out.valid)
    same = isinstance(data, Structures) and isinstance(held_out, Structures)
    if not same or not isinstance(held_out, Structures) or task.feature is None:
        raise InvalidInput(
            "expected held-out data of the same kind as the training data, found a table beside structures;"
            " give both in one format."
        )
    if isinstance(data, Structures) and data.tuples != held_out.tuples:
        raise InvalidInput(
            "expected held-out data of the same kind as the training data, found tuples beside sequences;"
            " give both in one format."
        )
    check_columns(held_out, task.feature.column if hasattr(task.feature, "contexts") else None)
    return parts_of(task.feature, held_out)


def _held_out_invalid(
    task: Task, settings: LearnSettings, held_out: Data, parts: Parts, known: Known
) -> SparsePsi | None:
    """Invalid vectors of held-out data: the given ones, or some made as training made its own that training
    had neither as valid nor as invalid. All that is unseen here was unseen there: none of it is new."""
    space = task.examples.space
    if task.negatives == GIVEN and isinstance(held_out, PsiTable):
        found = rows_of(space, held_out, ~held_out.valid).psi
        return found if len(found) else None
    if not len(parts.psi) or task.negatives == UNSEEN:
        return None
    positives = fold(parts.psi, space.d)
    try:
        if task.feature is None or isinstance(held_out, PsiTable):
            made = made_of_rows(settings, space, positives)
        else:
            outside = {i for i, _ in parts.outside}
            inside = [one for i, one in enumerate(held_out.instances) if i not in outside]
            source = source_of(task.negatives, task.feature, inside, positives, settings)
            made = source.collect(MOST_JUDGED)
    except LconsError:
        # There are figures on what is valid all the same.
        return None
    had = known.valid | known.invalid | set(parts.psi.row_keys())
    fresh = np.array([key not in had for key in made.psi.row_keys()], dtype=np.bool_)
    return made.psi.take(fresh) if fresh.any() else None


def _plain(provenance: dict[str, Any]) -> dict[str, Any]:
    """The provenance with lists in place of tuples, as files hold them."""
    return {name: _listed(value) for name, value in provenance.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(item) for name, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
