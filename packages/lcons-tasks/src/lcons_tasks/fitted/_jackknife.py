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
from itertools import pairwise
from typing import Any

import numpy as np

from lcons_core import detect_scheme
from lcons_core._types import Ints
from lcons_core.learn._evidence import fold_bounds
from lcons_decode import ChainBatch, ChainConstraints, Hard, Soft, constrained_ids
from lcons_tasks.data import Sentence
from lcons_tasks.data._tagged_text import spans
from lcons_tasks.fitted._fitted_tagger import DESIGNED, Contribution
from lcons_tasks.models._clusters import form
from lcons_tasks.own_data._recommendation import HARD, SOFT, Gain, recommend
from lcons_tasks.report._document import Change
from lcons_tasks.stats import are_spans, bootstrap_f1, count_right, drawn_weights, f1

Labels = list[tuple[str, ...]]
DRAWS = 500
# Sentences that are shown.
MOST_CHANGED = 5
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


def decode_folds(
    held: Sequence[ChainBatch], uses: Sequence[Hard | Soft], more: Sequence[Sequence[Hard]] = ()
) -> Labels:
    """The labels of all sentences, each decoded from the scores of its fold under constraints; `more` are
    some for each fold."""
    labels: Labels = []
    for k, batch in enumerate(held):
        every = [*uses, *(more[k] if more else ())]
        y, _, _ = constrained_ids(batch, ChainConstraints.of(every, batch.labels), None)
        names = [batch.labels[i] for i in y.tolist()]
        labels += [tuple(names[a:b]) for a, b in pairwise(batch.offsets.tolist())]
    return labels


class Steps:
    """The labels of all labelled sentences after each step, and what the steps are worth; differences count
    less where folds resemble each other."""

    def __init__(self, sentences: Sequence[Sentence], known: Sequence[str], folds: int, seed: int) -> None:
        self.sentences, self.seed, self.resemblance = list(sentences), seed, 1.0
        self.gold = [sentence.labels for sentence in sentences]
        self.spans = are_spans({*known, *(label for y in self.gold for label in y)})
        self.folds = fold_bounds(len(self.sentences), folds)
        self.draws = np.concatenate(list(drawn_weights(len(self.sentences), DRAWS, seed)))
        self.steps: list[tuple[str, Labels]] = []

    @property
    def last(self) -> Labels:
        """The labels after the last step."""
        return self.steps[-1][1]

    def add(self, name: str, labels: Labels) -> None:
        """Adds a step."""
        self.steps.append((name, labels))

    def counts(self, labels: Labels) -> Ints:
        """(N, 3) right, predicted and gold spans of each sentence; tokens if labels are no spans."""
        return count_right(self.gold, labels, self.spans)

    def figure(self, labels: Labels) -> float:
        """F1, or accuracy, in percent."""
        return float(f1(self.counts(labels).sum(0)))

    def noise(self, labels: Labels, others: Labels) -> float:
        """SE of the difference of two labellings, times resemblance^2."""
        ours, theirs = (f1(self.draws @ self.counts(side)) for side in (labels, others))
        return float((ours - theirs).std()) * self.resemblance**2

    def prefer(self, options: Sequence[Labels], default: int = 0, errors: float = LIKELY) -> int:
        """The best option if it is better than the default by more than `errors` standard errors; else the
        default."""
        figures = [self.figure(labels) for labels in options]
        best = max(range(len(options)), key=lambda i: (figures[i], i == default))
        gain = figures[best] - figures[default]
        return best if gain > errors * self.noise(options[best], options[default]) else default

    def stays(self, labels: Labels) -> bool:
        """Whether a change to these labels stays that has helped on every corpus."""
        before = self.figure(self.last)
        gain, left = self.figure(labels) - before, 100 - before
        if left < ENOUGH:
            return gain > 0
        noise = self.noise(labels, self.last)
        return gain >= -max(PRIOR * noise**2 / left, SURE * noise * (1 - MUCH / left))

    def is_worse(self) -> bool:
        """Whether the last step is worse than the first."""
        first = self.steps[0][1]
        lost = self.figure(first) - self.figure(self.last)
        return lost > MOST_LOST or not self.prefer([first, self.last], default=1)

    def without(self, fold: tuple[int, int]) -> list[Sentence]:
        """The sentences of the other folds."""
        return [*self.sentences[: fold[0]], *self.sentences[fold[1] :]]

    def scheme(self, labels: Sequence[str]) -> tuple[Hard, ...]:
        """The label scheme of gold as a hard constraint on labels, if there is one."""
        name = detect_scheme(self.gold)
        return () if name is None else (Hard(DESIGNED[name](labels), name),)

    def results(self, weight: float | None = None) -> dict[str, Any]:
        """The fields of `Fitted` that the steps decide on; `weight` is that of the bias, if it is soft."""
        measure = "span F1" if self.spans else "token accuracy"
        counts = [self.counts(labels) for _, labels in self.steps]
        gains = [
            bootstrap_f1([after], [before], seed=self.seed)
            for before, after in pairwise([counts[0], *counts])
        ]
        parts = [
            Contribution(part, self.figure(labels), gain)
            for (part, labels), gain in zip(self.steps, gains, strict=True)
        ]
        uses = {"label pairs": (HARD, None), **({"bias of O": (SOFT, weight)} if weight else {})}
        advice = {
            part.part: recommend(None, gain=Gain(*uses[part.part], part.gain, measure))
            for part in parts
            if part.part in uses
        }
        return {
            "measure": measure,
            "labelled": len(self.sentences),
            "contributions": tuple(parts),
            "advice": tuple(f"{name}: {text}" for name, text in advice.items()),
            "gain": bootstrap_f1([counts[-1]], [counts[0]], seed=self.seed),
            "changed": self._changed(),
        }

    def _changed(self) -> tuple[Change, ...]:
        """Sentences whose spans differ after all steps, spread over the file; right or wrong."""
        sides = zip(self.sentences, self.steps[0][1], self.last, strict=True)
        changes = [Change(s.words, a, b, s.labels) for s, a, b in sides if list(spans(a)) != list(spans(b))]
        return tuple(changes[:: max(1, len(changes) // MOST_CHANGED)][:MOST_CHANGED])
