"""One constraint learned from the user's data, with its rules in words and its judgement on data.

    data -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint -> Judgement, Explanation

Held-out data are used only for the judgement; without them, contiguous folds of the data judge: each is held
out once, and the network learned from the others is judged on it. The constraint is always learned from all
data. Invalid vectors for the judgement are made from the held-out structures in the same way as in training;
vectors that are valid in either part, or invalid in training, are left out. Support, exceptions and
expectations of rules are counted on all training data. If K is "auto" and the negatives are all unseen
vectors, K is doubled until it fits (`Recipe`).

Each rule has a bound of its own (`_bound.py`): of the held-out valid parts that its premise covers, how many
were rejected.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import (
    Explanation,
    FeatureSpace,
    FitWarning,
    InvalidInput,
    LabelledExamples,
    LconsError,
    LearnedConstraint,
    Recipe,
    SparsePsi,
    explain,
)
from lcons_core._psi import PsiRows
from lcons_core._types import Ints
from lcons_core.learn._estimator import AUTO, Progress
from lcons_core.learn._examples import UNSEEN, fold
from lcons_core.learn._recipe import DOUBLED, Fitted
from lcons_core.reason._rules import Box
from lcons_core.reason._words import Rule, TypeRule
from lcons_tasks.own_data._bound import Bound
from lcons_tasks.own_data._data import Data, PsiTable, Structures, contiguous_folds
from lcons_tasks.own_data._examples import (
    GIVEN,
    Making,
    Parts,
    Task,
    check_columns,
    made_of_rows,
    of_structures,
    of_table,
    parts_of,
    rows_of,
)
from lcons_tasks.own_data._judgement import Judgement, Known, added, judge, warning
from lcons_tasks.own_data._undecided import Undecided, undecided_of
from lcons_tasks.own_data._vocabulary import check_labels, unknown_contexts

# At most this many invalid vectors are made from held-out data.
MOST_JUDGED = 10**6
# A constraint file stores the evidence for at most this many rules.
MOST_EVIDENCE = 200


@dataclass(frozen=True)
class Learned:
    """A constraint, its examples and recipe, its judgement on them and on held-out data, and its rules.

    `chosen` is the learner's configuration, `scores` are the mean accuracies of cross-validation, if there
    was one, and `tried` is each K with its accuracy, if K was doubled; `undecided` are the windows without
    enough evidence, if evidence is needed; `set_aside` counts the vectors whose labels robust learning took
    for wrong; `contradictions` counts vectors of a table that are both valid and
    invalid in it."""

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
    undecided: Undecided | None = None
    training_warning: str | None = None
    held_out_warning: str | None = None
    labels_warning: str | None = None
    fit_warning: str | None = None
    set_aside: int = 0
    contradictions: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each part of the data in which valid structures are forbidden, one if some
        structures were not judged or have other labels, one if windows without evidence are forbidden, and
        one if the fit to given labels is poor or too good."""
        beyond = None if self.undecided is None else self.undecided.warning
        texts = (
            self.training_warning,
            self.held_out_warning,
            self.labels_warning,
            beyond,
            self.fit_warning,
        )
        return tuple(text for text in texts if text is not None)


@dataclass(frozen=True)
class _Fit:
    """A learning task, what was learned, and the keys of its vectors."""

    data: Data
    task: Task
    fitted: Fitted
    known: Known

    @property
    def constraint(self) -> LearnedConstraint:
        return self.fitted.constraint


@dataclass(frozen=True)
class _Held:
    """The valid parts of held-out data, and which of them a constraint rejects."""

    points: Ints
    space: FeatureSpace
    rejected: NDArray[np.bool_]

    def bound(self, box: Box) -> Bound:
        """Of the parts in the box, how many are rejected; none are, if the space has no such axis."""
        inside = np.ones(len(self.points), dtype=np.bool_)
        names = [axis.name for axis in self.space.axes]
        for name, values in box.conditions:
            if name not in names:
                return Bound(0, 0)
            at = names.index(name)
            inside &= np.isin(self.space.axes[at].values, values)[self.points[:, at]]
        return Bound(int((inside & self.rejected).sum()), int(inside.sum()))


