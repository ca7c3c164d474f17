"""An operating point that misses at most alpha = 1 - recall of the entities, with a stated confidence.

For a point with missed rate R, the null hypothesis is R > alpha. If x of n independent units are missed,

    p = sup_{R > alpha} P(X <= x) = P(Bin(n, alpha) <= x)

is an exact p-value. Points are tested in an order that does not depend on the data, from the most cautious to
the least, each at level delta = 1 - confidence, up to the first that is not rejected (fixed sequence). The
probability that a point with R > alpha is among the rejected ones, the certified points, is at most delta:
the first such point of the sequence must be rejected. With k sequences, one per factor of the soft weights,
each level is delta / k (Bonferroni). Of the certified points, the one with the best F1 on the same data is
returned; that choice is free, because all of them are certified together (learn then test).

Where an entity counts as found only if its exact span is, caution has no such order: too much of it makes
spans wrong. Then each point is a sequence of its own.

| unit | missed | independent units |
|---|---|---|
| entity | an entity | entities: exact if those of one sentence are missed independently of each other |
| sentence | a sentence with entities of which one is missed | sentences: exact |

Not in the paper.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lcons_core import OUTSIDE, InvalidInput, chunks, upper_bound
from lcons_decode._constraints import Constraint
from lcons_decode._operating_point import Guarantee, OperatingPoint, TransitionBiases
from lcons_decode._scores import ChainBatch, ChainScores, Floats, Ints, Scored, X
from lcons_decode.chains._constrained import constrained_ids
from lcons_decode.chains._windows import ChainConstraints

ENTITY, SENTENCE = "entity", "sentence"
COVERED, EXACT = "covered", "exact"
# What is taken from the score of every O, from the most cautious point to the least. Many points cost only
# time: a sequence is tested up to its first failure.
CAUTIONS = (64.0, 32.0, 24.0, 16.0, 14.0, 12.0, *(step / 4 for step in range(40, -1, -1)))

Dev = Iterable[tuple[ChainScores | Scored, Sequence[str]]]


@dataclass(frozen=True)
class NotCertified:
    """The answer if no point can be certified, with what to try. Of all points that were tested, the one with
    the fewest misses had `misses` of `units`; `needed` units are the fewest with which any point can be
    certified, and `attainable` is the recall that these misses would allow."""

    recall: float
    confidence: float
    unit: str
    units: int
    misses: int
    needed: int
    attainable: float

    @property
    def certified(self) -> bool:
        """False."""
        return False

    def __str__(self) -> str:
        """One sentence."""
        units = "entities" if self.unit == ENTITY else "sentences with entities"
        wanted = f"a recall of {self.recall:g} cannot be certified with a confidence of {self.confidence:g}"
        if self.units < self.needed:
            return (
                f"{wanted}: it needs at least {self.needed:,} {units} without a miss, found {self.units:,} in"
                " all; label more dev data, or lower `recall` or `confidence`."
            )
        return (
            f"{wanted}: the best point misses {self.misses:,} of {self.units:,} {units}; lower `recall` to"
            f" about {math.floor(1000 * self.attainable) / 1000:g}, label more dev data, or use a better"
            " model."
        )


def operating_point(
    dev: Dev,
    recall: float = 0.99,
    *,
    constraints: Iterable[Constraint] = (),
    confidence: float = 0.95,
    unit: str = ENTITY,
    missed: str = COVERED,
    biases: Sequence[TransitionBiases] = tuple(map(TransitionBiases.of_caution, CAUTIONS)),
    factors: Sequence[float] = (1.0,),
) -> OperatingPoint | NotCertified:
    """The biases and the factor of soft weights with the best F1 on `dev` among those that are certified to
    miss at most 1 - recall of all entities; `NotCertified` if there are none.

    dev: (scores, gold labels) of sentences that the model was not trained on; `Scored` has columns, too.
    constraints: decoded under, besides BIOES.
    unit: "entity", or "sentence", of which a share of at most 1 - recall has a missed entity.
    missed: "covered": an entity is missed if a token of it is labelled O. "exact": if its span and type are
        not found.
    biases: the points that are tried, from the most cautious to the least, chosen without looking at `dev`.
    factors: factors of the weights of all soft constraints.
    """
    scored = [(one if isinstance(one, Scored) else Scored(one), tuple(gold)) for one, gold in dev]
    for name, share in (("recall", recall), ("confidence", confidence)):
        if not 0 < share < 1:
            raise InvalidInput(f"`{name}` must be between 0 and 1, found {share!r}; 0.95 is usual.")
    for name, value, known in (("unit", unit, (ENTITY, SENTENCE)), ("missed", missed, (COVERED, EXACT))):
        if value not in known:
            raise InvalidInput(f"`{name}` is one of {', '.join(known)}, found {value!r}.")
    if not scored or not biases or not factors:
        raise InvalidInput(
            "expected dev sentences, biases and factors, found none of one of them; pass some."
        )
    points = [[OperatingPoint(one, factor) for one in biases] for factor in factors]
    return choose(Trial(scored, list(constraints), unit, missed), points, recall, confidence)


def choose(
    trial: Trial, points: Sequence[Sequence[OperatingPoint]], recall: float, confidence: float
) -> OperatingPoint | NotCertified:
    """The certified point with the best F1; `points` are sequences from the most cautious point to the
    least."""
    sequences = points if trial.missed == COVERED else [[point] for own in points for point in own]
    level = (1 - confidence) / len(sequences)
    certified: list[tuple[float, OperatingPoint]] = []
    fewest = trial.units
    for sequence in sequences:
        for point in sequence:
            misses, f1 = trial.judge(point)
            fewest = min(fewest, misses)
            p_value = binomial_tail(misses, trial.units, 1 - recall)
            if p_value > level:
                break
            known = Guarantee(
                recall, confidence, trial.unit, trial.missed, trial.units, misses, p_value, level
            )
            certified.append((f1, replace(point, guarantee=known)))
    if certified:
        # Of points with the same F1, the last is the least cautious.
        return max(enumerate(certified), key=lambda one: (one[1][0], one[0]))[1][1]
    needed = math.ceil(math.log(level) / math.log(recall))
    attainable = 1 - upper_bound(fewest, trial.units, 1 - level)
    return NotCertified(recall, confidence, trial.unit, trial.units, fewest, needed, attainable)


def binomial_tail(misses: int, units: int, share: float) -> float:
    """P(Bin(units, share) <= misses), for 0 < share < 1; 1 without units.

    >>> round(binomial_tail(0, 299, 0.01), 4), round(binomial_tail(1, 2, 0.5), 4), binomial_tail(0, 0, 0.5)
    (0.0495, 0.75, 1.0)
    """
    if misses >= units:
        return 1.0
    i = np.arange(1, misses + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log((units - i + 1) / i))))
    i = np.arange(misses + 1)
    terms: Floats = logs + i * math.log(share) + (units - i) * math.log1p(-share)
    return min(1.0, math.fsum(np.exp(terms).tolist()))


class Trial:
    """The dev sentences in one batch, and how each point labels them. A point is decoded once, also for draws
    of the sentences."""

    def __init__(
        self,
        scored: list[tuple[Scored, tuple[str, ...]]],
        constraints: list[Constraint],
        unit: str,
        missed: str,
    ) -> None:
        self._batch = ChainBatch.of([one.scores for one, _ in scored])
        self._xs: list[X] = [one.x for one, _ in scored]
        self._constraints, self.unit, self.missed = constraints, unit, missed
        self._gold = [list(chunks(gold)) for _, gold in scored]
        for i, (one, gold) in enumerate(scored, start=1):
            if len(gold) != len(one.scores):
                raise InvalidInput(
                    f"expected one gold label for each of {len(one.scores)} tokens of dev sentence {i}, found"
                    f" {len(gold)}; pass scores and labels of the same sentence."
                )
        self._units = np.array([bool(own) if unit == SENTENCE else len(own) for own in self._gold])
        self._rows = np.arange(len(scored))
        self._compiled: dict[float, ChainConstraints] = {}
        self._counts: dict[tuple[TransitionBiases, float], Ints] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def draw(self, rows: Ints) -> Trial:
        """The trial of the sentences with these numbers."""
        drawn = copy.copy(self)
        drawn._rows = rows
        return drawn

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self._units[self._rows].sum())

    def judge(self, point: OperatingPoint) -> tuple[int, float]:
        """(missed units, span F1) of a point."""
        key = point.biases, point.factor
        if key not in self._counts:
            self._counts[key] = self._counted(point)
        missed, right, both = self._counts[key][self._rows].sum(0).tolist()
        return missed, 2 * right / max(1, both)

    def _counted(self, point: OperatingPoint) -> Ints:
        """(sentences, 3) missed units, right spans, found and gold spans together."""
        counts = []
        for gold, labels in zip(self._gold, self._labels(point), strict=True):
            there = set(chunks(labels))
            right = len(there.intersection(gold))
            own = len(gold) - right
            if self.missed == COVERED:
                own = sum(OUTSIDE in labels[first:last] for _, first, last in gold)
            counts.append((bool(own) if self.unit == SENTENCE else own, right, len(there) + len(gold)))
        return np.array(counts, dtype=np.int64)

    def _labels(self, point: OperatingPoint) -> Iterator[tuple[str, ...]]:
        batch = self._batch
        if point.factor not in self._compiled:
            uses = point.constraints(batch.labels, self._constraints)
            self._compiled[point.factor] = ChainConstraints.of(uses, batch.labels)
        named = self._compiled[point.factor].named
        if named.global_hard or named.global_soft:
            raise InvalidInput("operating points accept local constraints only; leave the global ones out.")
        biased = replace(batch, transition=batch.transition + point.biases.transition(batch.labels))
        ids = constrained_ids(biased, self._compiled[point.factor], self._xs)[0].tolist()
        names = [batch.labels[i] for i in ids]
        for first, last in pairwise(batch.offsets.tolist()):
            yield tuple(names[first:last])
