"""`Diagnosis`: all figures as plain data, its verdicts, and a report.

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

The constraint judges whether it is obeyed if it was found; otherwise the best reference judges. The template
of the report (`templates/diagnosis.txt`) has the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lcons_tasks.diagnosis._obedience import Obedience
from lcons_tasks.diagnosis._references import HIDDEN, Measured
from lcons_tasks.own_data._summary import rendered
from lcons_tasks.stats import Estimate, certain

# A tenth of what label frequencies do not explain, in percent: independent labels stay below it, and on
# CoNLL-2000 label existence reaches two to four tenths and POS seven.
EXISTS = 10.0
# About one in fifty data sets with independent labels is above it by chance. Data in which most label pairs
# occur, and only a few never do, are above it.
SLIGHT = 2.0
# Half of the way from shuffled data to the best reference, in percent. The seed alone moves a constraint by
# up to a tenth of the way, and a constraint with K = 10 can be useful without reaching K = 64.
FOUND = 50.0

NO_SUCH = "no such constraint"
NOT_FOUND = "not found by the learner"
OBEYED = "already obeyed"
NO_HELP = "not obeyed, but no help"
# The verdicts that are reasons to leave a constraint out.
AGAINST = {
    NO_SUCH: "held-out data show no such constraint",
    NOT_FOUND: "the learner did not find it; learn it again with more hidden units (-K) or more data",
    OBEYED: "the predictions already obey it",
    NO_HELP: "labels are not wrong more often where it is violated",
}


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
        shares = (float(100 * measured.accepted[0]), float(100 * measured.rejected[0]))
        return cls(measured.reference.name, certain(measured.balanced), *shares)


@dataclass(frozen=True)
class Diagnosis:
    """All measurements of a constraint, the size of the data, and the verdicts.

    `negatives` is the source of corrupted psi. `warnings` should be read before the figures are trusted;
    `not_asked` lists what could not be measured. `coverage` are shares of the held-out parts, in percent:
    gold (`unseen_psi`) and predictions (`unseen_predicted`) that are unlike training (a part of local psi is
    new; a column of another is outside the range of training), and gold that is rejected. `references`,
    `shuffled` (the best on shuffled data), `constraint`, `skill` and `found` are empty or None if they could
    not be measured, or if every possible negative is gold. `obedience` is that to the constraint, `judged`
    that on which the verdict rests; None without predictions. `use`, `weight` and `advice` are the
    recommendation.
    """

    feature: str
    negatives: str
    seed: int
    train_size: int
    held_out_size: int
    coverage: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    references: tuple[Score, ...] = ()
    shuffled: Score | None = None
    constraint: Score | None = None
    skill: Estimate | None = None
    found: Estimate | None = None
    obedience: Obedience | None = None
    judged: Obedience | None = None
    use: str = ""
    weight: float | None = None
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, warnings first."""
        return {"warnings": self.warnings, **asdict(self)}

    def report(self) -> str:
        """The report for people: verdicts, and the figures behind them, with those of the best reference."""
        best = sorted(self.references, key=lambda score: -score.balanced_accuracy.value)[:1]
        values = {"diagnosis": self, "scores": [*best, self.shuffled, self.constraint]}
        limits = {"EXISTS": EXISTS, "SLIGHT": SLIGHT, "FOUND": FOUND, "largest": max(HIDDEN)}
        return rendered("lcons_tasks.diagnosis", "diagnosis.txt", **values, **limits)


def against(verdicts: Sequence[str]) -> str:
    """The reason of the verdicts to leave the constraint out, if there is one."""
    return next((AGAINST[verdict] for verdict in verdicts if verdict in AGAINST), "")


def conclude(skill: Estimate | None, found: Estimate | None, judged: Obedience | None) -> tuple[str, ...]:
    """The verdicts of the module's table.

    `skill` is None if every possible negative is gold, `found` is None if no reference is better than on
    shuffled data, and `judged` is None without predictions.
    """
    if skill is None or found is None or skill.low <= SLIGHT:
        return (NO_SUCH,)
    exists = "exists" if skill.low > EXISTS else "exists, but rules out little"
    verdicts = (exists, NOT_FOUND if missed(found) else "found by the learner")
    if judged is None:
        return verdicts
    if judged.excess.low <= 0:
        return (*verdicts, OBEYED)
    if missed(found):
        return (*verdicts, "not obeyed, nor found")
    helps = judged.lift is not None and judged.lift.low > 0
    return (*verdicts, "should help" if helps else NO_HELP)


def missed(found: Estimate | None) -> bool:
    """Whether the learner did not find what exists."""
    return found is not None and found.high < FOUND
