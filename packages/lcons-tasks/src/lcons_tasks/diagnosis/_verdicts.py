"""Verdicts from figures: one small function, and its thresholds.

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

from dataclasses import dataclass

from lcons_tasks.diagnosis._obedience import Obedience
from lcons_tasks.diagnosis._references import HIDDEN
from lcons_tasks.stats import Estimate

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
            f" {judged.error_otherwise:.1f}%; headroom {judged.headroom} points"
        )
        verdicts.append(Verdict("should help", because))
    else:
        errors = "" if judged.lift is None else f", difference in errors {judged.lift}"
        because = f"{rejects}; labels are not clearly wrong more often there{errors}"
        verdicts.append(Verdict("not obeyed, but no help", because))
    return tuple(verdicts)
