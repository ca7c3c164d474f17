"""Base models for `fit`: many models of one kind over the same sentences.

    train_each(lists of chosen labelled sentences, penalties) -> models;   scores(model, first, stop)

| base | model | transitions |
|---|---|---|
| crf | a linear CRF: word, shape, affixes, two words on each side, clusters, vectors | learned |
| token | the same attributes, each token alone (multinomial logistic regression) | 0 |
| bilstm | a BiLSTM-CRF; it stops when it is best on the last fifth of its sentences | learned |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

from lcons_core._instance import WORD
from lcons_decode import ChainBatch
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._settings import BILSTM, TOKEN
from lcons_tasks.fitted._text_vectors import TextVectors
from lcons_tasks.models import LinearSettings, Tagger
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._coded_text import CodedText, on_each_core
from lcons_tasks.models._linear_chain import LinearChain

Columns = Mapping[str, Sequence[str]]
Penalties = tuple[float, float]


class Base(Protocol):
    """Labelled sentences that models of one kind are trained on, and unlabelled ones; they score both."""

    def train_each(self, chosen: Iterable[Sequence[int]], penalties: Penalties) -> Iterator[Tagger]:
        """A model of each list of labelled sentences."""
        ...

    def scores(self, model: Tagger, first: int, stop: int) -> ChainBatch:
        """The scores of the labelled sentences first .. stop - 1 by such a model."""
        ...

    def unlabelled_scores(self, model: Tagger) -> ChainBatch:
        """The scores of the unlabelled sentences."""
        ...

    def whole(self, model: Tagger) -> Tagger:
        """The model as it scores any sentence."""
        ...


def make_base(
    kind: str,
    labelled: Sequence[Sentence],
    unlabelled: Sequence[Sequence[str]],
    clusters: Clusters | None,
    iterations: int,
    seed: int,
    vectors: TextVectors | None = None,
) -> Base:
    """The base of that kind; its models read words, and their clusters and vectors, if any."""
    inputs = _Inputs(labelled, unlabelled, clusters)
    if kind == BILSTM:
        return _Bilstm(inputs, seed)
    return _Linear(inputs, iterations, kind == TOKEN, vectors)


class _Inputs:
    """The columns that base models read."""

    def __init__(
        self,
        labelled: Sequence[Sentence],
        unlabelled: Sequence[Sequence[str]],
        clusters: Clusters | None,
    ) -> None:
        self.columns = () if clusters is None else clusters.columns
        self.clusters, self.texts = clusters, unlabelled
        self.labels = [sentence.labels for sentence in labelled]
        self.known = tuple(sorted({label for y in self.labels for label in y}))
        self.labelled = [self._with_clusters(sentence.words) for sentence in labelled]

    @cached_property
    def unlabelled(self) -> list[Columns]:
        """The unlabelled sentences; made on demand, because they are many."""
        return [self._with_clusters(words) for words in self.texts]

    def _with_clusters(self, words: Sequence[str]) -> Columns:
        x: Columns = {WORD: tuple(words)}
        return x if self.clusters is None else self.clusters.add(x)


class _Linear:
    def __init__(
        self, inputs: _Inputs, iterations: int, single: bool, vectors: TextVectors | None = None
    ) -> None:
        self.inputs, self.iterations, self.single, self.vectors = inputs, iterations, single, vectors
        self._hand = CodedText.of(inputs.labelled, columns=inputs.columns)
        self.text = self._hand if vectors is None else self._hand.with_vectors(vectors.labelled, vectors.hand)

    def train(self, chosen: Sequence[int], penalties: Penalties) -> LinearChain:
        settings = LinearSettings(*penalties, iterations=self.iterations)
        labels = [self.inputs.labels[i] for i in chosen]
        return self.text.train(chosen, labels, settings, self.inputs.known, single=self.single)

    def train_each(self, chosen: Iterable[Sequence[int]], penalties: Penalties) -> Iterator[Tagger]:
        return on_each_core(partial(self.train, penalties=penalties), chosen)

    def scores(self, model: Tagger, first: int, stop: int) -> ChainBatch:
        assert isinstance(model, LinearChain)
        return self.text.scores(model, first, stop)

    def unlabelled_scores(self, model: Tagger) -> ChainBatch:
        assert isinstance(model, LinearChain)
        return self._unlabelled.scores(model, 0, len(self.inputs.texts))

    def whole(self, model: Tagger) -> Tagger:
        assert isinstance(model, LinearChain)
        return model if self.vectors is None else self.vectors.chain(model)

    @cached_property
    def _unlabelled(self) -> CodedText:
        text = self._hand.other(self.inputs.unlabelled)
        if self.vectors is None:
            return text
        return text.with_vectors(self.vectors.unlabelled, self.vectors.hand)


class _Bilstm:
    def __init__(self, inputs: _Inputs, seed: int) -> None:
        self.inputs, self.seed = inputs, seed

    def train_each(self, chosen: Iterable[Sequence[int]], penalties: Penalties) -> Iterator[Tagger]:
        from lcons_tasks.models import BilstmSettings, train_bilstm

        settings = BilstmSettings(epochs=60, patience=8, patience_steps=200, columns=self.inputs.columns)
        for numbers in chosen:
            sentences = [self._sentence(i) for i in numbers]
            stop = max(1, len(sentences) - max(1, len(sentences) // 5))
            dev = sentences[stop:] or sentences
            yield train_bilstm(sentences[:stop], dev, settings, seed=self.seed, labels=self.inputs.known)

    def scores(self, model: Tagger, first: int, stop: int) -> ChainBatch:
        return model.scores(self.inputs.labelled[first:stop])

    def unlabelled_scores(self, model: Tagger) -> ChainBatch:
        return model.scores(self.inputs.unlabelled)

    def whole(self, model: Tagger) -> Tagger:
        return model

    def _sentence(self, i: int) -> Sentence:
        x = self.inputs.labelled[i]
        columns = {name: tuple(x[name]) for name in self.inputs.columns}
        return Sentence(tuple(x[WORD]), self.inputs.labels[i], columns)
