"""Recipes of constraints in experiments: which feature, how large a network, which negatives.

Differs from the paper: one start and few epochs for each constraint.

Not in the paper: many or all single-label changes as negatives instead of one, and positives weighted by how
often they were seen, for soft use, where a graded margin matters more than a sharp border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lcons_core import LearnedConstraint, Recipe
from lcons_tasks.data import Sentence

NEGATIVES = {"existence": "flip", "counts": "perturb"}


def once(feature: str, n: int | None = None, mark: str = "", **fields: Any) -> Recipe:
    """A recipe with one start, 100 epochs and one negative by `relabel` per positive, unless `fields` state
    otherwise. Tables and files use its name; `mark` at its end distinguishes recipes of the same name.

    >>> once("pos", 3).name, once("pos", 2, many="all", mark="-soft").name
    ('pos-3', 'pos-2-all-soft')
    """
    made = Recipe(feature, n, **{"negatives": "relabel", "restarts": 1, "epochs": 100, **fields})
    length, many = "" if n is None else f"-{n}", "" if made.many == 1 else f"-{made.many}"
    return replace(made, name=f"{made.column or feature}{length}{many}{mark}")


def recipe(text: str, hidden: int = 10) -> Recipe:
    """The recipe of a constraint such as `pos:3` or `existence:2`, with the paper's negatives.

    >>> recipe("pos:3").name, recipe("existence:2").negatives
    ('pos-3', 'flip')
    """
    feature, _, n = text.partition(":")
    return once(feature, int(n), hidden=hidden, negatives=NEGATIVES.get(feature, "relabel"))


def learn(recipe: Recipe, sentences: Sequence[Sentence], seed: int) -> LearnedConstraint:
    """The constraint that a recipe learns from sentences."""
    return replace(recipe, seed=seed).learn([sentence.instance for sentence in sentences])
