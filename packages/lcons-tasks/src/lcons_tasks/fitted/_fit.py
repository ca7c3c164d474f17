"""A tagger from a few labelled sentences and unlabelled text, every choice made inside the labelled ones.

    labelled -> folds -> base models -> out-of-fold scores -> options -> F1 -> choice
    unlabelled -> clusters -> base models;  -> marginals -> consistency (`models._consistent_chain`)
    all labelled + choice -> ConstrainedTagger

The order of choices: clusters and penalties of the base model, then label pairs as a hard constraint, then
the weights of consistency, then the bias of O. Each keeps its default unless another value is better by the
number of standard errors that `_settings` states. At the end the whole is compared with the base model: if it
is worse by more than one standard error, or by more than 15 points however much the folds resemble each
other, the base model is the answer.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from lcons_core import InvalidInput, Recipe
from lcons_core._types import Ints
from lcons_core.learn._evidence import EVIDENCE
from lcons_decode import ChainBatch, Hard
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.apps import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._bases import Base, make_base
from lcons_tasks.fitted._fitted_tagger import FittedTagger, Steps, telling_rules
from lcons_tasks.fitted._jackknife import decode_folds, prefer, resemblance
from lcons_tasks.fitted._settings import (
    BIAS,
    BILSTM,
    CLUSTERS,
    CONSISTENCY,
    PAIRS,
    SCHEME,
    TOKEN,
    FitSettings,
)
from lcons_tasks.models import Tagger
from lcons_tasks.models._clusters import Clusters, cluster_words
from lcons_tasks.models._consistent_chain import (
    CLUSTER,
    CONTEXT,
    FORM,
    CodedKeys,
    ConsistentChain,
    consistent,
)
from lcons_tasks.stats import f1

OUTSIDE = "O"
# With less unlabelled text, clusters and consistency say little that the labelled sentences do not.
LEAST_UNLABELLED = 20
# CRFs of more labels take hours: their time grows with the square.
MOST_LABELS = 400
# Standard errors that a change needs: more against what has helped everywhere (`_settings`).
SURE, LIKELY = 1.5, 1.0
# Points below the base model that no resemblance of folds explains; the most that it did explain was 9.
MOST_LOST = 15.0

Weights = tuple[float, float, float]
NO_WEIGHTS: Weights = (0.0, 0.0, 0.0)
Progress = Callable[[str, int, int], None]


def fit(
    train: Sequence[Sentence],
    unlabelled: Sequence[Sequence[str]] = (),
    settings: FitSettings | None = None,
    *,
    progress: Progress | None = None,
) -> FittedTagger:
    """The tagger that the labelled sentences and the unlabelled text, lists of words, give.

    `progress` is called with what is being done, how many steps are done, and how many there are.

    >>> words = ["aspirin", "ibuprofen", "morphine", "codeine"]
    >>> train = [Sentence(("give", w, "now"), ("O", "B-DRUG", "O")) for w in words]
    >>> found = fit(train, settings=FitSettings.plain())
    >>> found.tag([["give", "aspirin", "now"]])[0].y
    ('O', 'B-DRUG', 'O')
    """
    settings = settings or FitSettings()
    if settings.base == BILSTM:  # it has no penalties
        settings = replace(settings, penalties=settings.penalties[:1])
    if any(isinstance(words, str) for words in unlabelled):
        raise InvalidInput("unlabelled sentences must be lists of words: got a text; split it into words.")
    sentences = [sentence for sentence in train if len(sentence)]
    if len(sentences) < 2:
        raise InvalidInput(
            f"fit needs at least 2 labelled sentences with words: got {len(sentences)}; label some more."
        )
    labels = {label for sentence in sentences for label in sentence.labels}
    if len(labels) > MOST_LABELS:
        raise InvalidInput(f"fit of over {MOST_LABELS} labels would take hours: got {len(labels):,}.")
    texts = _spaced(unlabelled, settings.most_unlabelled)
    return _Work(sentences, texts, settings, progress).run()


def _spaced(texts: Sequence[Sequence[str]], most: int) -> list[tuple[str, ...]]:
    """At most so many of the texts with words, evenly spaced."""
    kept = [tuple(words) for words in texts if len(words)]
    if len(kept) <= most:
        return kept
    return [kept[i] for i in np.linspace(0, len(kept) - 1, most).round().astype(int).tolist()]


@dataclass(frozen=True, eq=False)
class _Folds:
    """A base, and for each fold a model that has not seen it, with its scores of the fold."""

    base: Base
    clusters: Clusters | None
    penalties: tuple[float, float]
    models: tuple[Tagger, ...]
    held: tuple[ChainBatch, ...]


class _Work:
    """The data of one `fit`, and its steps."""

    def __init__(
        self,
        sentences: list[Sentence],
        texts: list[tuple[str, ...]],
        settings: FitSettings,
        progress: Progress | None,
    ) -> None:
        self.sentences, self.texts, self.settings = sentences, texts, settings
        self.labels = tuple(sorted({label for sentence in sentences for label in sentence.labels}))
        self.steps = Steps(sentences, self.labels, settings.folds, settings.seed)
        self.folds = self.steps.folds
        words = [sentence.words for sentence in sentences]
        self.resemblance = resemblance(words, texts, self.folds)
        self.outside = self.labels.index(OUTSIDE) if OUTSIDE in self.labels else None
        self.bases: dict[bool, Base] = {}
        self.clusters: Clusters | None = None
        self.progress, self.done = progress, 0
        bases = len(settings.penalties) + self.uses(CLUSTERS)
        self.total = len(self.folds) * (bases + self.uses(PAIRS) + self.uses(CONSISTENCY)) + 1

    def uses(self, part: str) -> bool:
        """Whether a part may be used and has what it needs."""
        if part in (CLUSTERS, CONSISTENCY) and len(self.texts) < LEAST_UNLABELLED:
            return False
        if part == BIAS and self.outside is None:
            return False
        return part in self.settings.parts

    def run(self) -> FittedTagger:
        """All steps."""
        plain = self._trained(False, self.settings.penalties[0])
        self.steps.add("base model", decode_folds(plain.held, ()))
        scheme = self.steps.scheme(self.labels) if self.uses(SCHEME) else ()
        if scheme:
            self.steps.add(f"label scheme {scheme[0].name}", decode_folds(plain.held, scheme))
        folds = self._chosen_base(plain, scheme)
        if folds is not plain:
            name = "clusters of words" if folds.clusters is not None else "penalties"
            self.steps.add(name, decode_folds(folds.held, scheme))
        pairs = self._chosen_pairs(folds, scheme) if self.uses(PAIRS) else ()
        hard = (*scheme, *pairs)
        weights, bias = self._chosen_adjustment(folds, scheme, pairs)
        first, last = (self.steps.counts(self.steps.steps[i][1]) for i in (0, -1))
        lost = float(f1(first.sum(0)) - f1(last.sum(0)))
        if lost > MOST_LOST or self._prefer(1, [0], [first, last], LIKELY) == 0:
            folds, weights, bias, hard = plain, NO_WEIGHTS, 0.0, ()
            self.steps.add("base model again, which is better", self.steps.steps[0][1])
        return self._finished(folds, weights, bias, hard)

    def _prefer(self, default: int, others: Sequence[int], counts: Sequence[Ints], errors: float) -> int:
        """`prefer`, with more standard errors where folds resemble each other."""
        return prefer(default, others, counts, self.steps.draws, errors * self.resemblance**2)

    def _say(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what, self.done, self.total)
        self.done += 1

    def _base(self, clustered: bool) -> Base:
        """The base with or without clusters, made once."""
        clusters = self.clusters if clustered else None
        if clustered not in self.bases:
            settings = self.settings
            self.bases[clustered] = make_base(
                settings.base, self.sentences, self.texts, clusters, settings.iterations, settings.seed
            )
        return self.bases[clustered]

    def _trained(self, clustered: bool, penalties: tuple[float, float]) -> _Folds:
        base = self._base(clustered)
        models, held = [], []
        for first, stop in self.folds:
            self._say("training base models")
            others = [i for i in range(len(self.sentences)) if not first <= i < stop]
            models.append(base.train(others, penalties))
            held.append(base.scores(models[-1], first, stop))
        clusters = self.clusters if clustered else None
        return _Folds(base, clusters, penalties, tuple(models), tuple(held))

    def _chosen_base(self, plain: _Folds, scheme: tuple[Hard, ...]) -> _Folds:
        """The base with the best penalties; with clusters, unless it is surely better without."""
        candidates = [plain]
        if self.uses(CLUSTERS):
            words = [sentence.words for sentence in self.sentences]
            self.clusters = cluster_words([*words, *self.texts], seed=self.settings.seed)
        clustered = self.clusters is not None
        first, *others = self.settings.penalties
        if clustered:
            candidates.append(self._trained(True, first))
        candidates += [self._trained(clustered, penalties) for penalties in others]
        counts = [self.steps.counts(decode_folds(folds.held, scheme)) for folds in candidates]
        if not clustered:
            return candidates[self._prefer(0, range(1, len(candidates)), counts, 0.0)]
        best = self._prefer(1, range(2, len(candidates)), counts, 0.0)
        return candidates[self._prefer(best, [0], counts, SURE)]

    def _chosen_pairs(self, folds: _Folds, scheme: tuple[Hard, ...]) -> tuple[Hard, ...]:
        """A hard constraint on pairs of labels that chance would have shown, if the folds support it. A model
        of single tokens has it unless the folds are against it."""
        own = []
        for fold in self.folds:
            self._say("learning label pairs")
            own.append(learn_pairs(self.steps.without(fold), self.settings.seed))
        without = decode_folds(folds.held, scheme)
        found = decode_folds(folds.held, scheme, own)
        counts = [self.steps.counts(without), self.steps.counts(found)]
        default = 1 if self.settings.base == TOKEN else 0
        if not self._prefer(default, [1 - default], counts, LIKELY):
            return ()
        self.steps.add("label pairs", found)
        self._pairs_of_folds = own
        return learn_pairs(self.sentences, self.settings.seed)

    def _chosen_adjustment(
        self, folds: _Folds, scheme: tuple[Hard, ...], pairs: tuple[Hard, ...]
    ) -> tuple[Weights, float]:
        """The weights of consistency, and the bias of O."""
        settings = self.settings
        weights: list[Weights] = [NO_WEIGHTS]
        if self.uses(CONSISTENCY):
            weights = [*settings.weights, NO_WEIGHTS]
        biases = settings.biases if self.uses(BIAS) else (0.0,)
        held = self._adjusted(folds, weights)
        own = self._pairs_of_folds if pairs else ()
        options = [(w, bias) for w in range(len(weights)) for bias in biases]
        found = [
            decode_folds([_biased(batch, self.outside, bias) for batch in held[w]], scheme, own)
            for w, bias in options
        ]
        counts = [self.steps.counts(labels) for labels in found]
        start = options.index((0, 0.0))
        if weights[0] != NO_WEIGHTS:
            self.steps.add("consistency over unlabelled text", found[start])
        same = [i for i, (w, _) in enumerate(options) if w == 0 and i != start]
        chosen = self._prefer(start, same, counts, LIKELY)
        if chosen != start:
            self.steps.add("bias of O", found[chosen])
        others = [i for i, (w, _) in enumerate(options) if w != 0]
        last = self._prefer(chosen, others, counts, SURE)
        if last != chosen:
            name = "no consistency" if weights[options[last][0]] == NO_WEIGHTS else "other weights"
            self.steps.add(f"{name}, which the folds prefer", found[last])
        return weights[options[last][0]], options[last][1]

    def _adjusted(self, folds: _Folds, weights: Sequence[Weights]) -> list[list[ChainBatch]]:
        """For each choice of weights, the scores of the folds with consistency."""
        if weights == [NO_WEIGHTS]:
            return [list(folds.held)]
        keys = self._keys(folds.clusters)
        found: list[list[ChainBatch]] = [[] for _ in weights]
        for (first, stop), model, held in zip(self.folds, folds.models, folds.held, strict=True):
            self._say("reading unlabelled text")
            batch = folds.base.unlabelled_scores(model)
            probability = marginals_batch(batch)
            words = [sentence.words for sentence in self.sentences[first:stop]]
            for own, w in zip(found, weights, strict=True):
                chain = _chain(model, folds.clusters, batch, probability, keys, w)
                own.append(chain.adjusted(held, words))
        return found

    def _keys(self, clusters: Clusters | None) -> list[CodedKeys]:
        return [CodedKeys.of(kind, self.texts, clusters) for kind in (FORM, CLUSTER, CONTEXT)]

    def _finished(self, folds: _Folds, weights: Weights, bias: float, hard: tuple[Hard, ...]) -> FittedTagger:
        self._say("training on all sentences")
        N = len(self.sentences)
        base = folds.base.train(range(N), folds.penalties)
        model = _chain(base, folds.clusters, None, None, (), NO_WEIGHTS)
        if weights != NO_WEIGHTS:
            batch = folds.base.unlabelled_scores(base)
            keys = self._keys(folds.clusters)
            model = _chain(base, folds.clusters, batch, marginals_batch(batch), keys, weights)
        if bias and self.outside is not None:
            shift = np.zeros(len(self.labels))
            shift[self.outside] = -bias
            model = replace(model, bias=shift)
        tagger = ConstrainedTagger(model, hard)
        return FittedTagger(
            **self.steps.results(),
            tagger=tagger,
            unlabelled=len(self.texts),
            rules=telling_rules(tagger),
            chosen={
                "base": self.settings.base,
                "penalties": list(folds.penalties),
                "clusters": folds.clusters is not None,
                "weights": dict(zip((FORM, CLUSTER, CONTEXT), weights, strict=True)),
                "bias of O": 0.0 - bias,
                "hard": [use.name for use in hard],
                "folds": len(self.folds),
                "resemblance": self.resemblance,
                "seed": self.settings.seed,
            },
        )


def learn_pairs(sentences: Sequence[Sentence], seed: int) -> tuple[Hard, ...]:
    """The constraint on pairs of labels with evidence; nothing if no pair has any."""
    recipe = Recipe("ngram", n=2, evidence=EVIDENCE, hidden="doubled", restarts=1, seed=seed)
    instances = [sentence.instance for sentence in sentences]
    seen = {pair for sentence in sentences for pair in pairwise(sentence.labels)}
    labels = {label for sentence in sentences for label in sentence.labels}
    if not seen or len(seen) == len(labels) ** 2 or not len(recipe.examples(instances).negatives):
        return ()
    return (Hard(recipe.learn(instances), PAIRS),)


def _chain(
    base: Tagger,
    clusters: Clusters | None,
    batch: ChainBatch | None,
    probability: Any,
    keys: Sequence[CodedKeys],
    weights: Weights,
) -> ConsistentChain:
    """The base model with the tables of the unlabelled text that `batch` scores."""
    L = len(base.labels if batch is None else batch.labels)
    if batch is None or weights == NO_WEIGHTS:
        return ConsistentChain(base, clusters, (), np.full(L, 1 / L), np.zeros(L))
    tables, prior = consistent(batch, probability, keys, weights)
    return ConsistentChain(base, clusters, tables, prior, np.zeros(L))


def _biased(batch: ChainBatch, outside: int | None, bias: float) -> ChainBatch:
    """The scores with a smaller score of O."""
    if outside is None or not bias:
        return batch
    emission = batch.emission.copy()
    emission[:, outside] -= bias
    return replace(batch, emission=emission)
