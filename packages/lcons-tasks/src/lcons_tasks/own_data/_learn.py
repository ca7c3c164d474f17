"""One constraint learned from the user's data, with its rules in words and its judgement on data.

    data -> feature -> LabelledExamples -> ConstraintLearner -> LearnedConstraint -> Judgement, Explanation

Held-out data are used only for the judgement. Invalid vectors for the judgement are made from the held-out
structures in the same way as in training; vectors that are valid in either part, or invalid in training, are
left out. Support, exceptions and expectations of rules are counted on all training data. If K is "auto" and
the negatives are all unseen vectors, K is doubled until it fits (`Recipe`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import (
    Explanation,
    InvalidInput,
    LabelledExamples,
    LconsError,
    LearnedConstraint,
    PsiRows,
    Recipe,
    SparsePsi,
    explain,
)
from lcons_core.learn import DOUBLED, UNSEEN, Before, Progress, fold
from lcons_tasks.own_data._data import Data, PsiTable, Structures
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
from lcons_tasks.own_data._judgement import Judgement, Known, judge, warning
from lcons_tasks.own_data._vocabulary import check_labels, unknown_contexts

AUTO = "auto"
# At most this many invalid vectors are made from held-out data.
MOST_JUDGED = 10**6
# A constraint file stores the evidence for at most this many rules.
MOST_EVIDENCE = 200


@dataclass(frozen=True)
class Learned:
    """A constraint, its examples and recipe, its judgement on them and on held-out data, and its rules.

    `chosen` is the learner's configuration, `scores` are the mean accuracies of cross-validation, if there
    was one, and `tried` is each K with its accuracy, if K was doubled; `contradictions` counts vectors of a
    table that are both valid and invalid in it."""

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
    training_warning: str | None = None
    held_out_warning: str | None = None
    labels_warning: str | None = None
    contradictions: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each part of the data in which valid structures are forbidden, and one if some
        structures were not judged."""
        texts = (self.training_warning, self.held_out_warning, self.labels_warning)
        return tuple(text for text in texts if text is not None)


def learn(
    data: Data,
    recipe: Recipe | None = None,
    held_out: Data | None = None,
    *,
    rules: int = 20,
    progress: Callable[[Progress], None] | None = None,
    making: Making | None = None,
    before: Before | None = None,
    by_position: bool = False,
) -> Learned:
    """The constraint that the data obey.

    `making` is called before negatives are made, with their source, the most that it may make and the seconds
    that it needs; `before` is called with the examples and the learner before each training. `by_position`:
    the held-out data are the end of the same data, so that a label that occurs only there causes a warning.

    >>> from lcons_core import Recipe
    >>> from lcons_tasks.own_data import Structures, learn
    >>> words = [(["Ann", "sings"], ["B", "O"]), (["Ann", "Lee"], ["B", "I"]), (["Oh", "Ann"], ["O", "B"])]
    >>> found = learn(Structures.of([*words, (["Oh", "no"], ["O", "O"])]), Recipe(hidden=2))
    >>> found.constraint.satisfied(["O", "I"]), found.training.forbidden_structures
    (False, 0)
    """
    chosen = recipe or Recipe()
    labels_warning = None if held_out is None else check_labels(data, held_out, by_position)
    task = of_table(data, chosen) if isinstance(data, PsiTable) else of_structures(data, chosen, making)
    held = None if held_out is None else _held_out_parts(task, data, held_out)
    doubled = chosen.hidden == AUTO and task.negatives == UNSEEN
    training_recipe = replace(task.recipe, hidden=DOUBLED) if doubled else task.recipe
    found = training_recipe.learn_examples(task.examples, task.feature, progress=progress, before=before)
    constraint = found.constraint
    vectors = (task.seen, task.examples.positives, task.examples.negatives)
    keys = Known(*(set(rows.psi.row_keys()) for rows in vectors))
    training = judge(constraint, data, task.valid, keys)
    judged = None
    if held is not None and held_out is not None:
        unknown = None
        if isinstance(data, Structures) and isinstance(held_out, Structures):
            outside = {i for i, _ in held.outside}
            unknown = unknown_contexts(task.feature, task.recipe.feature, data, held_out, outside)
        fresh = _held_out_invalid(task, held_out, held, keys)
        judged = judge(constraint, held_out, held, keys, True, fresh, unknown)
    # All valid parts, also those too rare to be learned, counted as often as seen; each made vector once.
    counted = replace(task.examples, positives=task.seen, negatives=PsiRows.of(task.examples.negatives.psi))
    explanation = explain(constraint, counted, limit=rules, seed=chosen.seed)
    recorded = {"violation": violation(constraint, task.examples), "evidence": evidence(explanation)}
    constraint = replace(constraint, provenance={**constraint.provenance, **recorded})
    results = found.learner.cv_results_
    return Learned(
        constraint=constraint,
        examples=task.examples,
        recipe=chosen,
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


def violation(constraint: LearnedConstraint, examples: LabelledExamples) -> float | None:
    """The mean of -margin over the invalid examples that the constraint rejects, which is the unit of the
    cost `standard` of soft constraints (`lcons_decode.Soft`); None if it rejects none."""
    margins = constraint.margin(examples.negatives.psi)
    rejected = margins[margins < 0]
    return float(-rejected.mean()) if len(rejected) else None


def evidence(explanation: Explanation) -> list[dict[str, Any]]:
    """The evidence for each rule in the data, for the file of the constraint."""
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


def _warning_on(judged: Judgement | None, held_out: Data | None, recipe: Recipe) -> str | None:
    if judged is None or held_out is None:
        return None
    return warning(judged, "in held-out data", held_out, recipe)


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
    had every unseen vector."""
    space = task.examples.space
    if task.negatives == GIVEN and isinstance(held_out, PsiTable):
        found = rows_of(space, held_out, ~held_out.valid).rows.psi
        return found if len(found) else None
    if not len(parts.rows) or task.negatives == UNSEEN:
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
