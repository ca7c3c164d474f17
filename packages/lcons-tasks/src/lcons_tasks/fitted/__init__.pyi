from ._estimator import ConstrainedTaggerCV
from ._fit import fit
from ._fitted_tagger import Changed, Contribution, Fitted, FittedTagger
from ._own_scores import FittedScores, check_decoding_folder, fit_scores
from ._report import fit_document
from ._settings import BASES, PARTS, FitSettings

__all__ = [
    "BASES",
    "PARTS",
    "Changed",
    "ConstrainedTaggerCV",
    "Contribution",
    "FitSettings",
    "Fitted",
    "FittedScores",
    "FittedTagger",
    "check_decoding_folder",
    "fit",
    "fit_document",
    "fit_scores",
]
