"""One constraint learned from the user's data, with its rules in words and its judgement on data.

    data -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint -> Judgement, Explanation

Held-out data are used only for the judgement; without them, contiguous folds of the data judge: each is held
out once, and the network learned from the others is judged on it. The constraint is always learned from all
data. Support, exceptions and expectations of rules are counted on all training data. If K is "auto" and the
negatives are all unseen vectors, K is doubled until it fits (`Recipe`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lcons_core import (
    Explanation,
    FitWarning,
    InvalidInput,
    LabelledExamples,
    LearnedConstraint,
    Recipe,
    explain,
)
from lcons_core._psi import PsiRows
from lcons_core.learn._estimator import AUTO, Progress
from lcons_core.learn._examples import UNSEEN
from lcons_core.learn._recipe import DOUBLED, Fitted
from lcons_tasks.own_data._data import Data, PsiTable, Structures, contiguous_folds, structures_of
from lcons_tasks.own_data._examples import GIVEN, Parts, Task, check_columns, parts_of, rows_of, task_of
from lcons_tasks.own_data._judgement import Judgement, Undecided, added, judge
from lcons_tasks.own_data._recommendation import Recommendation, recommend

Report = Callable[[Progress], None] | None


@dataclass(frozen=True)
class Learned:
    """A constraint, its examples and recipe, its judgement on them and on held-out data, and its rules.

    `chosen` is the learner's configuration, `scores` are the mean accuracies of cross-validation, if there
    was one, and `tried` is each K with its accuracy, if K was doubled; `undecided` are the windows without
    enough evidence, if evidence is needed; `set_aside` counts the vectors whose labels robust learning took
    for wrong; `contradictions` counts vectors of a table that are both valid and invalid in it. Each of
    `warnings` is a sentence."""

    constraint: LearnedConstraint
    examples: LabelledExamples
    recipe: Recipe
    negatives: str
    chosen: dict[str, Any]
    scores: tuple[float, ...]
    tried: tuple[tuple[int, float], ...]
    training: Judgement
    held_out: Judgement | None
    explanation: Explanation
    undecided: Undecided | None
    warnings: tuple[str, ...]
    set_aside: int = 0
    contradictions: int = 0

    @property
    def recommendation(self) -> Recommendation:
        """How to use the constraint, by labels alone."""
        nothing = not len(self.explanation.rules) and self.explanation.complete
        return recommend(None if self.held_out is None else self.held_out.bound, forbids=not nothing)


def learn(
    data: Data,
    recipe: Recipe | None = None,
    held_out: Data | None = None,
    *,
    folds: int | None = None,
    rules: int = 20,
    progress: Report = None,
    judging: Callable[[int, int], None] | None = None,
) -> Learned:
    """The constraint that the data obey: structures, a table, or a list of (words, labels) pairs.

    Without a recipe, windows of labels need evidence. `folds`: without held-out data, this many contiguous
    folds of the data judge; `judging` is called with the number of each and their number before it is learned
    without.

    >>> from lcons_core import Recipe
    >>> from lcons_tasks.own_data import learn
    >>> words = [(["Ann", "sings"], ["B", "O"]), (["Ann", "Lee"], ["B", "I"]), (["Oh", "Ann"], ["O", "B"])]
    >>> learned = learn([*words, (["Oh", "no"], ["O", "O"])], Recipe(hidden=2))
    >>> learned.constraint.satisfied(["O", "I"]), learned.training.forbidden_structures
    (False, 0)
    """
    data = data if isinstance(data, PsiTable) else structures_of(data)
    if held_out is not None and not isinstance(held_out, PsiTable):
        held_out = structures_of(held_out)
    chosen = recipe or Recipe(evidence=AUTO)
    task = task_of(data, chosen)
    # Errors of held-out data come before the work.
    if held_out is not None and not (parts := _held_out_parts(task, data, held_out)).inside:
        raise InvalidInput(f"no held-out structure can be judged: {min(parts.outside.values(), default='')}.")
    fitted = _fitted(task, chosen, progress)
    constraint, learner = fitted.constraint, fitted.learner
    training, judged = judge(constraint, data, task.valid), None
    if held_out is not None:
        judged = _judged(task, constraint, data, held_out)
    elif folds is not None and (by_fold := list(_by_folds(data, chosen, folds, progress, judging))):
        judged = added(by_fold)
    # All valid parts, also those too rare to be learned, counted as often as seen; each made vector once.
    counted = replace(task.examples, positives=task.seen, negatives=PsiRows.of(task.examples.negatives.psi))
    explanation = explain(constraint, counted, limit=rules, seed=chosen.seed)
    undecided = None if task.needed is None else Undecided.of(constraint, task.examples, task.needed)
    where = "in held-out folds" if held_out is None else "in held-out data"
    texts = [
        *training.warnings("that it learned from"),
        *([] if judged is None else judged.warnings(where)),
        *([] if undecided is None else undecided.warnings),
        *([learner.fit_warning_] if learner.fit_warning_ else []),
    ]
    provenance = {**constraint.provenance, **_violation(constraint, task.examples)}
    results = learner.cv_results_
    return Learned(
        constraint=replace(constraint, provenance=provenance),
        examples=task.examples,
        recipe=task.recipe,
        negatives=task.negatives,
        chosen=dict(learner.configuration_),
        scores=() if results is None else tuple(map(float, results["mean_test_score"])),
        tried=fitted.tried,
        training=training,
        held_out=judged,
        explanation=explanation,
        undecided=undecided,
        warnings=tuple(texts),
        set_aside=learner.set_aside_,
        contradictions=task.contradictions,
    )


def _fitted(task: Task, recipe: Recipe, progress: Report) -> Fitted:
    doubled = recipe.hidden == AUTO and task.negatives == UNSEEN
    training = replace(task.recipe, hidden=DOUBLED) if doubled else task.recipe
    with warnings.catch_warnings():
        # One of `Learned.warnings`.
        warnings.simplefilter("ignore", FitWarning)
        return training.learn_examples(task.examples, task.feature, progress=progress)


def _judged(task: Task, constraint: LearnedConstraint, data: Data, held_out: Data) -> Judgement:
    """The judgement on held-out data."""
    parts, invalid = _held_out_parts(task, data, held_out), None
    if task.negatives == GIVEN and isinstance(held_out, PsiTable) and not held_out.valid.all():
        invalid = rows_of(task.examples.space, held_out, ~held_out.valid).rows.psi
    return judge(constraint, held_out, parts, set(task.seen.psi.row_keys()), invalid)


def _by_folds(
    data: Data, recipe: Recipe, folds: int, progress: Report, judging: Callable[[int, int], None] | None
) -> Iterator[Judgement]:
    """The judgements of the networks that are learned without each fold."""
    pairs = contiguous_folds(data, folds)
    for number, (rest, fold) in enumerate(pairs, start=1):
        if judging is not None:
            judging(number, len(pairs))
        try:
            task = task_of(rest, recipe)
            constraint = _fitted(task, recipe, progress).constraint
        except InvalidInput:
            # The rest is too small for the feature or the search; the other folds still judge.
            continue
        yield _judged(task, constraint, rest, fold)


def _held_out_parts(task: Task, data: Data, held_out: Data) -> Parts:
    """The valid parts of held-out data, which must be of the same kind as the training data."""
    match data, held_out:
        case PsiTable(), PsiTable() if data.names == held_out.names:
            return rows_of(task.examples.space, held_out, held_out.valid)
        case Structures(), Structures() if task.feature is not None and data.tuples == held_out.tuples:
            check_columns(held_out, task.feature.context_column)
            return parts_of(task.feature, held_out.instances)
    raise InvalidInput("held-out data must be of the kind and the columns of the training data.")


def _violation(constraint: LearnedConstraint, examples: LabelledExamples) -> dict[str, Any]:
    """The mean of -margin over the invalid examples that the constraint rejects, which is the unit of the
    cost `standard` of soft constraints (`lcons_decode.Soft`); nothing if it rejects none."""
    margins = constraint.margin(examples.negatives.psi)
    rejected = margins[margins < 0]
    return {"violation": float(-rejected.mean())} if len(rejected) else {}
