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

from lcons_core import (
    ConstraintLearner,
    Explanation,
    FitWarning,
    InvalidInput,
    LearnedConstraint,
    Recipe,
    explain,
)
from lcons_core._psi import PsiRows
from lcons_core.learn._estimator import AUTO, Progress
from lcons_core.learn._examples import UNSEEN
from lcons_core.learn._recipe import DOUBLED, Fitted
from lcons_tasks.own_data._data import Data, PsiTable, Structures, contiguous_folds
from lcons_tasks.own_data._examples import GIVEN, Parts, Task, check_columns, parts_of, rows_of, task_of
from lcons_tasks.own_data._judgement import Judgement, Undecided, added, judge
from lcons_tasks.own_data._recommendation import Recommendation, recommend

Report = Callable[[Progress], None] | None


@dataclass(frozen=True)
class Learned:
    """A constraint, its judgement on the data that it learned from and on held-out data, and its rules.

    `task` has the examples; `learner` its configuration and scores of cross-validation; `tried` is each K
    with its accuracy, if K was doubled; `undecided` are the windows without enough evidence, if evidence is
    needed. Each of `warnings` is a sentence."""

    constraint: LearnedConstraint
    task: Task
    learner: ConstraintLearner
    tried: tuple[tuple[int, float], ...]
    training: Judgement
    held_out: Judgement | None
    explanation: Explanation
    undecided: Undecided | None
    warnings: tuple[str, ...]

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
    data = data if isinstance(data, PsiTable) else Structures.of(data)
    if held_out is not None and not isinstance(held_out, PsiTable):
        held_out = Structures.of(held_out)
    recipe = recipe or Recipe(evidence=AUTO)
    task = task_of(data, recipe)
    # Errors of held-out data come before the work.
    if held_out is not None and not (parts := _held_out_parts(task, data, held_out)).inside:
        raise InvalidInput(f"no held-out structure can be judged: {min(parts.outside.values(), default='')}.")
    fitted = _fitted(task, progress)
    constraint, learner = fitted.constraint, fitted.learner
    training, judged = judge(constraint, data, task.valid), None
    if held_out is not None:
        judged = _judged(task, constraint, data, held_out)
    elif folds is not None and (by_fold := list(_by_folds(data, recipe, folds, progress, judging))):
        judged = added(by_fold)
    # All valid parts, also those too rare to be learned, counted as often as seen; each made vector once.
    negatives = task.examples.negatives.psi
    counted = replace(task.examples, positives=task.seen, negatives=PsiRows.of(negatives))
    undecided = None if task.needed is None else Undecided.of(constraint, task.examples, task.needed)
    warned = training.warnings("that it learned from")
    if judged is not None:
        warned += judged.warnings("in held-out folds" if held_out is None else "in held-out data")
    warned += [] if undecided is None else undecided.warnings
    warned += [learner.fit_warning_] if learner.fit_warning_ else []
    # The mean violation of rejected examples is the unit of the cost `standard` (`lcons_decode.Soft`).
    margins = constraint.margin(negatives)
    if (margins < 0).any():
        provenance = {**constraint.provenance, "violation": float(-margins[margins < 0].mean())}
        constraint = replace(constraint, provenance=provenance)
    explanation = explain(constraint, counted, limit=rules, seed=recipe.seed)
    return Learned(
        constraint, task, learner, fitted.tried, training, judged, explanation, undecided, tuple(warned)
    )


def _fitted(task: Task, progress: Report) -> Fitted:
    doubled = task.recipe.hidden == AUTO and task.negatives == UNSEEN
    recipe = replace(task.recipe, hidden=DOUBLED) if doubled else task.recipe
    with warnings.catch_warnings():
        # One of `Learned.warnings`.
        warnings.simplefilter("ignore", FitWarning)
        return recipe.learn_examples(task.examples, task.feature, progress=progress)


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
            constraint = _fitted(task, progress).constraint
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
