"""`Diagnosis`: all figures as plain data, and a short or long report of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from lcons_tasks.diagnosis._coverage import Coverage
from lcons_tasks.diagnosis._obedience import Obedience
from lcons_tasks.diagnosis._references import Measured
from lcons_tasks.diagnosis._verdicts import Verdict
from lcons_tasks.own_data._examples import GIVEN
from lcons_tasks.stats import Estimate, certain

WIDTH = 30


@dataclass(frozen=True)
class Score:
    """How well something separates held-out gold from corrupted parts, in percent."""

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
    """All measurements of a constraint, the size of the data, and the verdicts.

    `negatives` is the source of corrupted psi (None: there is none). `warnings` should be read before the
    figures are trusted; `not_asked` lists what could not be measured. `references`, `shuffled` (the best on
    shuffled data) and the fields after them are empty or None if they could not be measured, or if every
    possible negative is gold. `beyond_seen` is the best network on the corrupted psi that `seen in training`
    accepts, and `beyond_seen_shuffled` the same after shuffling: what a global psi detects in addition to
    values that never occurred. `skill` and `found` are defined in `_verdicts.py`. `obedience` is measured by
    the constraint, `reference_obedience` by the best reference; both are None without predictions.
    """

    feature: str
    negatives: str | None
    seed: int
    units: str
    train_size: int
    held_out_size: int
    coverage: Coverage
    warnings: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
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
        """Plain data, warnings first."""
        return {"warnings": self.warnings, **asdict(self)}

    def report(self, verbose: bool = False) -> str:
        """The report for people: verdicts and the figures behind them; `verbose`: every figure."""
        return "\n".join(_report(self, verbose))

    def __str__(self) -> str:
        return self.report(verbose=True)


def _report(found: Diagnosis, verbose: bool) -> Iterator[str]:
    for warning in found.warnings:
        yield f"warning: {warning}"
    made = {GIVEN: "invalid rows as given", None: "nothing to corrupt by"}
    how = made.get(found.negatives, f"corrupted by `{found.negatives}`")
    yield f"{found.feature}; {how}; seed {found.seed}"
    yield f"{found.train_size} training and {found.held_out_size} held-out {found.units}"
    yield ""
    for verdict in found.verdicts:
        yield f"{verdict.name.upper()}: {verdict.because}"
    for question in found.not_asked:
        yield f"not asked: {question}"
    if found.references:
        best = max(found.references, key=lambda score: score.balanced_accuracy.value)
        rows = (found.shuffled, found.constraint)
        beyond = (found.beyond_seen, found.beyond_seen_shuffled)
        yield ""
        yield f"{'held out, %':<{WIDTH}} {'balanced accuracy':<20} gold accepted corrupted rejected"
        shown = (*found.references, *rows, *beyond) if verbose else (best, *rows)
        yield from (str(score) for score in shown if score is not None)
    if verbose or not found.references:
        covered = found.coverage
        shares = [f"{covered.unseen_psi:.1f}% of gold psi"]
        if covered.unseen_predicted is not None:
            shares.append(f"{covered.unseen_predicted:.1f}% of predicted psi")
        yield ""
        yield f"unlike training: {' and '.join(shares)}"
        yield f"gold that the constraint rejects: {covered.rejected:.1f}%"
    # The short report shows only the judge that the verdicts use.
    missed = "not found by the learner" in found
    judges = (found.obedience, found.reference_obedience)
    for judged in judges if verbose else judges[missed : missed + 1]:
        if judged is not None:
            yield ""
            yield from _obedience(judged)


def _obedience(judged: Obedience) -> Iterator[str]:
    right = "" if judged.accuracy is None else f" ({judged.accuracy:.2f}% right)"
    yield f"predictions{right} by `{judged.judge}`, % of parts"
    yield f"  violate {judged.violations}, gold {judged.gold_violations}, excess {judged.excess}"
    if judged.accuracy is None:
        return
    yield (
        f"  for gold {judged.for_gold:.1f}, against gold {judged.against_gold:.1f},"
        f" false alarms {judged.false_alarms:.1f}"
    )
    if judged.lift is not None:
        yield (
            f"  wrong where violated {judged.error_if_violated:.1f}, elsewhere"
            f" {judged.error_otherwise:.1f}, difference {judged.lift}"
        )
    yield f"  headroom, if violating parts were corrected: {judged.headroom} points"
