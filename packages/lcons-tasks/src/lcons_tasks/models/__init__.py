"""Base models: they read words and return scores. Decoding under constraints is the part of lcons-decode.

| module | holds |
|---|---|
| `phi/` | the features of the base models: of tokens, of references, and of pairs of candidates |
| `_word_vectors.py` | pretrained word vectors, if the machine has any |
| `_bilstm_crf.py`, `_crf_trainer.py` | the BiLSTM-CRF; its loss, the gradient of the loss, and training |
| `_linear_chain.py`, `_linear_crf.py` | the linear chain, and training it as a CRF: no torch |
| `_structured_svm.py`, `_chain_svm.py` | the structured SVM, and training the linear chain with it |
| `_relation_model.py`, `_relation_svm.py` | the model of entities and relations, trained as an SVM |
| `_tagger.py`, `_model_file.py` | the protocol of all sequence models, and the model file |

A name is imported when it is first used: torch takes seconds to import, and linear models do without it.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lcons_tasks.models._chain_svm import train_chain_svm as train_chain_svm
    from lcons_tasks.models._consistent_chain import consistent_over as consistent_over
    from lcons_tasks.models._crf_trainer import BilstmSettings as BilstmSettings
    from lcons_tasks.models._crf_trainer import train_bilstm as train_bilstm
    from lcons_tasks.models._linear_crf import LinearSettings as LinearSettings
    from lcons_tasks.models._linear_crf import train_linear as train_linear
    from lcons_tasks.models._structured_svm import SvmSettings as SvmSettings
    from lcons_tasks.models._tagger import Tagger as Tagger
    from lcons_tasks.models._tagger import load_tagger as load_tagger

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_chain_svm": ["train_chain_svm"],
        "_consistent_chain": ["consistent_over"],
        "_crf_trainer": ["BilstmSettings", "train_bilstm"],
        "_linear_crf": ["LinearSettings", "train_linear"],
        "_structured_svm": ["SvmSettings"],
        "_tagger": ["Tagger", "load_tagger"],
    },
)
