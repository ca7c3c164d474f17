"""Global constraints that are linear in the labels, by Lagrangian relaxation with cuts.

    bound(lambda) = max_y  score(y) + sum_r lambda_r (r . psi(y) + c_r),    lambda >= 0

is never below the optimum, for rows r . psi + c >= 0 of Theorem 1. If psi counts labels, the inner problem is
Viterbi (exact, under the hard local constraints) with `lambda_r r[label]` added to every emission. The rows
are not all written down: each round adds the most violated row of the current labelling
(`lcons_core.most_violated`), and lambda follows the subgradient.

A labelling that satisfies all constraints is reported as optimal in two cases only. Either it reaches the
bound, compared as rationals with the rounding of shifted scores on the safe side. Or it solves the inner
problem and every row with a positive multiplier is tight (complementary slackness); this needs no comparison
of scores.

Not in the paper, which only mentions Lagrangian relaxation as a possible use (Sec. 1). Anzaroot et al. (2014)
decode under linear constraints, also soft ones, in this way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from lcons_core import InvalidInput, Unsupported, most_violated
from lcons_core.features import Counts
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainScores, Floats, X, checked_scores
from lcons_decode.chains._viterbi import constrained_viterbi
from lcons_decode.chains._windows import ChainConstraints

ROUNDS = 200


@dataclass
class Cut:
    """A row on label counts, in the label order of the model: `weights . counts + bias >= 0`, and its
    multiplier."""

    weights: Floats
    bias: float
    multiplier: float = field(default=0.0)


def decode_lagrangian(
    scores: ChainScores,
    constraints: Iterable[Constraint] | ChainConstraints,
    x: X = None,
    *,
    rounds: int = ROUNDS,
) -> Decoding:
    """The best labelling found under hard label-count constraints (and hard local ones); `stats["bound"]`
    is never below the optimum.

    The status is OPTIMAL if the bound is reached, and HEURISTIC if a satisfying labelling was found but not
    proved to be the best. It is RELAXED if none was found: then the labelling with the fewest violations is
    returned.
    """
    if rounds < 1:
        raise InvalidInput(f"expected at least one round, found {rounds}.")
    compiled = ChainConstraints.of(constraints, checked_scores(scores).labels)
    _check(compiled, len(scores))
    local = ChainConstraints.of(compiled.named.hard, scores.labels)
    cuts: list[Cut] = []
    bound, best = Fraction(10) ** 400, None
    status = Status.HEURISTIC
    for step in range(1, rounds + 1):
        shifted = _shifted(scores, cuts)
        relaxed = constrained_viterbi(shifted, local, x)
        if relaxed.status is not Status.OPTIMAL:
            # The local constraints alone cannot be satisfied, or no labelling has a finite score.
            return Decoding(
                relaxed.y,
                scores.score(relaxed.y) if relaxed.y else relaxed.score,
                relaxed.status,
                {"rounds": step, "bound": float("-inf"), "cuts": 0},
                relaxed.violations,
            )
        bound = min(bound, _bound(shifted, relaxed, cuts))
        score, violations = scores.score(relaxed.y), compiled.violations(relaxed.y, x)
        if best is None or (-len(violations), score) > (-len(best.violations), best.score):
            best = Decoding(relaxed.y, score, status, {}, violations)
        slacks = _slacks(cuts, scores, relaxed.y)
        tight = not violations and all(
            cut.multiplier == 0 or slack == 0 for cut, slack in zip(cuts, slacks, strict=True)
        )
        if tight or (not best.violations and Fraction(best.score) >= bound):
            status = Status.OPTIMAL
            best = Decoding(relaxed.y, score, status) if tight else best
            break
        _add_cuts(compiled, cuts, scores, relaxed.y)
        if not _move(cuts, scores, relaxed.y, float(bound), best, step):
            break
    assert best is not None
    if best.violations:
        status = Status.RELAXED
    stats = {"rounds": step, "bound": float(bound), "cuts": len(cuts)}
    return Decoding(best.y, best.score, status, stats, best.violations)


def _check(compiled: ChainConstraints, T: int) -> None:
    if compiled.named.soft or compiled.named.global_soft:
        raise Unsupported(
            "Lagrangian relaxation accepts hard constraints only; use decode_global for soft ones."
        )
    for use in compiled.named.global_hard:
        feature = use.constraint.feature
        if not isinstance(feature, Counts) or feature.spans:
            raise Unsupported(
                f"{use.name!r} is not linear in the labels (label counts are); use decode_global or the ILP."
            )
        if feature.high < T:
            raise Unsupported(
                f"{use.name!r} knows counts up to {feature.high}, got {T} tokens; use decode_global."
            )
        unknown = [label for label in compiled.labels if label not in feature.labels]
        if unknown:
            raise Unsupported(
                f"{use.name!r} does not know the label {unknown[0]!r}, and does not apply to labellings that"
                " contain it, which is not linear in the labels; use decode_global."
            )


def _shifted(scores: ChainScores, cuts: list[Cut]) -> ChainScores:
    """The scores with the terms of the multipliers added to every emission."""
    extra = sum((cut.multiplier * cut.weights for cut in cuts), np.zeros(scores.L))
    return ChainScores(
        scores.emission + extra, scores.transition, scores.start, scores.stop, labels=scores.labels
    )


def _bound(shifted: ChainScores, relaxed: Decoding, cuts: list[Cut]) -> Fraction:
    """An upper bound on the optimum: the relaxed value, with the rounding of the shifted scores on the
    safe side."""
    constant = sum((Fraction(cut.multiplier) * Fraction(cut.bias) for cut in cuts), Fraction(0))
    value = Fraction(relaxed.score) + constant
    # Each shifted emission has an error of at most one ulp of a score of this size; so has each addition.
    size = float(np.abs(shifted.emission[np.isfinite(shifted.emission)]).sum()) + abs(relaxed.score)
    exact = all(cut.multiplier == 0 for cut in cuts)
    return value if exact else value + Fraction(size * (4 * len(shifted) + 4 + 2 * len(cuts)) * 2.0**-52)


def _slacks(cuts: list[Cut], scores: ChainScores, y: tuple[str, ...]) -> Floats:
    """The slack of each row at a labelling; negative if the row is broken."""
    counts = np.bincount(scores.ids(y), minlength=scores.L).astype(np.float64)
    return np.array([float(cut.weights @ counts + cut.bias) for cut in cuts])


def _add_cuts(compiled: ChainConstraints, cuts: list[Cut], scores: ChainScores, y: tuple[str, ...]) -> None:
    """Adds the most violated row of every global constraint that y breaks, unless it was added before."""
    for use in compiled.named.global_hard:
        constraint = use.constraint
        assert isinstance(constraint.feature, Counts)
        psi = constraint.feature.psi(y).dense()[0]
        if constraint.accepts(psi):
            continue
        row = most_violated(constraint.network, psi)
        order = [constraint.feature.labels.index(label) for label in scores.labels]
        weights, bias = row.coefficients[0][order], float(row.bias[0])
        if not any(np.array_equal(cut.weights, weights) and cut.bias == bias for cut in cuts):
            cuts.append(Cut(weights, bias))


def _move(
    cuts: list[Cut], scores: ChainScores, y: tuple[str, ...], bound: float, best: Decoding, step: int
) -> bool:
    """One projected subgradient step; returns False if no multiplier would change."""
    slacks = _slacks(cuts, scores, y)
    moving = np.array(
        [slack < 0 or cut.multiplier > 0 for slack, cut in zip(slacks, cuts, strict=True)], dtype=bool
    )
    if not moving.any():
        return False
    # Polyak's step if a satisfying labelling bounds the gap, else a step that shrinks with the rounds.
    gap = bound - best.score if not best.violations else 1.0
    size = (
        max(gap, 1e-6)
        / (float((slacks[moving] ** 2).sum()) or 1.0)
        / (1.0 if not best.violations else step**0.5)
    )
    for cut, slack, moves in zip(cuts, slacks, moving, strict=True):
        if moves:
            cut.multiplier = max(0.0, cut.multiplier - size * float(slack))
    return True
