"""Scores of CRFs that other libraries trained, for decoding under constraints.

| library | use |
|---|---|
| pytorch-crf | `from_pytorch_crf` |
| python-crfsuite | `CrfsuiteScores` |
| sklearn-crfsuite | `lcons_contrib.crf_libraries.sklearn.ConstrainedCRF`, which imports scikit-learn |
| flair | `FlairScores` |

These libraries are not imported here; their objects are read.
"""

from lcons_contrib.crf_libraries._crfsuite import CrfsuiteScores
from lcons_contrib.crf_libraries._flair import FlairScores
from lcons_contrib.crf_libraries._pytorch_crf import from_pytorch_crf

__all__ = ["CrfsuiteScores", "FlairScores", "from_pytorch_crf"]
