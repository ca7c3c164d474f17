"""Learning a rectifier network from labelled psi.

    recipe -> examples (negatives, evidence) -> estimator -> search -> schedule -> population -> constraint

`Recipe` describes as data how a constraint is learned; `ConstraintLearner` is only the training, with the
interface of scikit-learn; a population is all restarts as one tensor.
"""
