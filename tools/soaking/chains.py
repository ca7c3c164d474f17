"""Decoders of label sequences against the enumeration of all labellings.

| family | draws | compares |
|---|---|---|
| `hard` | local: n = 1..4, contexts, padding, unknown labels, lists | Viterbi, exact, n-best, beam |
| `soft` | the same with soft ones of each cost | the same, with costs |
| `large` | both, with up to 8 tokens, up to 70 labels, and scores far apart | the same |
| `global` | also existence and counts, hard and soft | best first, budgets, streams, n-best, beam |
| `lagrangian` | hard local ones and token counts | bound, status and answer |

Exact decoding means labels, score, status and violations: optimal, relaxed (the fewest violations) or without
any labelling; in batches, on both kernels. With local constraints, marginals are compared, too. Where sums of
floats are exact, ties must go to the first labelling in declared order, and scores must be equal; where they
are not (logarithms, tenths), an answer must be as good as the best one, within 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core._network import Conjunction
from lcons_core.features import ConstraintFeature, Counts, Existence, NgramContext, NgramLabels
from lcons_decode import (
    ChainConstraints,
    ChainScores,
    Decoding,
    Hard,
    Scored,
    Soft,
    Status,
    allowed_ngrams,
    beam_search,
    constrained_viterbi_batch,
    decode_batch,
    decode_global,
    decode_lagrangian,
    forbidden_ngrams,
    marginals,
    nbest,
)
from lcons_decode._stream import decode_scored
from lcons_decode.chains._viterbi import viterbi_batch
from soaking import draws, oracle
from soaking.oracle import Labelling
from soaking.tally import TOLERANCE, Tally

Case = dict[str, Any]

FEATURES: dict[str, Callable[[Case], ConstraintFeature]] = {
    "ngram": lambda f: NgramLabels(tuple(f["labels"]), f["n"], f["pad"]),
    "context": lambda f: NgramContext(
        tuple(f["labels"]), tuple(f["contexts"]), f["n"], f["column"], None, f["pad"]
    ),
    "existence": lambda f: Existence(tuple(f["labels"]), f["n"]),
    "counts": lambda f: Counts(tuple(f["labels"]), f["high"], f["spans"]),
}


def feature_of(given: Case) -> ConstraintFeature:
    """The feature of lcons."""
    return FEATURES[given["kind"]](given)


def network_of(parts: Any) -> Any:
    """The network of lcons, or a conjunction of several."""
    own = [RectifierNetwork(W, b) for W, b in parts]
    return own[0] if len(own) == 1 else Conjunction(tuple(own))


def use_of(given: Case) -> Hard | Soft:
    """The hard or soft constraint of lcons."""
    feature = feature_of(given["feature"])
    if "grams" in given:
        listed = allowed_ngrams if given["allowed"] else forbidden_ngrams
        return Hard(listed(feature.labels, given["grams"], pad=feature.pad), given["name"])
    provenance = {} if given["scale"] is None else {"violation": given["scale"]}
    learned = LearnedConstraint(network_of(given["parts"]), feature.space, feature, provenance)
    if given["weight"] is None:
        return Hard(learned, given["name"])
    return Soft(learned, given["weight"], given["name"], given["cost"])


def scores_of(model: Case, sequence: Case) -> ChainScores:
    """The scores of lcons."""
    L = len(model["labels"])
    emission = np.array(sequence["emission"], dtype=np.float64).reshape(-1, L)
    return ChainScores(emission, model["transition"], model["start"], model["stop"], labels=model["labels"])


class Judged:
    """One sequence of a case: scores of lcons, and all labellings of the oracle."""

    def __init__(self, case: Case, sequence: Case) -> None:
        self.scores, self.x = scores_of(case["model"], sequence), sequence["x"]
        self.chain = oracle.Chain(case["model"], sequence, case["uses"])
        self.all = self.chain.labellings()
        self.by_y = {one.y: one for one in self.all}
        self.exact = oracle.exact_costs(case["uses"])
        self.satisfying = [one for one in self.all if not one.broken]

    def check(self, tally: Tally, what: str, found: Decoding, best: Labelling | None, status: Status) -> None:
        """Compares an answer with the best labelling: the same one, or one as good within rounding."""
        tally.same(f"{what} status", found.status, status if best is not None else Status.INFEASIBLE)
        if best is None:
            tally.same(f"{what} without labelling", (found.y, found.score), ((), oracle.NEVER))
            return
        if self.exact:
            tally.same(f"{what} labels", found.y, best.y)
            tally.same(f"{what} score", found.score, best.total)
        else:
            tally.near(f"{what} score of the best", found.score, best.total)
            tally.same(f"{what} violations", len(found.violations), len(best.violations))
        self.sound(tally, what, found)

    def sound(self, tally: Tally, what: str, found: Decoding) -> Labelling:
        """The labelling of an answer, which has the score and the violations that the answer states."""
        tally.true(f"{what} has a labelling of finite score", found.y in self.by_y, found.y)
        own = self.by_y[found.y]
        if self.exact:
            tally.same(f"{what} stated score", found.score, own.total)
        else:
            tally.near(f"{what} stated score", found.score, own.total)
        stated = {(one.constraint, one.position) for one in found.violations}
        tally.same(f"{what} stated violations", stated, own.violations)
        return own


def fewest_then_best(one: Labelling) -> Any:
    """Fewest broken parts, then the best score."""
    return -len(one.broken), one.all[0] + Fraction(one.all[1])


def draw_hard(rng: Random) -> Case:
    """Hard local constraints."""
    return {**draws.draw_chain(rng), "count": rng.choice([1, 2, 5, 500]), "width": rng.choice([1, 2, 3, 200])}


def draw_soft(rng: Random) -> Case:
    """Hard and soft local constraints."""
    case = draws.draw_chain(rng, soft=0.7, sequences=1)
    return {**case, "count": rng.choice([1, 2, 5, 500]), "width": rng.choice([1, 2, 3, 200])}


def draw_large(rng: Random) -> Case:
    """Longer sequences and more labels, under hard constraints, or hard and soft ones."""
    case = draws.draw_large_chain(rng, soft=rng.choice([0.0, 0.8]))
    more = {"count": rng.choice([1, 5, 50]), "width": rng.choice([1, 3, 50]), "rerank": rng.random() < 0.5}
    return {**case, **more}


def check_local(case: Case, tally: Tally) -> None:
    """Families `hard`, `soft` and `large`."""
    judged = [Judged(case, sequence) for sequence in case["sequences"]]
    batch, xs = [one.scores for one in judged], [one.x for one in judged]
    compiled = ChainConstraints.of([use_of(use) for use in case["uses"]], batch[0].labels)
    for one, free in zip(judged, viterbi_batch(batch), strict=True):
        found = max(one.all, key=lambda each: each.base, default=None)
        tally.same(
            "viterbi",
            (free.y, free.score),
            ((), oracle.NEVER) if found is None else (found.y, float(found.base)),
        )
    for one, answer in zip(judged, constrained_viterbi_batch(batch, compiled, xs), strict=True):
        best = oracle.best_of(one.all, fewest_then_best) if one.all else None
        status = Status.RELAXED if best is not None and best.broken else Status.OPTIMAL
        one.check(tally, "constrained viterbi", answer, best, status)
    first = judged[0]
    _check_nbest(case, tally, first, compiled)
    _check_marginals(tally, first, compiled)
    _check_beam(case, tally, first, compiled)


def _check_nbest(case: Case, tally: Tally, one: Judged, compiled: ChainConstraints) -> None:
    found = nbest(one.scores, case["count"], compiled, one.x)
    if one.exact:
        wanted = sorted(one.satisfying, key=lambda each: -each.local[0])[: case["count"]]
        tally.same("n-best labels", [each.y for each in found], [each.y for each in wanted])
        tally.same("n-best scores", [each.score for each in found], [each.local_total for each in wanted])
    else:
        wanted = sorted(one.satisfying, key=lambda each: -each.local_total)[: case["count"]]
        tally.all_near("n-best scores", [each.score for each in found], [each.local_total for each in wanted])
        own = [one.by_y[each.y].local_total for each in found if each.y in one.by_y]
        tally.all_near("n-best stated scores", [each.score for each in found], own)
        tally.same("n-best distinct labellings", len({each.y for each in found}), len(found))
    tally.same(
        "n-best violations",
        [{(v.constraint, v.position) for v in each.violations} for each in found],
        [
            set(one.by_y[each.y].broken_whole) | set(one.by_y[each.y].broken)
            for each in found
            if each.y in one.by_y
        ],
    )


def _check_marginals(tally: Tally, one: Judged, compiled: ChainConstraints) -> None:
    found = marginals(one.scores, compiled, one.x)
    table, total = oracle.marginals(one.satisfying, one.chain.labels, one.chain.T)
    tally.near("log partition", found.log_partition, total)
    tally.all_near("marginals", found.probability.ravel().tolist(), [p for row in table for p in row])


def _check_beam(case: Case, tally: Tally, one: Judged, compiled: ChainConstraints) -> None:
    width, rerank = case["width"], case.get("rerank", False)
    found = beam_search(one.scores, compiled, one.x, width=width, rerank=rerank)
    expected = oracle.beam(one.chain, width, 0.0 if one.exact else TOLERANCE, rerank)
    if found.status is Status.INFEASIBLE:
        tally.same("beam without labelling", one.all, [])
        return
    one.sound(tally, "beam", found)
    satisfied = Status.RELAXED if found.violations else Status.HEURISTIC
    tally.same("beam status", found.status, satisfied)
    best = oracle.best_of(one.all, fewest_then_best)
    better = (-len(found.violations), found.score) > (
        -len(best.broken),
        best.total + (0 if one.exact else TOLERANCE),
    )
    tally.true("no beam is better than the best", not better, (found, best))
    plain = not any(not oracle.is_local(use) for use in case["uses"])
    if plain and expected.members and not expected.tied:
        tally.same("beam labels", found.y, expected.members[0][0])
        tally.same("beam fallbacks", found.stats["fallbacks"], expected.fallbacks)


def draw_global(rng: Random) -> Case:
    """Local and global constraints, hard and soft."""
    case = draws.draw_chain(rng, soft=rng.choice([0.0, 0.0, 0.5]), wholes=0.6, sequences=1)
    more = {
        "count": rng.choice([1, 3, 500]),
        "width": rng.choice([1, 3, 200]),
        "budget": rng.choice([1, 3, 10**4]),
    }
    return {**case, **more}


def check_global(case: Case, tally: Tally) -> None:
    """Family `global`."""
    one = Judged(case, case["sequences"][0])
    uses = [use_of(use) for use in case["uses"]]
    compiled = ChainConstraints.of(uses, one.scores.labels)
    soft_whole = any(use["weight"] and not oracle.is_local(use) for use in case["uses"])
    found = decode_global(one.scores, compiled, one.x, budget=case["budget"])
    if not one.satisfying:
        relaxed = oracle.best_of(one.all, lambda o: (-len(o.broken), *_local(o))) if one.all else None
        if soft_whole or not one.exact:
            tally.same("global status", found.status, Status.RELAXED if relaxed else Status.INFEASIBLE)
            if relaxed is not None:
                own = one.sound(tally, "global", found)
                tally.same("global broken windows", len(own.broken), len(relaxed.broken))
                tally.near("global best under local constraints", own.local_total, relaxed.local_total)
        else:
            one.check(tally, "global", found, relaxed, Status.RELAXED)
    else:
        own = one.sound(tally, "global", found)
        best = oracle.best_of(one.satisfying, lambda o: (-len(o.broken_whole), o.all[0] + Fraction(o.all[1])))
        tally.same("global broken windows", own.broken, ())
        if found.status is Status.OUT_OF_BUDGET:
            tally.true("out of budget", case["budget"] < len(one.satisfying), found.stats)
        else:
            tally.same("global status", found.status, Status.RELAXED if best.broken_whole else Status.OPTIMAL)
            tally.same("global broken constraints", len(own.broken_whole), len(best.broken_whole))
            if one.exact:
                tally.same("global score", found.score, best.total)
            else:
                tally.near("global score", found.score, best.total)
            if one.exact and not soft_whole:
                tally.same("global labels", found.y, best.y)
    [(_, streamed)] = decode_scored([Scored(one.scores, one.x)], uses, budget=case["budget"])
    free = max(one.all, key=lambda each: each.base, default=None)
    if not any(not oracle.is_local(use) for use in case["uses"]):
        [found] = decode_batch([one.scores], uses, [one.x])
    tally.same("stream", (streamed.y, streamed.score, streamed.status), (found.y, found.score, found.status))
    if free is not None:
        tally.same("stream alone", streamed.stats["alone"], free.y)
        changed = sum(a != b for a, b in zip(streamed.y, free.y, strict=True))
        tally.same("stream changed", streamed.stats["changed"], changed)
    _check_nbest(case, tally, one, compiled)
    _check_beam(case, tally, one, compiled)


def _local(one: Labelling) -> tuple[Fraction]:
    return (one.local[0] + Fraction(one.local[1]),)


def draw_lagrangian(rng: Random) -> Case:
    """Hard local constraints and token counts."""
    return draws.draw_chain(rng, wholes=0.6, sequences=1, linear=True, unknown=False)


def check_lagrangian(case: Case, tally: Tally) -> None:
    """Family `lagrangian`."""
    one = Judged(case, case["sequences"][0])
    found = decode_lagrangian(one.scores, [use_of(use) for use in case["uses"]], one.x, rounds=40)
    if found.status is Status.INFEASIBLE:
        tally.same("lagrangian without labelling", one.all, [])
        return
    fine = [each for each in one.all if not each.violations]
    best = max((each.base for each in fine), default=None)
    if one.satisfying:
        tally.true(
            "the bound is not below the optimum", best is None or found.stats["bound"] >= best, (found, best)
        )
        one.sound(tally, "lagrangian", found)
    else:
        least = min(len(each.broken) for each in one.all)
        tally.same("lagrangian relaxed windows", len(one.by_y[found.y].broken), least)
    if found.status is Status.OPTIMAL:
        tally.same("lagrangian optimum", found.score, None if best is None else float(best))
    elif found.status is Status.HEURISTIC:
        tally.same("lagrangian satisfies", one.by_y[found.y].violations, set())
    else:
        tally.same("lagrangian status", found.status, Status.RELAXED)
        tally.true("lagrangian breaks something", one.by_y[found.y].violations)