def learn(
    data: Data,
    recipe: Recipe | None = None,
    held_out: Data | None = None,
    *,
    folds: int | None = None,
    rules: int = 20,
    progress: Callable[[Progress], None] | None = None,
    making: Making | None = None,
    judging: Callable[[int, int], None] | None = None,
) -> Learned:
    """The constraint that the data obey.

    Without a recipe, windows of labels need evidence. `folds`: without held-out data, this many contiguous
    folds of the data judge; `judging` is called with the number of each and their number before it is learned
    without. `making` is called before negatives are made, with their source, the most that it may make and
    the seconds that it needs.

    >>> from lcons_core import Recipe
    >>> from lcons_tasks.own_data import Structures, learn
    >>> words = [(["Ann", "sings"], ["B", "O"]), (["Ann", "Lee"], ["B", "I"]), (["Oh", "Ann"], ["O", "B"])]
    >>> found = learn(Structures.of([*words, (["Oh", "no"], ["O", "O"])]), Recipe(hidden=2))
    >>> found.constraint.satisfied(["O", "I"]), found.training.forbidden_structures
    (False, 0)
    """
    chosen = recipe or Recipe(evidence=AUTO)
    labels_warning = None if held_out is None else check_labels(data, held_out)
    task = _task(data, chosen, making)
    if held_out is not None:
        # Errors of held-out data come before the work.
        _held_out_parts(task, data, held_out)
    fit = _fitted(data, task, chosen, progress)
    training = judge(fit.constraint, data, task.valid, fit.known)
    judged, held = None, []
    if held_out is not None:
        judged, own = _judged(fit, held_out)
        held = [own]
    elif folds is not None:
        judged, held = _judged_by_folds(data, chosen, folds, progress, judging)
    # All valid parts, also those too rare to be learned, counted as often as seen; each made vector once.
    counted = replace(task.examples, positives=task.seen, negatives=PsiRows.of(task.examples.negatives.psi))
    explanation = explain(fit.constraint, counted, limit=rules, seed=chosen.seed)
    explanation = _bounded(explanation, held)
    constraint = fit.constraint
    recorded: dict[str, Any] = {"evidence": evidence(explanation, held)}
    recorded |= _violation(constraint, task.examples)
    if judged is not None:
        recorded["bound"] = judged.bound.to_dict()
    constraint = replace(constraint, provenance={**constraint.provenance, **recorded})
    results = fit.fitted.learner.cv_results_
    where = "in held-out folds" if held_out is None else "in held-out data"
    return Learned(
        constraint=constraint,
        examples=task.examples,
        recipe=task.recipe,
        negatives=task.negatives,
        chosen=dict(fit.fitted.learner.configuration_),
        scores=() if results is None else tuple(map(float, results["mean_test_score"])),
        tried=fit.fitted.tried,
        training=training,
        held_out=judged,
        explanation=explanation,
        undecided=None if task.needed is None else undecided_of(constraint, task.examples, task.needed),
        training_warning=warning(training, "that it learned from", data, chosen),
        held_out_warning=None if judged is None else warning(judged, where, held_out or data, chosen),
        labels_warning=labels_warning,
        fit_warning=fit.fitted.learner.fit_warning_,
        set_aside=fit.fitted.learner.set_aside_,
        contradictions=task.contradictions,
    )


def _task(data: Data, recipe: Recipe, making: Making | None) -> Task:
    return of_table(data, recipe) if isinstance(data, PsiTable) else of_structures(data, recipe, making)


def _fitted(
    data: Data,
    task: Task,
    recipe: Recipe,
    progress: Callable[[Progress], None] | None,
) -> _Fit:
    doubled = recipe.hidden == AUTO and task.negatives == UNSEEN
    training = replace(task.recipe, hidden=DOUBLED) if doubled else task.recipe
    with warnings.catch_warnings():
        # Stored as `Learned.fit_warning`.
        warnings.simplefilter("ignore", FitWarning)
        found = training.learn_examples(task.examples, task.feature, progress=progress)
    vectors = (task.seen, task.examples.positives, task.examples.negatives)
    return _Fit(data, task, found, Known(*(set(rows.psi.row_keys()) for rows in vectors)))


def _judged(fit: _Fit, held_out: Data) -> tuple[Judgement, _Held]:
    """The judgement on held-out data, and their valid parts."""
    task, constraint = fit.task, fit.constraint
    parts = _held_out_parts(task, fit.data, held_out)
    unknown = None
    if isinstance(fit.data, Structures) and isinstance(held_out, Structures):
        outside = {i for i, _ in parts.outside}
        unknown = unknown_contexts(task.feature, task.recipe.feature, fit.data, held_out, outside)
    fresh = _held_out_invalid(task, held_out, parts, fit.known)
    judgement = judge(constraint, held_out, parts, fit.known, True, fresh, unknown)
    psi, space = parts.rows.psi, constraint.space.cells()
    if not len(psi):
        return judgement, _Held(np.zeros((0, len(space.axes)), dtype=np.int64), space, np.zeros(0, np.bool_))
    return judgement, _Held(space.assignments(psi), space, ~constraint.network.accepts(psi))


