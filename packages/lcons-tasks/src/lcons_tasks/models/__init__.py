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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
