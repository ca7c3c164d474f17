"""`Diagnosis`: all figures as plain data, and a short or long report of them.

Verdicts from figures: one small function, and its thresholds.

With BA the balanced accuracy on held-out gold and corrupted parts, and shuffled the best BA that any
reference reaches on any of several shufflings of the same data:

    skill = (BA of the best reference - BA shuffled) / (1 - BA shuffled)
    found = (BA of the constraint - BA shuffled) / (BA of the best reference - BA shuffled)

| verdict | iff |
|---|---|
| exists | the whole interval of skill is above `EXISTS` |
| exists, but rules out little | otherwise, the whole interval is above `SLIGHT` |
| no such constraint | neither of these two |
| not found by the learner | it exists, and the whole interval of found is below `FOUND` |
| found by the learner | it exists, and the interval of found is not below `FOUND` |
| already obeyed | it exists, and predictions do not clearly violate it more often than gold |
| should help | it exists, was found, is not already obeyed, and violations come with errors |
| not obeyed, but no help | the same, but labels are not clearly wrong more often where it is violated |
| not obeyed, nor found | it exists, is not already obeyed, and the learner did not find it |

The constraint judges whether it is obeyed if it was found; otherwise the best reference judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from lcons_tasks.diagnosis._coverage import Coverage
from lcons_tasks.diagnosis._obedience import Obedience
from lcons_tasks.diagnosis._references import HIDDEN, Measured
from lcons_tasks.own_data._examples import GIVEN
from lcons_tasks.stats import Estimate, certain

WIDTH = 30


# A tenth of what label frequencies do not explain, in percent: independent labels stay below it, and on
# CoNLL-2000 label existence reaches two to four tenths and POS seven.
EXISTS = 10.0
# About one in fifty data sets with independent labels is above it by chance. Data in which most label pairs
# occur, and only a few never do, are above it.
SLIGHT = 2.0
LITTLE = "exists, but rules out little"
# Half of the way from shuffled data to the best reference, in percent. The seed alone moves a constraint by
# up to a tenth of the way, and a constraint with K = 10 can be useful without reaching K = 64.
FOUND = 50.0


@dataclass(frozen=True)
class Verdict:
    """A verdict, and the figures behind it in words."""

    name: str
    because: str


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
    the constraint, `reference_obedience` by the best reference; both are None without predictions. `advice`
    is one sentence on how to use the constraint, with the `weight` of a soft one (`_advice.py`).
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
    weight: float | None = None
    advice: str = ""

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
    if found.advice:
        yield ""
        yield f"advice: {found.advice}"


def _obedience(judged: Obedience) -> Iterator[str]:
    right = "" if judged.accuracy is None else f" ({judged.accuracy:.2f}% right)"
    if judged.f1 is not None:
        right = f" (span F1 {judged.f1}, {judged.accuracy:.2f}% of labels right)"
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
    yield f"  headroom, if violating parts were corrected: {_headroom(judged)}"


def _headroom(judged: Obedience) -> str:
    """The headroom in words: in span F1 if there are spans, and in accuracy."""
    if judged.headroom_f1 is None:
        return f"{judged.headroom} points"
    return f"{judged.headroom_f1} points of span F1, {judged.headroom} of accuracy"


def conclude(
    skill: Estimate | None,
    found: Estimate | None,
    by_constraint: Obedience | None,
    by_reference: Obedience | None,
    shuffling: str = "shuffled labels",
) -> tuple[Verdict, ...]:
    """The verdicts of the module's table.

    `skill` is None if every possible negative is gold, `found` is None if no reference is better than on
    shuffled data, and both `Obedience` are None without predictions; `shuffling` is what was shuffled, in
    words.
    """
    if skill is None:
        return (Verdict("no such constraint", "every possible negative is gold: nothing is ruled out"),)
    if found is None or skill.low <= SLIGHT:
        because = (
            f"skill {skill}% over {shuffling}, not clearly above {SLIGHT:g}, by a look-up and networks up to"
            f" K = {max(HIDDEN)}"
        )
        return (Verdict("no such constraint", because),)
    over = f"skill {skill}% over {shuffling}"
    if skill.low > EXISTS:
        verdicts = [Verdict("exists", f"{over}, above {EXISTS:g}")]
    else:
        verdicts = [Verdict(LITTLE, f"{over}, above {SLIGHT:g}, but not clearly above {EXISTS:g}")]
    missed = found.high < FOUND
    if missed:
        because = (
            f"the constraint is less accurate than references on {shuffling}"
            if found.high <= 0
            else f"{found}% of the way from {shuffling} to the best reference, below {FOUND:g}"
        )
        verdicts.append(Verdict("not found by the learner", because))
    else:
        because = f"{found}% of the way from {shuffling} to the best reference, not clearly below {FOUND:g}"
        verdicts.append(Verdict("found by the learner", because))
    judged = by_reference if missed else by_constraint
    if judged is None:
        return tuple(verdicts)
    rejects = (
        f"`{judged.judge}` rejects {judged.violations}% of the parts of predictions and"
        f" {judged.gold_violations}% of gold's, excess {judged.excess}"
    )
    if judged.excess.low <= 0:
        verdicts.append(Verdict("already obeyed", f"{rejects}, not clearly above 0"))
    elif missed:
        verdicts.append(Verdict("not obeyed, nor found", f"{rejects}; a constraint like that one could help"))
    elif judged.lift is not None and judged.lift.low > 0:
        because = (
            f"{rejects}; labels wrong there {judged.error_if_violated:.1f}%, elsewhere"
            f" {judged.error_otherwise:.1f}%; headroom {_headroom(judged)}"
        )
        verdicts.append(Verdict("should help", because))
    else:
        errors = "" if judged.lift is None else f", difference in errors {judged.lift}"
        because = f"{rejects}; labels are not clearly wrong more often there{errors}"
        verdicts.append(Verdict("not obeyed, but no help", because))
    return tuple(verdicts)
