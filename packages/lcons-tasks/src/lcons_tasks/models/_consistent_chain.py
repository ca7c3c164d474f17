"""A chain model whose answers agree over unlabelled text: posterior regularisation by tables of keys.

A key k is what several tokens share: the form of the word, its cluster, or the clusters of three words. Over
the unlabelled text, p(y) is the mean of the base model's marginals, S(k, y) their sum over the n(k) tokens of
a key. For a token t with marginals p_t,

    R(k, y) = clip(log((S(k, y) + p_t(y) + kappa p(y)) / (n(k) + 1 + kappa)) - log p(y))
    emission'[t, y] = emission[t, y] + sum over kinds of keys of weight * R(k, y) + bias[y]

So a word that is a disease in most of its sentences is one here, too, unless this sentence is against it.
The sums are computed twice: the second time with the marginals of the scores that the first sums give
(`consistent`). R is a window of one (word, label) with soft weights: decoding stays exact.

Not in the paper. Posterior regularisation is that of Ganchev et al. (2010).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from lcons_core._instance import WORD
from lcons_core._types import Floats, Ints
from lcons_decode import ChainBatch
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.models._clusters import UNKNOWN, Clusters, form
from lcons_tasks.models._model_file import Arrays, read_names, write_model
from lcons_tasks.models._tagger import Tagger

Columns = Mapping[str, Sequence[str]]

KAPPA, CLIP, ROUNDS = 1.0, 5.0, 2
# Occurrences of a form that says something.
LEAST_COUNT = 3
# The smallest prior probability of a label, so that its logarithm is finite.
LEAST_PRIOR = 1e-6
FORM, CLUSTER, CONTEXT = "form", "cluster", "context"
# The weight of forms where nothing else is known of a text (`consistent_over`).
ALONE = 0.7


def _forms(words: Sequence[str], clusters: Clusters | None) -> Iterator[str]:
    return map(form, words)


def _clusters(words: Sequence[str], clusters: Clusters | None) -> Iterator[str]:
    """The finest cluster of each word."""
    if clusters is None:
        return iter([UNKNOWN] * len(words))
    return (row[-1] for row in clusters.rows(words))


def _contexts(words: Sequence[str], clusters: Clusters | None) -> Iterator[str]:
    """The clusters of three words, of middle size; a word without a cluster stands for itself."""
    if clusters is None:
        return iter([UNKNOWN] * len(words))
    middle = (row[-2] for row in clusters.rows(words))
    names = ["<", *(form(w) if c == UNKNOWN else c for w, c in zip(words, middle, strict=True)), ">"]
    return (" ".join(names[t : t + 3]) for t in range(len(words)))


KEYS: Mapping[str, Callable[[Sequence[str], Clusters | None], Iterator[str]]] = {
    FORM: _forms,
    CLUSTER: _clusters,
    CONTEXT: _contexts,
}
# An unseen form has empty sums: its token's own marginals count. Unseen keys of other kinds have no effect,
# and of contexts only those that occur twice have one.
_LEAST = {FORM: 0, CLUSTER: 1, CONTEXT: 2}


def token_keys(kind: str, texts: Sequence[Sequence[str]], clusters: Clusters | None) -> list[str]:
    """The key of each token of all texts, in order."""
    return [key for words in texts for key in KEYS[kind](words, clusters)]


@dataclass(frozen=True, eq=False)
class Table:
    """The keys of one kind, and the `sums` (keys, L) and `counts` (keys,) of their tokens in the text."""

    kind: str
    weight: float
    keys: tuple[str, ...]
    sums: Floats
    counts: Floats

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each key."""
        return {key: i for i, key in enumerate(self.keys)}

    def bonus(self, keys: Sequence[str], own: Floats, prior: Floats) -> Floats:
        """(tokens, L): weight * R for tokens with these keys and marginals `own` outside the text."""
        get = self.rows.get
        ids = np.fromiter((get(key, -1) for key in keys), dtype=np.int64, count=len(keys))
        sums = np.where(ids[:, None] >= 0, self.sums[ids], 0) if len(self.keys) else np.zeros_like(own)
        counts = np.where(ids >= 0, self.counts[ids], 0) if len(self.keys) else np.zeros(len(keys))
        found = self.weight * ratio(sums + own, counts + 1, prior)
        return np.where((counts >= _LEAST[self.kind])[:, None], found, 0.0)


