"""Constraints and weights for the scores of any tagger, chosen on labelled sentences that it has not learned.

    scores, gold -> label scheme (hard), label pairs with evidence (hard), bias of O (soft) -> `lcons decode`

The choices are those of `fit`, by contiguous folds: label pairs are learned without the fold that they are
judged on. A part stays out unless the folds support it; the label scheme, and label pairs for scores without
transitions, stay in unless the folds are against them.

The bias of O is a soft constraint on single labels, so that files and decoders need nothing new: O has the
margin -1, all others 1, and a weight w takes w from the score of O, because

    log sigmoid(-1) - log sigmoid(1) = -1,    min(0, -1) - min(0, 1) = -1

Not in the paper.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core._instance import WORD
from lcons_core.features import NgramLabels
from lcons_decode import ChainBatch, ChainScores, Hard, Scored, Soft
from lcons_tasks.apps._model_folder import CONSTRAINTS, Described, FolderKind
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._fit import OUTSIDE, learn_pairs
from lcons_tasks.fitted._fitted_tagger import Fitted, hard_rules
from lcons_tasks.fitted._jackknife import Steps, decode_folds
from lcons_tasks.fitted._settings import PAIRS, FitSettings
from lcons_tasks.stats import are_spans, count_right, f1

# A tagger is rarely better than this, in percent of tokens, on sentences that it was not trained on.
SUSPICIOUS = 99.0

DECODING = FolderKind(noun="decoding", made_by="make one with `lcons fit --scores`")


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedScores(Fitted):
    """The constraints to decode a tagger's scores under, and how they were chosen.

    accuracy: of the scores alone, in percent of tokens.
    """

    constraints: tuple[Hard | Soft, ...]
    accuracy: float

    @property
    def suspicious(self) -> bool:
        """Whether the scores fit gold so well that they may be those of training sentences."""
        return self.accuracy > SUSPICIOUS

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the constraints, decoding.json, which lists them with their weights, and a report."""
        from lcons_tasks.fitted._report import fit_reports

        described = [
            Described(use.name, use.constraint, {"weight": _weight(use)}) for use in self.constraints
        ]
        more = {"chosen": dict(self.chosen)}
        DECODING.write(folder, None, described, more, lambda place: fit_reports(self, place))

    def options(self, folder: str | os.PathLike[str]) -> list[str]:
        """The options of `lcons decode` for the constraints in a folder that `save` wrote."""
        options = []
        for use in self.constraints:
            weight = "" if isinstance(use, Hard) else f":{use.weight:g}"
            options += ["-c", f"{os.fspath(folder)}/{CONSTRAINTS}/{use.name}.json{weight}"]
        return options


def fit_scores(
    train: Sequence[Sentence], scored: Sequence[Scored | ChainScores], settings: FitSettings | None = None
) -> FittedScores:
    """What to decode the scores under: those of the labelled sentences, in the same order, by a tagger that
    was not trained on them.

    >>> train = [Sentence(("New", "York"), ("B-X", "I-X"))] * 4
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> found = fit_scores(train, [scores] * 4)
    >>> found.base, found.figure, [use.name for use in found.constraints]
    (0.0, 100.0, ['iob2'])
    """
    settings = settings or FitSettings()
    sequences = [item if isinstance(item, Scored) else Scored(item) for item in scored]
    _check_same(train, sequences)
    scores = [sequence.scores for sequence in sequences]
    batch = ChainBatch.of(scores)
    steps = Steps(train, batch.labels, settings.folds, settings.seed)
    held = [ChainBatch.of(scores[first:stop]) for first, stop in steps.folds]
    alone = decode_folds(held, ())
    steps.add("scores alone", alone)
    uses: list[Hard | Soft] = []

    def add(use: Hard, of_folds: Sequence[Sequence[Hard]], part: str, default: bool) -> None:
        """Adds a constraint, which is another one in each fold, if the folds support it, or with `default` if
        they are not against it."""
        labels = decode_folds(held, uses, of_folds)
        if steps.prefer([steps.last, labels], int(default)):
            uses.append(use)
            steps.add(part, labels)

    for scheme in steps.scheme(batch.labels) if are_spans(batch.labels) else ():
        add(scheme, [[scheme]] * len(held), f"label scheme {scheme.name}", default=True)
    of_folds = [learn_pairs(steps.without(fold), settings.seed) for fold in steps.folds]
    for pairs in learn_pairs(train, settings.seed):
        add(pairs, of_folds, "label pairs", default=not batch.transition.any())
    if OUTSIDE in batch.labels:
        hard = [use for use in uses if use.name != PAIRS]
        softs = [bias_of_outside(batch.labels, bias) for bias in settings.biases if bias]
        more = of_folds if len(hard) < len(uses) else ()
        options = [decode_folds(held, [*hard, soft], more) for soft in softs]
        if chosen := steps.prefer([steps.last, *options]):
            steps.add("bias of O", options[chosen - 1])
            uses.append(softs[chosen - 1])
    if steps.is_worse():
        steps.add("scores alone again, which are better", alone)
        uses.clear()
    soft = [use for use in uses if isinstance(use, Soft)]
    costly = {FEWER: "O", MORE: "every label but O"}
    return FittedScores(
        **steps.results(soft[0].weight if soft else None),
        unlabelled=None,
        rules=(*hard_rules(uses, 9), *(f"{costly[use.name]} costs {use.weight:g}" for use in soft)),
        chosen={
            "constraints": {use.name: _weight(use) or "hard" for use in uses},
            "folds": len(held),
            "seed": settings.seed,
        },
        constraints=tuple(uses),
        accuracy=float(f1(count_right(steps.gold, alone, spans=False).sum(0))),
    )


def _check_same(train: Sequence[Sentence], scored: Sequence[Scored]) -> None:
    if not 2 <= len(train) == len(scored):
        raise InvalidInput(
            f"fit needs scores of at least 2 labelled sentences: got {len(train):,} sentences and"
            f" {len(scored):,} of scores."
        )
    for number, (sentence, sequence) in enumerate(zip(train, scored, strict=True), start=1):
        words = tuple(sequence.x.get(WORD, sentence.words))
        if len(sentence) != len(sequence.scores) or words != sentence.words:
            raise InvalidInput(
                f"sentence {number} of the scores must be {' '.join(sentence.words)[:60]!r}: got"
                f" {len(sequence.scores)} tokens, {' '.join(words)[:60]!r}."
            )


FEWER, MORE = "fewer-O", "more-O"


def bias_of_outside(labels: Sequence[str], bias: float) -> Soft:
    """The soft constraint that takes `bias` from the score of O, or gives it if negative."""
    feature = NgramLabels(tuple(labels), n=1)
    costly = [(label == OUTSIDE) == (bias > 0) for label in labels]
    network = RectifierNetwork(np.where(costly, 2.0, 0.0)[None, :], np.zeros(1))
    constraint = LearnedConstraint(network, feature.space, feature, {"designed": "bias of O"})
    return Soft(constraint, abs(bias), FEWER if bias > 0 else MORE)


def _weight(use: Hard | Soft) -> float | None:
    return use.weight if isinstance(use, Soft) else None
