from ._estimator import ConstrainedTaggerCV
from ._fit import fit
from ._fitted_tagger import Changed, Contribution, FittedTagger
from ._report import fit_document
from ._settings import BASES, DEFAULT_PARTS, PARTS, FitSettings

__all__ = [
    "BASES",
    "DEFAULT_PARTS",
    "PARTS",
    "Changed",
    "ConstrainedTaggerCV",
    "Contribution",
    "FitSettings",
    "FittedTagger",
    "fit",
    "fit_document",
]
