"""Base models for sequences: words in, chain scores out; what decodes under constraints is lcons-decode.

| module | holds |
|---|---|
| `token_ids.py` | words, affixes, shapes and context columns as numbers, from training data only |
| `word_vectors.py` | pretrained word vectors, where there are some |
| `crf_loss.py` | the conditional random field's loss and its gradient |
| `bilstm_crf.py`, `bilstm_training.py` | the BiLSTM-CRF |
| `templates.py`, `text_features.py`, `reference_features.py` | what linear models read of a token |
| `linear_chain.py`, `linear_crf.py` | the linear chain, and training it as a CRF: no torch |
| `structured_svm.py`, `chain_svm.py` | the structured SVM, and training the linear chain with it |
| `tagger.py`, `model_file.py` | what every model offers, and its file |
"""
