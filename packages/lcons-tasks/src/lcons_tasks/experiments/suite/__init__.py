"""The suite: what `fit` gains on many labelled sets, from few labelled sentences and unlabelled text.

    sets -> samples (N labelled, others unlabelled) -> answers of each row -> record -> document

Not in the paper: this experiment.
"""

from lcons_tasks.experiments.suite._corpus import LabelledSet, load_set, set_names

__all__ = ["LabelledSet", "load_set", "set_names"]
