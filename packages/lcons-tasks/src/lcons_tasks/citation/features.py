"""The constraints of the citation experiment.

Paper: Table 2 and Appendix D: six features, each with its own negatives; K = 10; windows of two tokens for
POS and punctuation. Differs from the paper: one learning rate and one start, at most 100 epochs.

Not in the paper: all changes of one label as negatives (`ALL`), and for soft use windows of word shapes, of
frequent words, and of POS tags, in larger networks with positives weighted by how often they were seen.
"""

from __future__ import annotations

from dataclasses import replace

from lcons_tasks.experiment.recipes import Recipe

PAPER = {
    "existence": Recipe("existence", 1, negatives="flip"),
    "counts": Recipe("counts", None, negatives="perturb"),
    "bigram": Recipe("ngram", 2, negatives="unseen"),
    "trigram": Recipe("ngram", 3, negatives="near"),
    "pos": Recipe("pos", 2, negatives="apart"),
    "punctuation": Recipe("punctuation", 2, negatives="apart"),
}

COMBINATIONS = {
    "C1": ("existence", "trigram"),
    "C2": ("existence", "trigram", "pos"),
    "C3": tuple(PAPER),
}

ALL = {
    "existence": Recipe("existence", 1, negatives="flip", many="all"),
    "counts": Recipe("counts", None, negatives="perturb", many="all"),
    "bigram": Recipe("ngram", 2, many="all"),
    "trigram": Recipe("ngram", 3, many="all"),
    "pos": Recipe("pos", 2, many="all"),
    "punctuation": Recipe("punctuation", 2, many="all"),
}

SOFT_POS = Recipe("pos", 2, hidden=30, many="all", by_frequency=True, mark="-soft")
WINDOWS = (
    Recipe("shape", 3, hidden=30, many=8, by_frequency=True, epochs=60, mark="-soft"),
    Recipe("word", 2, hidden=30, many="all", by_frequency=True, mark="-soft"),
)
POS_WINDOWS = Recipe("pos", 3, hidden=30, many=8, by_frequency=True, epochs=60, mark="-soft")


def paper_recipe(name: str, hidden: int = 10) -> Recipe:
    """The recipe of a feature of Table 2, with another K.

    >>> paper_recipe("pos", 5).name
    'pos-2-K5'
    """
    recipe = PAPER[name]
    return recipe if hidden == recipe.hidden else replace(recipe, hidden=hidden, mark=f"-K{hidden}")
