"""`Diagnosis`: every figure as plain data, and a short report of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from lcons_tasks.diagnosis.coverage import Coverage
from lcons_tasks.diagnosis.obedience import Obedience
from lcons_tasks.diagnosis.references import Measured
from lcons_tasks.diagnosis.resampling import Estimate, certain
from lcons_tasks.diagnosis.verdicts import Verdict

WIDTH = 30


@dataclass(frozen=True)
class Score:
    """How well something tells held-out gold from corrupted, in percent."""

    name: str
    balanced_accuracy: Estimate
    gold_accepted: float
    corrupted_rejected: float

    @classmethod
    def of(cls, measured: Measured) -> Score:
        """The figures of a measurement."""
        return cls(
            measured.name,
            certain(measured.balanced),
            float(100 * measured.accepted[0]),
            float(100 * measured.rejected[0]),
        )

    def __str__(self) -> str:
        return (
            f"{self.name:<{WIDTH}} {self.balanced_accuracy!s:<20} {self.gold_accepted:>13.1f}"
            f" {self.corrupted_rejected:>18.1f}"
        )


@dataclass(frozen=True)
class Diagnosis:
    """What was measured, on how much, and what follows.

    `references`, `shuffled` (the best on shuffled labels) and what follows are empty or None where everything
    that could be a negative is gold. `beyond_seen` is the best network on the corrupted psi that `seen in
    training` accepts, and `beyond_seen_shuffled` the same after shuffling: what a global psi says beyond
    "this never occurred". `skill` and `found` are those of `verdicts.py`. `obedience` is by the constraint,
    `reference_obedience` by the best reference; both are None without predictions.
    """

    feature: str
    negatives: str
    seed: int
    train_sentences: int
    held_out_sentences: int
    coverage: Coverage
    warnings: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    references: tuple[Score, ...] = ()
    shuffled: Score | None = None
    constraint: Score | None = None
    beyond_seen: Score | None = None
    beyond_seen_shuffled: Score | None = None
    skill: Estimate | None = None
    found: Estimate | None = None
    obedience: Obedience | None = None
    reference_obedience: Obedience | None = None

    def __contains__(self, verdict: str) -> bool:
        """Whether a verdict of that name was reached."""
        return any(verdict == reached.name for reached in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(_report(self))


def _report(found: Diagnosis) -> Iterator[str]:
    yield f"{found.feature}; corrupted by `{found.negatives}`; seed {found.seed}"
    yield f"{found.train_sentences} training and {found.held_out_sentences} held-out sentences"
    yield ""
    for verdict in found.verdicts:
        yield f"{verdict.name.upper()}: {verdict.because}"
    for warning in found.warnings:
        yield f"warning: {warning}"
    tables = (found.shuffled, found.constraint, found.beyond_seen, found.beyond_seen_shuffled)
    if found.references:
        yield ""
        yield f"{'held out, %':<{WIDTH}} {'balanced accuracy':<20} gold accepted corrupted rejected"
        yield from (str(score) for score in (*found.references, *tables) if score is not None)
    for judged in (found.obedience, found.reference_obedience):
        if judged is not None:
            yield ""
            yield from _obedience(judged)


def _obedience(judged: Obedience) -> Iterator[str]:
    yield f"predictions ({judged.accuracy:.2f}% of labels right) by `{judged.judge}`, % of parts"
    yield f"  violate {judged.violations}, gold {judged.gold_violations}, excess {judged.excess}"
    yield (
        f"  for gold {judged.for_gold:.1f}, against gold {judged.against_gold:.1f},"
        f" false alarms {judged.false_alarms:.1f}"
    )
    if judged.lift is not None:
        yield (
            f"  labels wrong where violated {judged.error_if_violated:.1f}, elsewhere"
            f" {judged.error_otherwise:.1f}, difference {judged.lift}"
        )
    yield f"  headroom, were violating parts corrected: {judged.headroom} points"
