"""Constraints learned from sentences, each learned once and kept: a stage whose code is learning only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lcons_core import LearnedConstraint, Recipe, load, save
from lcons_tasks.data import Sentence
from lcons_tasks.data._sentence import hash_sentences
from lcons_tasks.experiments.engine._recipes import learn

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages


def learned(recipe: Recipe, train: Sequence[Sentence], seed: int, kept: Stages) -> LearnedConstraint:
    """The constraint of a recipe, learned now or read from its stage."""
    inputs = {"train": hash_sentences(train), "seed": seed, "recipe": recipe.to_dict()}

    def make(folder: Path) -> None:
        save(learn(recipe, train, seed), folder / "constraint.json")

    return kept.keep("constraint", inputs, make, lambda folder: load(folder / "constraint.json"))
