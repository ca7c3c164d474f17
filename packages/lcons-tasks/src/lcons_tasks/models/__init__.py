"""Base models for sequences: words in, chain scores out; what decodes under constraints is lcons-decode.

| module | holds |
|---|---|
| `token_ids.py` | words, affixes, shapes and context columns as numbers, from training data only |
| `word_vectors.py` | pretrained word vectors, where there are some |
| `crf_loss.py` | the conditional random field's loss and its gradient |
| `bilstm_crf.py`, `bilstm_training.py` | the BiLSTM-CRF |
| `text_features.py`, `linear_crf.py` | the linear CRF: no torch |
| `tagger.py`, `model_file.py` | what every model offers, and its file |
"""
