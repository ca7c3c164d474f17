"""Labellings of a sequence with their scores, costs and broken parts; the beam; marginals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from soaking.oracle.features import whole_psi, window_psi, window_symbols, windows
from soaking.oracle.sets import Case, Networks, common_scale, whole

NEVER = -math.inf


def is_local(use: Case) -> bool:
    """Whether the parts of a constraint are windows."""
    return use["feature"]["kind"] in ("ngram", "context")


def exact_costs(uses: Iterable[Case]) -> bool:
    """Whether floats add the costs of the soft constraints without rounding."""
    return not any(use["weight"] and (use["cost"] == "sigmoid" or use["rounded"]) for use in uses)


@dataclass(frozen=True)
class Labelling:
    """A labelling of finite score: the exact part of its score with the local and with all soft costs, the
    inexact parts of both, and the names and positions of the hard parts that it breaks."""

    y: tuple[str, ...]
    base: Fraction
    local: tuple[Fraction, float]
    all: tuple[Fraction, float]
    broken: tuple[tuple[str, int | None], ...]
    broken_whole: tuple[tuple[str, int | None], ...]

    @property
    def total(self) -> float:
        """The score with all costs."""
        return float(self.all[0]) + self.all[1]

    @property
    def local_total(self) -> float:
        """The score with the costs of local constraints."""
        return float(self.local[0]) + self.local[1]

    @property
    def violations(self) -> set[tuple[str, int | None]]:
        """All hard parts that it breaks."""
        return {*self.broken, *self.broken_whole}


class Chain:
    """A sequence under constraints: the verdict of each part, asked once."""

    def __init__(self, model: Case, sequence: Case, uses: Sequence[Case]) -> None:
        self.labels, self.emission, self.x = model["labels"], sequence["emission"], sequence["x"]
        self.model, self.uses, self.T = model, uses, len(sequence["emission"])
        self.networks = [Networks(use["parts"]) for use in uses]
        self._known: dict[Any, tuple[bool, Fraction, float]] = {}

    def labellings(self) -> list[Labelling]:
        """Every labelling of finite score, in declared label order."""
        found = []
        finite = [[c for c, value in enumerate(row) if value > NEVER] for row in self.emission]
        for choice in product(*finite):
            base = self.score(choice)
            if base is not None:
                found.append(self.judged(tuple(self.labels[c] for c in choice), base))
        return found

    def score(self, ids: Sequence[int]) -> Fraction | None:
        """The score of a labelling; None if it is -inf."""
        if not ids:
            return Fraction(0)
        terms = [self.model["start"][ids[0]], self.model["stop"][ids[-1]]]
        terms += [row[c] for row, c in zip(self.emission, ids, strict=True)]
        terms += [self.model["transition"][a][b] for a, b in pairwise(ids)]
        if NEVER in terms:
            return None
        scale = common_scale(terms)
        return Fraction(sum(whole(term, scale) for term in terms), scale)

    def judged(self, y: tuple[str, ...], base: Fraction) -> Labelling:
        """The labelling with its costs and broken parts."""
        broken: list[tuple[str, int | None]] = []
        broken_whole: list[tuple[str, int | None]] = []
        exact, rounded = [Fraction(0), Fraction(0)], [0.0, 0.0]  # of local, of all soft constraints
        for i, use in enumerate(self.uses):
            for t in windows(use["feature"], self.T) if is_local(use) else [None]:
                accepted, exact_cost, rounded_cost = self.verdict(i, y, t)
                if use["weight"] is not None:
                    for own in (1,) if t is None else (0, 1):
                        exact[own] += exact_cost
                        rounded[own] += rounded_cost
                elif not accepted:
                    (broken_whole if t is None else broken).append((use["name"], t))
        local, every = (base + exact[0], rounded[0]), (base + exact[1], rounded[1])
        return Labelling(y, base, local, every, tuple(broken), tuple(broken_whole))

    def verdict(self, i: int, y: Sequence[str], t: int | None) -> tuple[bool, Fraction, float]:
        """Whether constraint i accepts a part, and what it costs: as a rational, or rounded."""
        use = self.uses[i]
        key = i, t, tuple(y if t is None else y[max(0, t - use["feature"]["n"] + 1) : t + 1])
        if key not in self._known and "grams" in use and t is not None:
            symbols = window_symbols(use["feature"], y, t)
            listed = symbols is not None and list(symbols) in use["grams"]
            self._known[key] = symbols is None or listed == use["allowed"], Fraction(0), 0.0
        elif key not in self._known:
            psi = whole_psi(use["feature"], y) if t is None else window_psi(use["feature"], y, self.x, t)
            margin = Fraction(1) if psi is None else self.networks[i].margin(psi)
            self._known[key] = margin >= 0, *cost_of(use, margin)
        return self._known[key]


def cost_of(use: Case, margin: Fraction) -> tuple[Fraction, float]:
    """weight * cost(margin), at most 0: min(0, m), min(0, m / s) as a rational, log sigmoid(m) rounded."""
    if not use["weight"]:
        return Fraction(0), 0.0
    if use["cost"] == "sigmoid":
        m = float(margin)
        log = -math.log1p(math.exp(-m)) if m >= 0 else m - math.log1p(math.exp(m))
        return Fraction(0), use["weight"] * log
    scale = Fraction(use["scale"] or 1) if use["cost"] == "standard" else Fraction(1)
    return Fraction(use["weight"]) / scale * min(margin, Fraction(0)), 0.0


def best_of(found: Sequence[Labelling], key: Callable[[Labelling], Any]) -> Labelling:
    """The first with the largest key."""
    best, largest = found[0], key(found[0])
    for each in found[1:]:
        own = key(each)
        if own > largest:
            best, largest = each, own
    return best


@dataclass(frozen=True)
class Beam:
    """The last beam, best first, as (labels, score); the steps at which none passed; whether the order of
    two candidates was a tie."""

    members: list[tuple[tuple[str, ...], float]]
    fallbacks: int
    tied: bool


def beam(chain: Chain, width: int, tolerance: float, rerank: bool = False) -> Beam:
    """The paper's beam (Sec. 5): candidates in order of score; those whose newest windows are accepted, up to
    the width; where there is none, the unfiltered best.

    With `rerank`, the others fill the rest of the beam; at STOP, those whose last label was accepted come
    first."""
    hard = [i for i, use in enumerate(chain.uses) if use["weight"] is None and is_local(use)]
    soft = [i for i, use in enumerate(chain.uses) if use["weight"] is not None and is_local(use)]
    members: list[tuple[tuple[int, ...], Fraction, float, bool]] = [((), Fraction(0), 0.0, True)]
    fallbacks, tied, T, model = 0, False, chain.T, chain.model
    for t in range(T + 1 if T else 0):
        candidates, some = [], False
        for ids, so_far, rounded, was in members:
            for c in range(len(chain.labels)) if t < T else [-1]:
                longer = (*ids, c) if t < T else ids
                gain = [model["stop"][ids[-1]]] if t == T else [chain.emission[t][c]]
                if t < T:
                    gain.append(model["transition"][ids[-1]][c] if ids else model["start"][c])
                if NEVER in gain:
                    continue
                y = [chain.labels[one] for one in longer] + [""] * (T - len(longer))
                costs = [chain.verdict(i, y, t) for i in soft if t in windows(chain.uses[i]["feature"], T)]
                exact = sum((one[1] for one in costs), so_far) + sum(map(Fraction, gain))
                accepted = all(
                    chain.verdict(i, y, t)[0] for i in hard if t in windows(chain.uses[i]["feature"], T)
                )
                some |= accepted
                accepted &= was or t < T or not rerank
                candidates.append((longer, exact, rounded + sum(one[2] for one in costs), accepted))
        candidates.sort(key=lambda one: -(one[1] + Fraction(one[2])))
        sums = [float(one[1]) + one[2] for one in candidates]
        tied |= any(a - b <= tolerance for a, b in pairwise(sums))
        passing = [one for one in candidates if one[3]]
        fallbacks += not some
        others = [one for one in candidates if not one[3]] if rerank or not passing else []
        members = (passing + others)[:width]
        if not members:
            break
    named = [
        (tuple(chain.labels[c] for c in ids), float(exact) + rounded) for ids, exact, rounded, _ in members
    ]
    return Beam(named, fallbacks, tied)


def marginals(found: Sequence[Labelling], labels: Sequence[str], T: int) -> tuple[list[list[float]], float]:
    """The probability of each label at each position, and the logarithm of the sum of exp(score)."""
    if not found:
        return [[0.0] * len(labels) for _ in range(T)], NEVER
    top = max(one.local_total for one in found)
    weights = [math.exp(one.local_total - top) for one in found]
    total = math.fsum(weights)
    table = [
        [
            math.fsum(w for w, one in zip(weights, found, strict=True) if one.y[t] == label) / total
            for label in labels
        ]
        for t in range(T)
    ]
    return table, math.log(total) + top
