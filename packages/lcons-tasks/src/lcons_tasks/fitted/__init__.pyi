from ._estimator import ConstrainedTaggerCV
from ._fit import fit
from ._fitted_tagger import Changed, Contribution, FittedTagger
from ._report import fit_document
from ._settings import BASES, PARTS, FitSettings

__all__ = [
    "BASES",
    "PARTS",
    "Changed",
    "ConstrainedTaggerCV",
    "Contribution",
    "FitSettings",
    "FittedTagger",
    "fit",
    "fit_document",
]
