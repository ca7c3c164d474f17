"""The base model of `fit`, a linear CRF: many models over the same sentences, coded once.

    train_each(lists of chosen labelled sentences, penalties) -> models;   scores(model, first, stop)

It reads words, shapes, affixes and two words on each side, clusters and vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from lcons_core._instance import WORD
from lcons_decode import ChainBatch
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._text_vectors import TextVectors
from lcons_tasks.models import LinearSettings, Tagger
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._coded_text import CodedText, on_each_core
from lcons_tasks.models._linear_chain import LinearChain

Penalties = tuple[float, float]


class Base:
    """Labelled sentences that CRFs are trained on, and unlabelled ones; they score both."""

    def __init__(
        self,
        labelled: Sequence[Sentence],
        unlabelled: Sequence[Sequence[str]],
        iterations: int,
        clusters: Clusters | None = None,
        vectors: TextVectors | None = None,
    ) -> None:
        self.labels = [sentence.labels for sentence in labelled]
        self.known = tuple(sorted({label for y in self.labels for label in y}))
        self.unlabelled, self.iterations = unlabelled, iterations
        self.clusters, self.vectors = clusters, vectors
        columns = () if clusters is None else clusters.columns
        self._hand = CodedText.of([self._read(sentence.words) for sentence in labelled], columns=columns)
        self._text = (
            self._hand if vectors is None else self._hand.with_vectors(vectors.labelled, vectors.hand)
        )

    def train_each(self, chosen: Iterable[Sequence[int]], penalties: Penalties) -> Iterator[LinearChain]:
        """A model of each list of labelled sentences."""
        settings = LinearSettings(*penalties, iterations=self.iterations)

        def trained(numbers: Sequence[int]) -> LinearChain:
            return self._text.train(numbers, [self.labels[i] for i in numbers], settings, self.known)

        return on_each_core(trained, chosen)

    def scores(self, model: LinearChain, first: int, stop: int) -> ChainBatch:
        """The scores of the labelled sentences first .. stop - 1 by such a model."""
        return self._text.scores(model, first, stop)

    def unlabelled_scores(self, model: LinearChain) -> ChainBatch:
        """The scores of the unlabelled sentences."""
        return self._unlabelled.scores(model, 0, len(self.unlabelled))

    def whole(self, model: LinearChain) -> Tagger:
        """The model as it scores any sentence."""
        return model if self.vectors is None else self.vectors.chain(model)

    @cached_property
    def _unlabelled(self) -> CodedText:
        """Made on demand, because they are many."""
        text = self._hand.other(map(self._read, self.unlabelled))
        if self.vectors is None:
            return text
        return text.with_vectors(self.vectors.unlabelled, self.vectors.hand)

    def _read(self, words: Sequence[str]) -> Mapping[str, Sequence[str]]:
        x = {WORD: tuple(words)}
        return x if self.clusters is None else self.clusters.add(x)