def ratio(sums: Floats, counts: Floats, prior: Floats) -> Floats:
    """R: how much more often than in all of the text the tokens of a key have each label, in logarithms."""
    share = (sums + KAPPA * prior) / (counts + KAPPA)[:, None]
    return np.asarray(np.clip(np.log(share) - np.log(prior), -CLIP, CLIP))


@dataclass(frozen=True, eq=False)
class CodedKeys:
    """The keys of one kind of all tokens of the unlabelled text, as numbers `ids` (tokens,)."""

    kind: str
    keys: tuple[str, ...]
    ids: Ints
    counts: Floats

    @classmethod
    def of(cls, kind: str, texts: Sequence[Sequence[str]], clusters: Clusters | None) -> CodedKeys:
        """The keys of the texts."""
        numbers: dict[str, int] = {}
        found = token_keys(kind, texts, clusters)
        ids = np.fromiter((numbers.setdefault(k, len(numbers)) for k in found), np.int64, len(found))
        counts = np.bincount(ids, minlength=len(numbers)).astype(np.float64)
        if kind != FORM and UNKNOWN in numbers:
            counts[numbers[UNKNOWN]] = 0
        return cls(kind, tuple(numbers), ids, counts)

    def table(self, probability: Floats, weight: float) -> Table:
        """The table of the marginals (tokens, L) of the text."""
        sums = np.zeros((len(self.keys), probability.shape[1]))
        np.add.at(sums, self.ids, probability)
        return Table(self.kind, weight, self.keys, sums, self.counts)

    def bonus(self, table: Table, prior: Floats) -> Floats:
        """(tokens, L): weight * R for the tokens of the text, whose own marginals are in the sums."""
        found = table.weight * ratio(table.sums, table.counts, prior)
        return np.where((self.counts >= max(_LEAST[self.kind], 1))[:, None], found, 0.0)[self.ids]


def consistent(
    batch: ChainBatch, probability: Floats, keys: Sequence[CodedKeys], weights: Sequence[float]
) -> tuple[tuple[Table, ...], Floats]:
    """(tables, prior) of a model's scores of the unlabelled text, whose marginals are `probability`."""
    for left in range(ROUNDS - 1, -1, -1):
        prior = np.maximum(probability.mean(0), LEAST_PRIOR)
        tables = tuple(k.table(probability, w) for k, w in zip(keys, weights, strict=True) if w)
        if left:
            used = [k for k, w in zip(keys, weights, strict=True) if w]
            bonus = sum(k.bonus(t, prior) for k, t in zip(used, tables, strict=True))
            probability = marginals_batch(replace(batch, emission=batch.emission + bonus))
    return tables, prior


