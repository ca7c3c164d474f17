"""Why a constraint helps a model or not: a diagnosis, measured on held-out data of any kind.

    constraint, train, held out, predictions -> material, references -> figures -> verdicts -> report

Paper: Sec. 6 names three possible reasons why label existence does not help (there is no such constraint in
the data; the learner does not find it; the base model already obeys it), but does not test which one holds.

Not in the paper: all of this folder.
"""

from lcons_tasks.diagnosis._choice import Choice, Option, choose
from lcons_tasks.diagnosis._diagnose import Division, diagnose, divide
from lcons_tasks.diagnosis._diagnosis import Diagnosis, Verdict
from lcons_tasks.diagnosis._predictions import predict, predict_scores, read_predictions, read_scores

__all__ = [
    "Choice",
    "Diagnosis",
    "Division",
    "Option",
    "Verdict",
    "choose",
    "diagnose",
    "divide",
    "predict",
    "predict_scores",
    "read_predictions",
    "read_scores",
]