def _judged_by_folds(
    data: Data,
    recipe: Recipe,
    folds: int,
    progress: Callable[[Progress], None] | None,
    judging: Callable[[int, int], None] | None,
) -> tuple[Judgement | None, list[_Held]]:
    """The judgements of the networks that are learned without each fold, as one; None without folds."""
    found: list[tuple[Judgement, _Held]] = []
    pairs = contiguous_folds(data, folds)
    for number, (rest, fold_data) in enumerate(pairs, start=1):
        if judging is not None:
            judging(number, len(pairs))
        try:
            fit = _fitted(rest, _task(rest, recipe, None), recipe, progress)
        except InvalidInput:
            # The rest is too small for the feature or the search; the other folds still judge.
            continue
        found.append(_judged(fit, fold_data))
    if not found:
        return None, []
    return added([judgement for judgement, _ in found]), [held for _, held in found]


def _bounded(explanation: Explanation, held: Sequence[_Held]) -> Explanation:
    """The explanation with the bounds of its rules."""
    if not held:
        return explanation
    types = [replace(rule, bound=_bound(rule, held).share) for rule in explanation.types]
    first = [replace(rule, bound=_bound(rule, held).share) for rule in explanation.rules[:MOST_EVIDENCE]]
    rules = (*first, *explanation.rules[MOST_EVIDENCE:])
    return replace(explanation, types=tuple(types), rules=rules)


def _bound(rule: Rule | TypeRule, held: Sequence[_Held]) -> Bound:
    """Of the held-out valid parts that the premise of a rule covers, how many are rejected."""
    own = [one.bound(rule.antecedent) for one in held]
    return Bound(sum(one.rejected for one in own), sum(one.parts for one in own))


def evidence(explanation: Explanation, held: Sequence[_Held]) -> list[dict[str, Any]]:
    """The evidence for each rule in the data, for the file of the constraint."""
    rules: tuple[Rule | TypeRule, ...] = (*explanation.types, *explanation.rules)
    return [
        {
            "rule": rule.words,
            "support": round(rule.support),
            "expected": round(rule.expected, 3),
            "seen": round(rule.exceptions),
            **({"bound": _bound(rule, held).to_dict()} if held else {}),
        }
        for rule in rules[:MOST_EVIDENCE]
        if rule.support is not None and rule.expected is not None and rule.exceptions is not None
    ]


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
            "expected held-out data of the same kind as the training data, found a table and structures; use"
            " the same format for both."
        )
    if isinstance(data, Structures) and data.tuples != held_out.tuples:
        raise InvalidInput(
            "expected held-out data of the same kind as the training data, found tuples and sequences; use"
            " the same kind for both."
        )
    check_columns(held_out, task.feature.context_column)
    return parts_of(task.feature, held_out)


def _held_out_invalid(task: Task, held_out: Data, parts: Parts, known: Known) -> SparsePsi | None:
    """Invalid vectors of held-out data: those of the table, or vectors made in the same way as in training
    that are neither valid nor invalid in training. With `unseen` negatives there are none: training already
    had every unseen vector. If evidence is needed there are none either: a made vector may be valid."""
    space = task.examples.space
    if task.negatives == GIVEN and isinstance(held_out, PsiTable):
        found = rows_of(space, held_out, ~held_out.valid).rows.psi
        return found if len(found) else None
    if not len(parts.rows) or task.negatives == UNSEEN or task.needed is not None:
        return None
    positives = fold(parts.rows.psi, space.d)
    try:
        if task.feature is None or isinstance(held_out, PsiTable):
            made = made_of_rows(task.recipe, space, positives)
        else:
            outside = {i for i, _ in parts.outside}
            inside = [one for i, one in enumerate(held_out.instances) if i not in outside]
            made = task.recipe.source(task.feature, inside, positives).collect(MOST_JUDGED)
    except LconsError:
        # The figures on valid structures are still reported.
        return None
    had = known.valid | known.invalid | set(parts.rows.psi.row_keys())
    fresh = np.array([key not in had for key in made.psi.row_keys()], dtype=np.bool_)
    return made.psi.take(fresh) if fresh.any() else None


def _violation(constraint: LearnedConstraint, examples: LabelledExamples) -> dict[str, float]:
    """The mean of -margin over the invalid examples that the constraint rejects, which is the unit of the
    cost `standard` of soft constraints (`lcons_decode.Soft`); nothing if it rejects none."""
    margins = constraint.margin(examples.negatives.psi)
    rejected = margins[margins < 0]
    return {"violation": float(-rejected.mean())} if len(rejected) else {}
