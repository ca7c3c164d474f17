"""Out-of-fold scores: each labelled sentence is scored by a model that was not trained on it.

Folds are contiguous: neighbours in a file often come from one document, and random folds would put half of a
document on each side (77 F1 by random folds where new documents gave 21). No label is set aside: the final
model trains on all sentences.

    counts(option) (N, 3): right, predicted and gold spans of each sentence, in its fold
    F1(option) = F1 of the sum over all sentences
    SE(a, b): the standard deviation of F1(a) - F1(b) over bootstrap draws of sentences

Contiguous folds of one long document still share its names and formulas, and then favour what knows them by
heart. Unlabelled text shows it: let known(S) be the share of the words of S that occur in the other folds,
rare words counting more (log(number of sentences / number with the word)). Then

    resemblance = mean over folds of known(fold) / mean over folds of known(unlabelled text)

is about 1 where folds are as new to each other as the text is, and 2 or more for few long documents of one
style. Differences between options count that much less: the guard asks for resemblance^2 times as many
standard errors.

A part that has helped on other corpora needs support that grows with what it can destroy. Before the folds
speak, its gain in points is taken as normal, with a mean m left and a standard deviation t left in proportion
to what is left to gain, left = 100 - F1(before). The folds say g = F1(after) - F1(before), with the noise
s = SE * resemblance^2. The part stays if the mean of the gain after both is not negative:

    g / s^2 + m left / (t left)^2 >= 0,    that is    g >= -PRIOR * s^2 / left,    PRIOR = m / t^2

So folds that are too noisy to tell leave the decision to the other corpora. Where more than MUCH is left, it
also stays unless the folds are surely against it, g >= -SURE * s * (1 - MUCH / left); where less than ENOUGH
is left, it must gain by the folds. Each part is judged against the best so far, consistency thus against
clusters.

The constants were chosen on dev parts of nine corpora, each left out in turn: few labels, rare ones, and
labelled sentences of one style with others to tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lcons_core._types import Floats, Ints
from lcons_decode import ChainBatch, ChainConstraints, Hard, Soft, constrained_ids
from lcons_tasks.models._clusters import form
from lcons_tasks.stats import drawn_weights, f1

DRAWS = 500
# What other corpora say for a part, in parts of the noise of folds; with fewer points left, it must gain.
PRIOR, ENOUGH = 3.0, 10.0
# Standard errors by which folds must be against it where more points are left than these.
SURE, MUCH = 2.0, 20.0
# Standard errors that another change needs.
LIKELY = 1.0
# Points below the base model that no resemblance of folds explains; the most that it did explain was 9.
MOST_LOST = 15.0
# Sentences of unlabelled text that are compared with the folds.
MOST_COMPARED = 3000


def resemblance(
    labelled: Sequence[Sequence[str]], unlabelled: Sequence[Sequence[str]], folds: Sequence[tuple[int, int]]
) -> float:
    """How much more the folds know of each other's words than of the unlabelled text, at least 1.

    >>> from lcons_core.learn._evidence import fold_bounds
    >>> same = [["the", "court", str(i % 2)] for i in range(4)]
    >>> resemblance(same, [["a", "dog"], ["the", "cat"]], fold_bounds(4, 2)) > 2
    True
    >>> resemblance(same, same, fold_bounds(4, 2))
    1.0
    """
    sentences = [[form(word) for word in words] for words in labelled]
    text = [[form(word) for word in words] for words in unlabelled[:MOST_COMPARED]]
    if not text:
        return 1.0
    counts = Counter(word for words in (*sentences, *text) for word in set(words))
    weight = {word: np.log((len(sentences) + len(text)) / count) for word, count in counts.items()}

    def known(part: Sequence[Sequence[str]], others: set[str]) -> float:
        total = sum(weight[word] for words in part for word in words)
        return float(sum(weight[word] for words in part for word in words if word in others) / (total or 1.0))

    sides = []
    for first, stop in folds:
        others = {word for words in (*sentences[:first], *sentences[stop:]) for word in words}
        sides.append((known(sentences[first:stop], others), known(text, others)))
    inside, outside = np.mean(sides, axis=0)
    return max(1.0, float(inside / outside)) if outside else 1.0


@dataclass(frozen=True, eq=False)
class Draws:
    """Bootstrap draws of N sentences, the same for all options: `weights` (draws, N)."""

    weights: Floats

    @classmethod
    def of(cls, n: int, seed: int) -> Draws:
        """The draws of n sentences."""
        return cls(np.concatenate(list(drawn_weights(n, DRAWS, seed))))

    def error(self, better: Ints, worse: Ints) -> float:
        """SE(better, worse) of two options' counts, in points."""
        return float((f1(self.weights @ better) - f1(self.weights @ worse)).std())


def decode_folds(
    held: Sequence[ChainBatch], uses: Sequence[Hard | Soft], more: Sequence[Sequence[Hard]] = ()
) -> list[tuple[str, ...]]:
    """The labels of all sentences, each decoded from the scores of its fold under constraints; `more` are
    some for each fold."""
    labels: list[tuple[str, ...]] = []
    for k, batch in enumerate(held):
        every = [*uses, *(more[k] if more else ())]
        y, _, _ = constrained_ids(batch, ChainConstraints.of(every, batch.labels), None)
        names = [batch.labels[i] for i in y.tolist()]
        labels += [tuple(names[a:b]) for a, b in pairwise(batch.offsets.tolist())]
    return labels


def prefer(counts: Sequence[Ints], default: int, draws: Draws, errors: float) -> int:
    """The option with the best F1 if it is better than the default by more than `errors` standard errors;
    else the default."""
    figures = [float(f1(option.sum(0))) for option in counts]
    best = max(range(len(counts)), key=lambda i: (figures[i], i == default))
    gain = figures[best] - figures[default]
    return best if gain > errors * draws.error(counts[best], counts[default]) else default


def stays(before: Ints, after: Ints, draws: Draws, resemblance: float) -> bool:
    """Whether a part stays that has helped on other corpora, by the counts without it and with it."""
    old, new = (float(f1(counts.sum(0))) for counts in (before, after))
    left = 100 - old
    if left < ENOUGH:
        return new > old
    noise = draws.error(after, before) * resemblance**2
    return new - old >= -max(PRIOR * noise**2 / left, SURE * noise * (1 - MUCH / left))
