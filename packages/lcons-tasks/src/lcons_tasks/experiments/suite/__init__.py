"""The suite: what `fit` gains on many labelled sets, from few labelled sentences and unlabelled text.

    sets -> samples (N labelled, others unlabelled) -> answers of each row -> record -> document

Not in the paper: this experiment.
"""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.experiments.suite._corpus import LabelledSet as LabelledSet
from lcons_tasks.experiments.suite._corpus import load_set
from lcons_tasks.experiments.suite._corpus import set_names as set_names

__all__ = ["load_set"]
