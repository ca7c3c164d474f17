"""`fit`: a better tagger from a few labelled sentences and unlabelled text, each part judged by folds.

| module | holds |
|---|---|
| `_fit.py` | the steps, and the order of choices |
| `_settings.py` | the parts, and the values of each setting |
| `_bases.py` | base models: linear CRF, BiLSTM-CRF, single tokens |
| `_jackknife.py` | contiguous folds, counts, and the guard: how much better a change must be |
| `_fitted_tagger.py` | the result: the tagger, what each part gave, its rules |
| `_own_scores.py` | the same choices for the scores of any tagger |
| `_report.py` | the report |
| `_estimator.py` | the same in the style of scikit-learn |

Not in the paper: all of this folder.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
