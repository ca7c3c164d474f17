"""Why a constraint helps a model or not: a diagnosis, measured on held-out data of any kind.

    constraint, train, held out, predictions -> material, references -> figures -> verdicts -> report

Paper: Sec. 6 names three possible reasons why label existence does not help (there is no such constraint in
the data; the learner does not find it; the base model already obeys it), but does not test which one holds.

Not in the paper: all of this folder.
"""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.diagnosis._choice import choose
from lcons_tasks.diagnosis._diagnose import diagnose
from lcons_tasks.diagnosis._diagnose import divide as divide
from lcons_tasks.diagnosis._diagnosis import Diagnosis as Diagnosis
from lcons_tasks.diagnosis._predictions import predict, read_predictions, read_scores
from lcons_tasks.diagnosis._predictions import predict_scores as predict_scores

__all__ = ["choose", "diagnose", "predict", "read_predictions", "read_scores"]
