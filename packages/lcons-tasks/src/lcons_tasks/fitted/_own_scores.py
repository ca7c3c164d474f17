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
from dataclasses import dataclass, replace

import numpy as np

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core._instance import WORD
from lcons_core.features import NgramLabels
from lcons_decode import ChainBatch, ChainScores, Hard, Scored, Soft
from lcons_tasks.apps._model_folder import CONSTRAINTS, Described, FolderKind
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._fit import OUTSIDE, learn_pairs
from lcons_tasks.fitted._fitted_tagger import Fitted, Steps, hard_rules
from lcons_tasks.fitted._jackknife import decode_folds
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


def check_decoding_folder(folder: str | os.PathLike[str]) -> None:
    """Raises `LconsError` if no constraints can be written there; call it before long work."""
    DECODING.check_place(folder)


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
    sequences = [scores if isinstance(scores, Scored) else Scored(scores) for scores in scored]
    _check_same(train, sequences)
    if len(train) < 2:
        raise InvalidInput(f"fit needs at least 2 labelled sentences: got {len(train)}; label some more.")
    return _Choice(train, ChainBatch.of([sequence.scores for sequence in sequences]), settings).run()


def _check_same(train: Sequence[Sentence], scored: Sequence[Scored]) -> None:
    if len(train) != len(scored):
        raise InvalidInput(f"expected scores of {len(train):,} labelled sentences: got {len(scored):,}.")
    for number, (sentence, sequence) in enumerate(zip(train, scored, strict=True), start=1):
        words = tuple(sequence.x.get(WORD, sentence.words))
        if len(sentence) != len(sequence.scores) or words != sentence.words:
            raise InvalidInput(
                f"sentence {number} of the scores must be {' '.join(sentence.words)[:60]!r}: got"
                f" {len(sequence.scores)} tokens, {' '.join(words)[:60]!r}."
            )


class _Choice:
    """The data of one `fit_scores`, and its steps."""

    def __init__(self, train: Sequence[Sentence], batch: ChainBatch, settings: FitSettings) -> None:
        self.train, self.batch, self.settings = list(train), batch, settings
        self.steps = Steps(self.train, batch.labels, settings.folds, settings.seed)
        self.held = [_part(batch, first, stop) for first, stop in self.steps.folds]
        self.uses: list[Hard | Soft] = []

    def run(self) -> FittedScores:
        """All steps."""
        alone = decode_folds(self.held, ())
        self.steps.add("scores alone", alone)
        accuracy = float(f1(count_right(self.steps.gold, alone, spans=False).sum(0)))
        for scheme in self.steps.scheme(self.batch.labels) if are_spans(self.batch.labels) else ():
            self._add(scheme, [[scheme]] * len(self.held), f"label scheme {scheme.name}", default=True)
        of_folds = [learn_pairs(self.steps.without(fold), self.settings.seed) for fold in self.steps.folds]
        for pairs in learn_pairs(self.train, self.settings.seed):
            self._add(pairs, of_folds, "label pairs", default=not self.batch.transition.any())
        self._add_bias(of_folds if any(use.name == PAIRS for use in self.uses) else ())
        if self.steps.is_worse():
            self.steps.add("scores alone again, which are better", alone)
            self.uses = []
        soft = [use for use in self.uses if isinstance(use, Soft)]
        costly = {FEWER: "O", MORE: "every label but O"}
        return FittedScores(
            **self.steps.results(soft[0].weight if soft else None),
            unlabelled=None,
            rules=(*hard_rules(self.uses, 9), *(f"{costly[use.name]} costs {use.weight:g}" for use in soft)),
            chosen={
                "constraints": {use.name: _weight(use) or "hard" for use in self.uses},
                "folds": len(self.held),
                "seed": self.settings.seed,
            },
            constraints=tuple(self.uses),
            accuracy=accuracy,
        )

    def _add(self, use: Hard, of_folds: Sequence[Sequence[Hard]], part: str, default: bool) -> None:
        """Adds a constraint, which is another one in each fold, if the folds support it, or with `default` if
        they are not against it."""
        labels = decode_folds(self.held, self.uses, of_folds)
        if self.steps.prefer([self.steps.last, labels], int(default)):
            self.uses.append(use)
            self.steps.add(part, labels)

    def _add_bias(self, pairs: Sequence[Sequence[Hard]]) -> None:
        """Adds a bias of O, if the folds support one."""
        if OUTSIDE not in self.batch.labels:
            return
        hard = [use for use in self.uses if use.name != PAIRS]
        softs = [bias_of_outside(self.batch.labels, bias) for bias in self.settings.biases if bias]
        options = [decode_folds(self.held, [*hard, soft], pairs) for soft in softs]
        if chosen := self.steps.prefer([self.steps.last, *options]):
            self.steps.add("bias of O", options[chosen - 1])
            self.uses.append(softs[chosen - 1])


def _part(batch: ChainBatch, first: int, stop: int) -> ChainBatch:
    """The scores of the sequences first .. stop - 1."""
    rows = slice(batch.offsets[first], batch.offsets[stop])
    offsets = batch.offsets[first : stop + 1] - batch.offsets[first]
    return replace(batch, emission=batch.emission[rows], offsets=offsets)


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
