"""Why a constraint helps or does not: a diagnosis from measurement on held-out data of any kind.

    constraint, train, held out, predictions -> material, references -> figures -> verdicts -> report

Paper: Sec. 6 names three possible reasons why label existence does not help (there is no such constraint in
the data; the learner does not find it; the base model already obeys it) and leaves telling them apart open.

Not in the paper: all of this folder.
"""

from lcons_tasks.diagnosis.coverage import Coverage, LeftOut
from lcons_tasks.diagnosis.diagnosing import diagnose
from lcons_tasks.diagnosis.dividing import Division, divide
from lcons_tasks.diagnosis.figures import Diagnosis, Score
from lcons_tasks.diagnosis.obedience import Obedience
from lcons_tasks.diagnosis.predictions import predict, read_predictions, read_scores
from lcons_tasks.diagnosis.resampling import Estimate
from lcons_tasks.diagnosis.verdicts import Verdict

__all__ = [
    "Coverage",
    "Diagnosis",
    "Division",
    "Estimate",
    "LeftOut",
    "Obedience",
    "Score",
    "Verdict",
    "diagnose",
    "divide",
    "predict",
    "read_predictions",
    "read_scores",
]
