"""Whether to use constraints, which, and hard or soft: chosen on sequences with gold labels.

The options are: nothing; each constraint hard, or soft with each weight; and all of them, in the same ways.
The sequences are split into contiguous folds, because neighbours share documents. For each option o and fold
f, s(o, f) is span F1, or token accuracy if the labels are no spans. With the best option b, the one of the
largest mean over folds,

    d(o, f) = s(b, f) - s(o, f),     chosen: the simplest o with  mean d(o, .) <= std d(o, .) / sqrt(folds)

that is, within one standard error of the paired difference. Nothing is simplest; then come fewer constraints,
then soft with smaller weights, then hard; but hard comes before soft where gold labels allow it
(`own_data._recommendation`).

The best of many options looks better than it is. So the expected gain is measured by nested cross-validation:
for each fold, the choice is made on the other folds, and its labels of this fold are compared with those by
the scores alone. The interval is a paired bootstrap over sequences. If this gain is not above 0, nothing is
chosen.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LearnedConstraint
from lcons_core._types import Floats
from lcons_decode import Hard, Scored, Soft, usual_cost
from lcons_decode._constraints import Constraint, ConstraintSet
from lcons_decode._stream import decode_scored
from lcons_decode.chains._viterbi import BUDGET
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._judgement import gold_bound
from lcons_tasks.own_data._recommendation import HARD, NOTHING, SOFT, Gain, Recommendation, by_gold, recommend
from lcons_tasks.stats import Interval, are_spans, bootstrap_f1, count_right, f1

WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)
FOLDS = 5
# The fewest folds: the standard error of a choice on all folds but one needs two.
LEAST_FOLDS = 3
GOLD = "gold"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Option:
    """A way to use constraints, and its mean over folds in percent."""

    uses: tuple[Hard | Soft, ...]
    mean: float = float("nan")

    @property
    def weight(self) -> float | None:
        """The weight of soft constraints."""
        return next((use.weight for use in self.uses if isinstance(use, Soft)), None)

    @property
    def use(self) -> str:
        """Nothing, hard or soft."""
        return NOTHING if not self.uses else HARD if self.weight is None else SOFT

    def __str__(self) -> str:
        names = ", ".join(use.name for use in self.uses)
        costs = dict.fromkeys(use.cost for use in self.uses if isinstance(use, Soft))
        if costs:
            return f"{names}: soft, weight {self.weight:g}, cost {', '.join(costs)}"
        return f"{names}: hard" if names else NOTHING

    def simplicity(self, allowed: AbstractSet[str] = frozenset()) -> tuple[int, float]:
        """Smaller is simpler: the number of constraints, then their weight (infinite if hard, but 0 if gold
        labels allow all of them to be hard; `allowed` are the names of such constraints)."""
        hard = 0.0 if allowed >= {use.name for use in self.uses} else np.inf
        return len(self.uses), hard if self.weight is None else self.weight

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        members = ("name", "weight", "cost") if self.use == SOFT else ("name",)
        uses = [{"weight": None, **{key: getattr(use, key) for key in members}} for use in self.uses]
        return {"constraints": uses, "mean": round(self.mean, 4)}


@dataclass(frozen=True)
class Choice:
    """The chosen option, all options from simple to strict, and the gain of choosing in this way over nothing
    in points of the `measure` (span F1 or token accuracy), by nested cross-validation."""

    chosen: Option
    options: tuple[Option, ...]
    measure: str
    nested: Interval
    sequences: int
    folds: int

    @property
    def uses(self) -> tuple[Hard | Soft, ...]:
        """The constraints to decode with."""
        return self.chosen.uses

    @property
    def gain(self) -> Interval:
        """The expected gain of the chosen option: `nested`, or 0 if nothing is chosen."""
        return self.nested if self.uses else Interval(0.0, 0.0, 0.0)

    @property
    def recommendation(self) -> Recommendation:
        """The same as a recommendation."""
        return recommend(None, gain=Gain(self.chosen.use, self.chosen.weight, self.gain, self.measure))

    def __str__(self) -> str:
        return (
            f"chosen by {self.folds} folds of {self.sequences:,} sequences: {self.chosen}; expected gain in"
            f" {self.measure}: {self.gain} points"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "chosen": str(self.chosen),
            **self.chosen.to_dict(),
            "measure": self.measure,
            "gain": {name: round(value, 4) for name, value in asdict(self.gain).items()},
            "sequences": self.sequences,
            "folds": self.folds,
            "options": [option.to_dict() for option in self.options],
        }


def choose(
    sequences: Iterable[Scored],
    constraints: Iterable[LearnedConstraint | Hard],
    gold: Iterable[Sequence[str]] | None = None,
    *,
    weights: Sequence[float] = WEIGHTS,
    folds: int = FOLDS,
    cost: str | None = None,
    seed: int = 0,
    beam: int | None = None,
    budget: int = BUDGET,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """The choice on these sequences, in their order.

    gold: their labels; None: those of their column `gold`, and sequences without it are left out. cost: of
    soft constraints, None: `lcons_decode.usual_cost` of each. beam, budget: as in `decode_scored`. `progress`
    is called with the number of options that were measured and the number of all.

    >>> from lcons_core import iob2
    >>> from lcons_decode import ChainScores
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 3.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> choice = choose([Scored(scores)] * 6, [Hard(iob2(scores.labels), "iob2")], [["B-X", "I-X"]] * 6)
    >>> str(choice.chosen), str(choice.gain)
    ('iob2: soft, weight 1, cost hinge', '+100.00 [+100.00, +100.00]')
    """
    scored, labels = _with_gold(list(sequences), gold)
    if not LEAST_FOLDS <= folds <= len(scored):
        raise InvalidInput(
            f"`folds` is at least {LEAST_FOLDS}, and at most the number of sequences with gold labels: got"
            f" {folds} for {len(scored)} sequences."
        )
    if any(not (np.isfinite(weight) and weight > 0) for weight in weights):
        raise InvalidInput(f"weights must be above 0: got {list(weights)}.")
    options = _options(constraints, weights, cost)
    spans = are_spans({label for y in labels for label in y})
    counts = np.zeros((len(options), len(scored), 3), dtype=np.int64)
    for o, option in enumerate(options):
        answers = [answer.y for _, answer in decode_scored(scored, option.uses, beam=beam, budget=budget)]
        counts[o] = count_right(labels, answers, spans)
        if progress is not None:
            progress(o + 1, len(options))
    parts = np.array_split(np.arange(len(scored)), folds)
    by_fold = np.stack([f1(counts[:, part].sum(1)) for part in parts], axis=1)
    gold_data = Structures(tuple(Instance(s.x, tuple(y)) for s, y in zip(scored, labels, strict=True)))
    used = {use.name: use.constraint for option in options for use in option.uses}
    allowed = {name for name, rule in used.items() if by_gold(gold_bound(rule, gold_data)) == HARD}
    order = [option.simplicity(allowed) for option in options]
    honest = counts[0].copy()
    for f, part in enumerate(parts):
        honest[part] = counts[_chosen(np.delete(by_fold, f, axis=1), order), part]
    nested = bootstrap_f1([honest], [counts[0]], seed=seed)
    means = by_fold.mean(1).tolist()
    measured = tuple(replace(option, mean=mean) for option, mean in zip(options, means, strict=True))
    chosen = measured[_chosen(by_fold, order) if nested.mean > 0 else 0]
    measure = "span F1" if spans else "token accuracy"
    return Choice(chosen, measured, measure, nested, len(scored), folds)


def _chosen(by_fold: Floats, order: Sequence[tuple[int, float]]) -> int:
    """The index of the simplest option within one standard error of the best; of equally simple ones, the
    better one. by_fold (options, folds)."""
    means = by_fold.mean(1)
    behind = by_fold[means.argmax()] - by_fold
    error = behind.std(1, ddof=1) / np.sqrt(by_fold.shape[1])
    # A difference in one fold alone is exactly one standard error, and rounding must not decide.
    within = np.flatnonzero(behind.mean(1) <= error * (1 + ROUNDING)).tolist()
    return int(min(within, key=lambda o: (order[o], -means[o], o)))


def _options(constraints: Iterable[Constraint], weights: Sequence[float], cost: str | None) -> list[Option]:
    """All options, from simple to strict; nothing is the first."""
    named = ConstraintSet.of(constraints)
    for use in named.soft + named.global_soft:
        raise InvalidInput(f"expected constraints without weights: got {use.name!r} with {use.weight:g}.")
    hard = named.hard + named.global_hard
    groups = [(use,) for use in hard] + ([hard] if len(hard) > 1 else [])
    options = [Option(()), *map(Option, groups)]
    for group, weight in product(groups, weights):
        costs = [cost or usual_cost(use.constraint) for use in group]
        both = zip(group, costs, strict=True)
        options.append(Option(tuple(Soft(use.constraint, weight, use.name, how) for use, how in both)))
    return sorted(options, key=Option.simplicity)


def _with_gold(
    sequences: list[Scored], gold: Iterable[Sequence[str]] | None
) -> tuple[list[Scored], list[Sequence[str]]]:
    """The sequences with gold labels, and these labels."""
    if not all(isinstance(sequence, Scored) for sequence in sequences):
        raise InvalidInput("choosing needs sequences as `Scored(scores, x)`.")
    if gold is None:
        sequences = [scored for scored in sequences if len(scored.x.get(GOLD, ()))]
        gold = [scored.x[GOLD] for scored in sequences]
    labels = [() if isinstance(y, str) else y for y in gold]
    if [len(y) for y in labels] != [len(scored.scores) for scored in sequences]:
        raise InvalidInput(f"`gold` needs the labels of each of {len(sequences)} sequences, one per token.")
    return sequences, labels
