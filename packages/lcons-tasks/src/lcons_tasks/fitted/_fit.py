"""A tagger from a few labelled sentences and unlabelled text, every choice made inside the labelled ones.

    labelled -> folds -> base models -> out-of-fold scores -> options -> F1 -> choice
    unlabelled -> clusters -> base models;  -> marginals -> consistency (`models._consistent_chain`)
    all labelled + choice -> ConstrainedTagger

The order of choices: vectors of an encoder or of words, if any, with their layers and scale; clusters, then
consistency; the penalties of the base model; label pairs as a hard constraint; the bias of O. What has helped
on every corpus stays unless the folds are against it (`Steps.stays`); another value must be better than
the default (`Steps.prefer`). At the end the whole is compared with the base model: if it is worse, the
base model is the answer.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np

from lcons_core import InvalidInput, Recipe
from lcons_core.learn._evidence import EVIDENCE
from lcons_decode import ChainBatch, Hard
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.apps import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._bases import Base, Penalties
from lcons_tasks.fitted._fitted_tagger import FittedTagger, telling_rules
from lcons_tasks.fitted._jackknife import Labels, Steps, decode_folds, resemblance
from lcons_tasks.fitted._settings import BIAS, CLUSTERS, CONSISTENCY, PAIRS, SCHEME, VECTORS, FitSettings
from lcons_tasks.fitted._text_vectors import TextVectors
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
from lcons_tasks.models._linear_chain import LinearChain

OUTSIDE = "O"
# With less unlabelled text, clusters and consistency say little that the labelled sentences do not.
LEAST_UNLABELLED = 20
# CRFs of more labels take hours: their time grows with the square.
MOST_LABELS = 400
# Of more labelled sentences than `MANY`, so many evenly spaced ones choose the parts.
MANY, CHOOSING = 5000, 2000

Weights = tuple[float, float, float]
NO_WEIGHTS: Weights = (0.0, 0.0, 0.0)
Progress = Callable[[str, int, int], None]
Item = TypeVar("Item")


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
    texts = _spaced([tuple(words) for words in unlabelled if len(words)], settings.most_unlabelled)
    return _Work(sentences, texts, settings, progress).run()


def _spaced(items: list[Item], most: int) -> list[Item]:
    """At most so many of the items, evenly spaced."""
    if len(items) <= most:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, most).round().astype(int).tolist()]


@dataclass(frozen=True, eq=False)
class _Folds:
    """A base, and for each fold a model that has not seen it, with its scores of the fold; `weights` are
    those of consistency in these scores."""

    base: Base
    penalties: Penalties
    models: tuple[LinearChain, ...]
    held: tuple[ChainBatch, ...]
    weights: Weights = NO_WEIGHTS


class _Work:
    """The data of one `fit`, and its steps."""

    def __init__(
        self,
        train: list[Sentence],
        texts: list[tuple[str, ...]],
        settings: FitSettings,
        progress: Progress | None,
    ) -> None:
        self.train, self.texts, self.settings = train, texts, settings
        # All choices are made on these.
        self.sentences = _spaced(train, CHOOSING) if len(train) > MANY else train
        self.labels = tuple(sorted({label for sentence in train for label in sentence.labels}))
        self.steps = Steps(self.sentences, self.labels, settings.folds, settings.seed)
        self.folds = self.steps.folds
        self.words = [sentence.words for sentence in self.sentences]
        self.steps.resemblance = resemblance(self.words, texts, self.folds)
        self.outside = np.array([label == OUTSIDE for label in self.labels], dtype=float)
        self.progress, self.done = progress, 0
        bases = len(settings.penalties) + self.uses(CLUSTERS)
        if self.uses(VECTORS) and settings.source is not None:
            bases += len(settings.scales) + 2
        bases += self.uses(PAIRS) + len(settings.penalties) * self.uses(CONSISTENCY)
        self.total = len(self.folds) * bases + 1

    def uses(self, part: str) -> bool:
        """Whether a part may be used and has what it needs."""
        if part in (CLUSTERS, CONSISTENCY) and len(self.texts) < LEAST_UNLABELLED:
            return False
        if part == BIAS and not self.outside.any():
            return False
        return part in self.settings.parts

    def run(self) -> FittedTagger:
        """All steps."""
        vectors = self._vectors()
        usual = None if self.uses(VECTORS) else next(iter(vectors), None)
        plain = self._trained(self._base(self.sentences, vectors=usual), self.settings.penalties[0])
        self.steps.add("base model", decode_folds(plain.held, ()))
        self.scheme = self.steps.scheme(self.labels) if self.uses(SCHEME) else ()
        if self.scheme:
            self.steps.add(f"label scheme {self.scheme[0].name}", self._decoded(plain.held))
        folds = self._with_vectors(plain, vectors if self.uses(VECTORS) else ())
        folds = self._with_penalties(self._with_text(folds))
        pairs = self._chosen_pairs(folds.held) if self.uses(PAIRS) else ()
        bias = self._chosen_bias(folds.held, self._pairs_of_folds if pairs else ())
        hard = (*self.scheme, *pairs)
        if self.steps.is_worse():
            folds, bias, hard = plain, 0.0, ()
            self.steps.add("base model again, which is better", self.steps.steps[0][1])
        return self._finished(folds, bias, hard)

    def _decoded(self, held: Sequence[ChainBatch], more: Sequence[Sequence[Hard]] = ()) -> Labels:
        return decode_folds(held, self.scheme, more)

    def _say(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what, self.done, self.total)
        self.done += 1

    def _base(
        self,
        sentences: Sequence[Sentence],
        clusters: Clusters | None = None,
        vectors: TextVectors | None = None,
    ) -> Base:
        return Base(sentences, self.texts, self.settings.iterations, clusters, vectors)

    def _trained(self, base: Base, penalties: Penalties) -> _Folds:
        numbers = range(len(self.sentences))
        chosen = [[i for i in numbers if not first <= i < stop] for first, stop in self.folds]
        models = []
        for model in base.train_each(chosen, penalties):
            self._say("training base models")
            models.append(model)
        held = [base.scores(model, *fold) for model, fold in zip(models, self.folds, strict=True)]
        return _Folds(base, penalties, tuple(models), tuple(held))

    def _vectors(self) -> list[TextVectors]:
        """The vectors of all text, by each option, the default first; none without a source."""
        if self.settings.source is None:
            return []
        report = self.progress and partial(self.progress, "computing vectors")
        return TextVectors.each(self.settings.source, self.words, self.texts, self.settings.scales, report)

    def _with_vectors(self, plain: _Folds, choices: Sequence[TextVectors]) -> _Folds:
        """The base that also reads vectors, by the best option."""
        bases = (self._base(self.sentences, vectors=vectors) for vectors in choices)
        options = [self._trained(base, plain.penalties) for base in bases]
        if not options:
            return plain
        labels = [self._decoded(option.held) for option in options]
        best = self.steps.prefer(labels, errors=0.0)
        if not self.steps.stays(labels[best]):
            return plain
        self.steps.add("vectors of words", labels[best])
        return options[best]

    def _with_text(self, plain: _Folds) -> _Folds:
        """The base with clusters of words and consistency; each stays unless the folds are against it."""
        clustered, options = plain, []
        if self.uses(CLUSTERS):
            texts = [*(sentence.words for sentence in self.train), *self.texts]
            clusters = cluster_words(texts, seed=self.settings.seed)
            if clusters is not None:
                base = self._base(self.sentences, clusters, plain.base.vectors)
                clustered = self._trained(base, plain.penalties)
                options.append(("clusters of words", clustered))
        if self.uses(CONSISTENCY):
            adjusted = self._adjusted(clustered, self.settings.weights)
            options.append(("consistency over unlabelled text", adjusted))
        best, names = plain, []
        for name, option in options:
            names.append(name)
            labels = self._decoded(option.held)
            if self.steps.stays(labels):
                self.steps.add(" and ".join(names), labels)
                best, names = option, []
        return best

    def _with_penalties(self, folds: _Folds) -> _Folds:
        """The base with the best penalties."""
        for penalties in self.settings.penalties[1:]:
            other = self._trained(folds.base, penalties)
            if any(folds.weights):
                other = self._adjusted(other, folds.weights)
            labels = self._decoded(other.held)
            if self.steps.prefer([self.steps.last, labels], errors=0.0):
                self.steps.add("penalties", labels)
                folds = other
        return folds

    def _chosen_pairs(self, held: Sequence[ChainBatch]) -> tuple[Hard, ...]:
        """A hard constraint on pairs of labels that chance would have shown, if the folds support it."""
        pairs = []
        for fold in self.folds:
            self._say("learning label pairs")
            pairs.append(learn_pairs(self.steps.without(fold), self.settings.seed))
        labels = self._decoded(held, pairs)
        if not self.steps.prefer([self.steps.last, labels]):
            return ()
        self.steps.add("label pairs", labels)
        self._pairs_of_folds = pairs
        return learn_pairs(self.train, self.settings.seed)

    def _chosen_bias(self, held: Sequence[ChainBatch], pairs: Sequence[Sequence[Hard]]) -> float:
        """What is taken from the score of O."""
        biases = self.settings.biases if self.uses(BIAS) else (0.0,)
        options = [
            self._decoded([replace(b, emission=b.emission - bias * self.outside) for b in held], pairs)
            for bias in biases
        ]
        chosen = self.steps.prefer(options)
        if chosen:
            self.steps.add("bias of O", options[chosen])
        return biases[chosen]

    def _adjusted(self, folds: _Folds, weights: Weights) -> _Folds:
        """The folds with consistency in their scores."""
        keys = self._keys(folds.base.clusters)
        adjusted: list[ChainBatch] = []
        for (first, stop), model, held in zip(self.folds, folds.models, folds.held, strict=True):
            self._say("reading unlabelled text")
            batch = folds.base.unlabelled_scores(model)
            chain = _chain(model, folds.base.clusters, batch, keys, weights)
            adjusted.append(chain.adjusted(held, self.words[first:stop]))
        return replace(folds, held=tuple(adjusted), weights=weights)

    def _keys(self, clusters: Clusters | None) -> list[CodedKeys]:
        return [CodedKeys.of(kind, self.texts, clusters) for kind in (FORM, CLUSTER, CONTEXT)]

    def _finished(self, folds: _Folds, bias: float, hard: tuple[Hard, ...]) -> FittedTagger:
        self._say("training on all sentences")
        clusters, vectors, weights = folds.base.clusters, folds.base.vectors, folds.weights
        if vectors is not None and len(self.train) > len(self.sentences):
            vectors = vectors.read([sentence.words for sentence in self.train])
        base = self._base(self.train, clusters, vectors)
        (trained,) = base.train_each([range(len(self.train))], folds.penalties)
        batch = base.unlabelled_scores(trained) if any(weights) else None
        keys = self._keys(clusters) if any(weights) else ()
        model = _chain(base.whole(trained), clusters, batch, keys, weights)
        if bias:
            model = replace(model, bias=-bias * self.outside)
        tagger = ConstrainedTagger(model, hard)
        return FittedTagger(
            **{**self.steps.results(), "labelled": len(self.train)},
            tagger=tagger,
            unlabelled=len(self.texts),
            rules=telling_rules(tagger),
            chosen={
                "penalties": list(folds.penalties),
                **({} if vectors is None else vectors.facts),
                "clusters": clusters is not None,
                "weights": dict(zip((FORM, CLUSTER, CONTEXT), weights, strict=True)),
                "bias of O": 0.0 - bias,
                "hard": [use.name for use in hard],
                "folds": len(self.folds),
                "sentences that chose": len(self.sentences),
                "resemblance": self.steps.resemblance,
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
    keys: Sequence[CodedKeys],
    weights: Weights,
) -> ConsistentChain:
    """The base model with the tables of the unlabelled text that `batch` scores."""
    L = len(base.labels)
    if batch is None:
        return ConsistentChain(base, clusters, (), np.full(L, 1 / L), np.zeros(L))
    tables, prior = consistent(batch, marginals_batch(batch), keys, weights)
    return ConsistentChain(base, clusters, tables, prior, np.zeros(L))
