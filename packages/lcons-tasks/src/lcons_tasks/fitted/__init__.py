"""`fit`: a better tagger from a few labelled sentences and unlabelled text, each part judged by folds.

| module | holds |
|---|---|
| `_fit.py` | the steps, and the order of choices |
| `_settings.py` | the parts, and the values of each setting |
| `_bases.py` | the base model, a linear CRF |
| `_jackknife.py` | contiguous folds, counts, and the guard: how much better a change must be |
| `_fitted_tagger.py` | the result: the tagger, what each part gave, its rules |
| `_own_scores.py` | the same choices for the scores of any tagger |
| `_report.py` | the report |

Not in the paper: all of this folder.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lcons_tasks.fitted._fit import fit as fit
    from lcons_tasks.fitted._fitted_tagger import FittedTagger as FittedTagger
    from lcons_tasks.fitted._own_scores import fit_scores as fit_scores
    from lcons_tasks.fitted._settings import FitSettings as FitSettings

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_fit": ["fit"],
        "_fitted_tagger": ["FittedTagger"],
        "_own_scores": ["fit_scores"],
        "_settings": ["FitSettings"],
    },
)
