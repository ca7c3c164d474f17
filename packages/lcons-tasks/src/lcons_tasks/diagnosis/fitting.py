"""Constraint, data and predictions of any kind, read as what a diagnosis is given; what does not fit together
is refused.

| data | constraint | predictions |
|---|---|---|
| label sequences | its feature makes psi of labels | a label for each |
| tuples | its feature makes psi of tuples | tuples for each structure |
| psi vectors | any whose columns they have | a vector for each valid row |
"""

from __future__ import annotations

from collections.abc import Mapping

from lcons_core import LearnedConstraint
from lcons_core.errors import InvalidInput, Unsupported
from lcons_core.instance import Instance
from lcons_core.learn import NEGATIVES, usual_negatives
from lcons_tasks.diagnosis.given import Examples, Given, Predictions
from lcons_tasks.diagnosis.given_structures import given_structures
from lcons_tasks.diagnosis.given_tables import given_tables
from lcons_tasks.labelled.data import PsiTable, Structures


def read_given(
    constraint: LearnedConstraint,
    train: Examples,
    held_out: Examples,
    predictions: Predictions | None,
    negatives: str | None,
) -> Given:
    """What a diagnosis is given; `negatives` are the stated ones, else the recorded, else the usual."""
    source = negatives or _recorded(constraint)
    if source is not None and source not in NEGATIVES:
        raise InvalidInput(f"unknown negatives {source!r}; they are one of {', '.join(NEGATIVES)}.")
    tables = [isinstance(one, PsiTable) for one in (train, held_out, predictions) if one is not None]
    if any(tables) and not all(tables):
        raise InvalidInput(
            "expected training data, held-out data and predictions of one kind, found a table of psi vectors"
            " beside structures; give all of them in one format."
        )
    if isinstance(train, PsiTable) and isinstance(held_out, PsiTable):
        answers = predictions if isinstance(predictions, PsiTable) else None
        if negatives is not None and not train.valid.all():
            raise InvalidInput(
                f"expected no --negatives with a table that has invalid rows, found {negatives!r}; leave it"
                " out, or give valid rows only."
            )
        return given_tables(constraint.space, train, held_out, answers, source)
    assert not isinstance(predictions, PsiTable)
    feature = constraint.feature
    if feature is None:
        raise Unsupported(
            "expected a table of psi vectors (CSV or npz), found structures: this constraint has no feature"
            " that makes psi of them; give the table that it was learned from."
        )
    if len(getattr(feature, "labels", "ab")) < 2:
        raise Unsupported(
            f"expected a constraint that knows at least two labels, found {feature.kind!r} of one; there is"
            " nothing to tell apart."
        )
    chosen = source or usual_negatives(feature)
    return given_structures(feature, _structures(train), _structures(held_out), predictions, chosen)


def _recorded(constraint: LearnedConstraint) -> str | None:
    """The source of negatives that the constraint learned from, where its provenance says so."""
    recipe = constraint.provenance.get("recipe")
    stated = recipe.get("negatives") if isinstance(recipe, Mapping) else None
    return stated if isinstance(stated, str) else None


def _structures(data: Examples) -> Structures:
    if isinstance(data, Structures):
        return data
    assert not isinstance(data, PsiTable)
    instances = tuple(one if isinstance(one, Instance) else one.instance for one in data)
    return Structures(instances, any(not isinstance(label, str) for i in instances for label in i.y[:1]))
