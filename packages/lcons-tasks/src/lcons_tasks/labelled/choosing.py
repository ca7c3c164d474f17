"""Training, with K chosen by doubling where cross-validation says little.

Negatives that are everything unseen leave nothing to foretell: no other combination tells one that a fold
holds out, and cross-validation prefers the network that says least. There K = 1, 2, 4, ... are tried until
one tells all examples right. Elsewhere the learner's own "auto" chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import ConstraintLearner, LabelledExamples, LearnedConstraint
from lcons_core.learn import learn_from_examples
from lcons_core.learning import Progress
from lcons_tasks.labelled.preparing import UNSEEN, Task
from lcons_tasks.labelled.settings import LearnSettings

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
