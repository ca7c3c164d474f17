from ._fit import fit
from ._fitted_tagger import Changed, Contribution, FittedTagger
from ._settings import BASES, PARTS, FitSettings

__all__ = [
    "BASES",
    "PARTS",
    "Changed",
    "Contribution",
    "FitSettings",
    "FittedTagger",
    "fit",
]
