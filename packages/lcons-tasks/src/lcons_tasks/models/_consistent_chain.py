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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from lcons_core._instance import WORD
from lcons_core._types import Floats, Ints
from lcons_decode import ChainBatch
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.models._clusters import UNKNOWN, Clusters, form
from lcons_tasks.models._model_file import Arrays, checked_floats, read_names
from lcons_tasks.models._tagger import OverBase, Tagger, base_of

Columns = Mapping[str, Sequence[str]]

KAPPA, CLIP, ROUNDS = 1.0, 5.0, 2
# Occurrences of a form that says something.
LEAST_COUNT = 3
# The smallest prior probability of a label, so that its logarithm is finite.
LEAST_PRIOR = 1e-6
FORM, CLUSTER, CONTEXT = "form", "cluster", "context"
# The weight of forms where nothing else is known of a text (`consistent_over`).
ALONE = 0.7


# An unseen form has empty sums: its token's own marginals count. Unseen keys of other kinds have no effect,
# and of contexts only those that occur twice have one.
_LEAST = {FORM: 0, CLUSTER: 1, CONTEXT: 2}


def token_keys(kind: str, texts: Sequence[Sequence[str]], clusters: Clusters | None) -> list[str]:
    """The key of each token of all texts, in order."""
    return [key for words in texts for key in _keys(kind, words, clusters)]


def _keys(kind: str, words: Sequence[str], clusters: Clusters | None) -> Iterable[str]:
    """The form of each word; its finest cluster; or the clusters of three words, of middle size, where a word
    without a cluster stands for itself."""
    if kind == FORM:
        return map(form, words)
    if clusters is None:
        return [UNKNOWN] * len(words)
    rows = clusters.rows(words)
    if kind == CLUSTER:
        return (row[-1] for row in rows)
    middle = (form(w) if row[-2] == UNKNOWN else row[-2] for w, row in zip(words, rows, strict=True))
    names = ["<", *middle, ">"]
    return (" ".join(names[t : t + 3]) for t in range(len(words)))


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

    def bonus(self, keys: Sequence[str], probability: Floats, prior: Floats) -> Floats:
        """(tokens, L): weight * R for tokens with these keys and marginals `probability` outside the text."""
        ids = np.fromiter((self.rows.get(key, -1) for key in keys), dtype=np.int64, count=len(keys))
        sums, counts = np.zeros_like(probability), np.zeros(len(keys))
        known = ids >= 0
        sums[known], counts[known] = self.sums[ids[known]], self.counts[ids[known]]
        gain = self.weight * ratio(sums + probability, counts + 1, prior)
        return np.where((counts >= _LEAST[self.kind])[:, None], gain, 0.0)


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
        text = token_keys(kind, texts, clusters)
        ids = np.fromiter((numbers.setdefault(k, len(numbers)) for k in text), np.int64, len(text))
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
        gain = table.weight * ratio(table.sums, table.counts, prior)
        return np.where((self.counts >= max(_LEAST[self.kind], 1))[:, None], gain, 0.0)[self.ids]


def consistent(
    batch: ChainBatch, probability: Floats, keys: Sequence[CodedKeys], weights: Sequence[float]
) -> tuple[tuple[Table, ...], Floats]:
    """(tables, prior) of a model's scores of the unlabelled text, whose marginals are `probability`."""
    used = [(k, w) for k, w in zip(keys, weights, strict=True) if w]
    for left in range(ROUNDS - 1, -1, -1):
        prior = np.maximum(probability.mean(0), LEAST_PRIOR)
        tables = tuple(k.table(probability, w) for k, w in used)
        if left:
            bonus = sum(k.bonus(table, prior) for (k, _), table in zip(used, tables, strict=True))
            probability = marginals_batch(replace(batch, emission=batch.emission + bonus))
    return tables, prior


@dataclass(frozen=True, eq=False)
class ConsistentChain(OverBase):
    """The `base` model, which reads the `clusters`, with `tables`, the `prior` (L,) and the `bias` (L,)."""

    base: Tagger
    clusters: Clusters | None
    tables: tuple[Table, ...]
    prior: Floats
    bias: Floats
    kind = "consistent-chain"

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model reads beside words and clusters."""
        added = () if self.clusters is None else self.clusters.columns
        return tuple(name for name in self.base.columns if name not in added)

    def scores(self, xs: Sequence[Columns]) -> ChainBatch:
        """The scores of the inputs, in order."""
        read = xs if self.clusters is None else [self.clusters.add(x) for x in xs]
        return self.adjusted(self.base.scores(read), [x[WORD] for x in xs])

    def adjusted(self, batch: ChainBatch, texts: Sequence[Sequence[str]]) -> ChainBatch:
        """The base model's scores of these texts, with R and the bias."""
        emission = batch.emission + self.bias
        if self.tables:
            probability = marginals_batch(batch)
            for table in self.tables:
                keys = token_keys(table.kind, texts, self.clusters)
                emission = emission + table.bonus(keys, probability, self.prior)
        return replace(batch, emission=emission)

    def strongest(self, most: int = 10) -> list[tuple[str, str, float, int, float]]:
        """(form, label, R, occurrences, share of the label) of the forms with the largest sums of R, each
        form once, but for those of the label O."""
        table = next((table for table in self.tables if table.kind == FORM and table.keys), None)
        if table is None:
            return []
        R = ratio(table.sums, table.counts, self.prior)
        gain = (R * table.sums).max(1) * (table.counts >= LEAST_COUNT)
        labels = (R * table.sums).argmax(1).tolist()
        order = (i for i in np.argsort(-gain, kind="stable").tolist() if gain[i] > 0)
        rows = [(i, labels[i], int(table.counts[i])) for i in order if self.labels[labels[i]] != "O"]
        return [
            (table.keys[i], self.labels[y], float(R[i, y]), count, float(table.sums[i, y] / count))
            for i, y, count in rows[:most]
        ]

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        arrays: Arrays = {"prior": self.prior, "bias": self.bias}
        if self.clusters is not None:
            arrays["clusters"] = self.clusters.ids
        for table in self.tables:
            arrays |= {f"sums.{table.kind}": table.sums, f"counts.{table.kind}": table.counts}
        header = {
            "kind": self.kind,
            "clusters": None if self.clusters is None else list(self.clusters.words),
            "tables": [{"kind": t.kind, "weight": t.weight, "keys": list(t.keys)} for t in self.tables],
        }
        return self.with_base(header, arrays)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model that `save` wrote."""
        base, clusters, tables = base_of(header, arrays), None, []
        if header["clusters"] is not None:
            clusters = Clusters.from_contents(header["clusters"], arrays["clusters"])
        L = len(base.labels)
        for entry in header["tables"]:
            keys, kind, weight = read_names(entry["keys"], distinct=True), entry["kind"], entry["weight"]
            if kind not in _LEAST or type(weight) not in (int, float):
                raise ValueError(f"a table of {kind!r} with weight {weight!r}")
            shapes = {f"sums.{kind}": (len(keys), L), f"counts.{kind}": (len(keys),)}
            tables.append(Table(kind, float(weight), keys, *checked_floats(arrays, shapes)))
        return cls(base, clusters, tuple(tables), *checked_floats(arrays, {"prior": (L,), "bias": (L,)}))


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
    for part in (table, other):
        places = [rows[key] for key in part.keys]
        sums[places] += part.sums
        counts[places] += part.counts
    return Table(table.kind, table.weight, keys, sums, counts)
