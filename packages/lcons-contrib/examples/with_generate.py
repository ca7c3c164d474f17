"""A tiny language model that writes each word of a text and then its label: valid labels only."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from lcons_contrib.llm.logits import LabelLogitsProcessor
from lcons_core import iob2

set_seed(1)
small = {"n_embd": 8, "n_layer": 1, "n_head": 1, "bos_token_id": 0, "eos_token_id": 0}
model = GPT2LMHeadModel(GPT2Config(vocab_size=8, **small))
labels = {"B-X": 1, "I-X": 2, "O": 3}
words = [(4,), (5, 6), (7,), (4,)]  # the token ids of four words
prompt = torch.tensor([[token for word in words for token in word]])
processor = LabelLogitsProcessor(labels, [words], [iob2(list(labels))], eos_token_id=0, prompt_length=5)
for _ in range(3):
    options = {"max_new_tokens": 12, "do_sample": True, "pad_token_id": 0}
    [written] = model.generate(prompt, logits_processor=[processor], **options)
    found = [name for token in written[5:].tolist() for name, own in labels.items() if own == token]
    print(len(found), iob2(list(labels)).satisfied(found))