@dataclass(frozen=True, eq=False)
class ConsistentChain:
    """The `base` model, which reads the `clusters`, with `tables`, the `prior` (L,) and the `bias` (L,)."""

    base: Tagger
    clusters: Clusters | None
    tables: tuple[Table, ...]
    prior: Floats
    bias: Floats
    kind = "consistent-chain"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the training data, sorted."""
        return self.base.labels

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model reads beside words and clusters."""
        own = () if self.clusters is None else self.clusters.columns
        return tuple(name for name in self.base.columns if name not in own)

    @property
    def parameters(self) -> dict[str, int]:
        """The number of weights of the base model, and with all tables."""
        found = self.base.parameters
        more = sum(table.sums.size for table in self.tables) + int(np.count_nonzero(self.bias))
        return {"trained": found["trained"], "in all": found["in all"] + more}

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""
        read = xs if self.clusters is None else [self.clusters.add(x) for x in xs]
        return self.adjusted(self.base.scores(read), [x[WORD] for x in xs])

    def adjusted(self, batch: ChainBatch, texts: Sequence[Sequence[str]]) -> ChainBatch:
        """The base model's scores of these texts, with R and the bias."""
        emission = batch.emission + self.bias
        if self.tables:
            own = marginals_batch(batch)
            for table in self.tables:
                keys = token_keys(table.kind, texts, self.clusters)
                emission = emission + table.bonus(keys, own, self.prior)
        return replace(batch, emission=emission)

    def strongest(self, most: int = 10) -> list[tuple[str, str, float, int, float]]:
        """(form, label, R, occurrences, share of the label) of the forms with the largest sums of R, each
        form once, but for those of the label O."""
        found: list[tuple[str, str, float, int, float]] = []
        for table in self.tables:
            if table.kind != FORM or not len(table.keys):
                continue
            R = ratio(table.sums, table.counts, self.prior)
            gain = (R * table.sums).max(1) * (table.counts >= LEAST_COUNT)
            for i in np.argsort(-gain, kind="stable").tolist():
                if len(found) == most:
                    break
                y = int((R[i] * table.sums[i]).argmax())
                if gain[i] > 0 and self.labels[y] != "O":
                    share = float(table.sums[i, y] / table.counts[i])
                    found.append((table.keys[i], self.labels[y], float(R[i, y]), int(table.counts[i]), share))
        return found

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        header, arrays = self.base.contents
        arrays = {f"base.{name}": array for name, array in arrays.items()}
        arrays |= {"prior": self.prior, "bias": self.bias}
        if self.clusters is not None:
            arrays["clusters"] = self.clusters.ids
        for table in self.tables:
            arrays |= {f"sums.{table.kind}": table.sums, f"counts.{table.kind}": table.counts}
        return {
            "kind": self.kind,
            "base": header,
            "clusters": None if self.clusters is None else list(self.clusters.words),
            "tables": [{"kind": t.kind, "weight": t.weight, "keys": list(t.keys)} for t in self.tables],
        }, arrays

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model."""
        write_model(path, *self.contents)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        from lcons_tasks.models._tagger import from_contents

        base = from_contents(
            header["base"], {k.removeprefix("base."): v for k, v in arrays.items() if k.startswith("base.")}
        )
        clusters = None
        if header["clusters"] is not None:
            clusters = Clusters.from_contents(header["clusters"], arrays["clusters"])
        L = len(base.labels)
        tables = []
        for one in header["tables"]:
            keys, kind, weight = read_names(one["keys"], distinct=True), one["kind"], one["weight"]
            if kind not in KEYS or type(weight) not in (int, float):
                raise ValueError(f"a table of {kind!r} with weight {weight!r}")
            sums = _floats(arrays, f"sums.{kind}", (len(keys), L))
            tables.append(
                Table(kind, float(weight), keys, sums, _floats(arrays, f"counts.{kind}", (len(keys),)))
            )
        prior, bias = (_floats(arrays, name, (L,)) for name in ("prior", "bias"))
        return cls(base, clusters, tuple(tables), prior, bias)


def consistent_over(model: Tagger, xs: Sequence[Columns]) -> ConsistentChain:
    """The model whose answers also agree over these inputs: their sums are added to its tables.

    A model without tables gets one of the forms of words, so that this works for any model.
    """
    L = len(model.labels)
    chain = model
    if not isinstance(chain, ConsistentChain):
        chain = ConsistentChain(model, None, (), np.full(L, 1 / L), np.zeros(L))
    weights = {table.kind: table.weight for table in chain.tables} or {FORM: ALONE}
    texts = [x[WORD] for x in xs]
    batch = chain.base.scores(xs if chain.clusters is None else [chain.clusters.add(x) for x in xs])
    keys = [CodedKeys.of(kind, texts, chain.clusters) for kind in weights]
    tables, prior = consistent(batch, marginals_batch(batch), keys, list(weights.values()))
    if chain.tables:
        tables, prior = tuple(map(_joined, chain.tables, tables)), chain.prior
    return replace(chain, tables=tables, prior=prior)


def _joined(table: Table, other: Table) -> Table:
    """The sums and counts of both tables of one kind."""
    keys = tuple(dict.fromkeys([*table.keys, *other.keys]))
    rows = {key: i for i, key in enumerate(keys)}
    sums, counts = np.zeros((len(keys), table.sums.shape[1])), np.zeros(len(keys))
    for one in (table, other):
        places = [rows[key] for key in one.keys]
        sums[places] += one.sums
        counts[places] += one.counts
    return Table(table.kind, table.weight, keys, sums, counts)


def _floats(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError(f"its {name} are {array.dtype} of shape {array.shape}, not finite floats of {shape}")
    return array
