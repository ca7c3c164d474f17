"""The constraints of the citation experiment.

Paper: Table 2 and Appendix D: six features, each with its own negatives; K = 10; windows of two tokens for
POS and punctuation. Differs from the paper: one learning rate and one start; and positives weigh more than
negatives (`caution`), since a hard constraint that rejects what is right costs more than one that accepts
what is wrong.

Not in the paper: all changes of one label as negatives (`ALL`), and for soft use windows of word shapes, of
frequent words, and of POS tags, in larger networks with positives weighted by how often they were seen; and
windows of clues (`text.clues`), which know a list of words that references use.
"""

from __future__ import annotations

from dataclasses import replace

from lcons_tasks.experiment.recipes import Recipe
from lcons_tasks.text.clues import CLUE


def _hard(feature: str, n: int | None, negatives: str, caution: float = 4.0) -> Recipe:
    return Recipe(feature, n, learning_rate=0.01, epochs=400, negatives=negatives, caution=caution)


PAPER = {
    "existence": _hard("existence", 1, "flip"),
    "counts": _hard("counts", None, "perturb"),
    "bigram": _hard("ngram", 2, "unseen"),
    "trigram": _hard("ngram", 3, "near"),
    "pos": _hard("pos", 2, "apart", caution=256.0),
    "punctuation": _hard("punctuation", 2, "apart"),
}

COMBINATIONS = {
    "C1": ("existence", "trigram"),
    "C2": ("existence", "trigram", "pos"),
    "C3": tuple(PAPER),
}

ALL = {
    name: replace(recipe, negatives=recipe.negatives if recipe.is_global else "relabel", many="all")
    for name, recipe in PAPER.items()
}

SOFT_POS = Recipe("pos", 2, 30, 0.01, many="all", by_frequency=True, epochs=300, mark="-soft")
WINDOWS = (
    Recipe("shape", 3, 30, negatives="recast", many=8, by_frequency=True, epochs=60, mark="-soft"),
    Recipe("word", 2, hidden=30, many="all", by_frequency=True, mark="-soft"),
)
CLUES = (
    Recipe("context", 3, 30, 0.03, "recast", 8, True, 60, column=CLUE, mark="-soft"),
    WINDOWS[1],
)
POS_WINDOWS = Recipe("pos", 3, hidden=30, many=8, by_frequency=True, epochs=60, mark="-soft")


def paper_recipe(name: str, hidden: int = 10) -> Recipe:
    """The recipe of a feature of Table 2, with another K.

    >>> paper_recipe("pos", 5).name
    'pos-2-K5'
    """
    recipe = PAPER[name]
    return recipe if hidden == recipe.hidden else replace(recipe, hidden=hidden, mark=f"-K{hidden}")
