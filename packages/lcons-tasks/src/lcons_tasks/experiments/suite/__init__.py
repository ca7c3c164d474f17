"""The suite: what `fit` gains on many labelled sets, from few labelled sentences and unlabelled text.

    sets -> samples (N labelled, others unlabelled) -> answers of each row -> record -> document

Not in the paper: this experiment.
"""
