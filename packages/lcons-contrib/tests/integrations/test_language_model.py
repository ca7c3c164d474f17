"""A causal language model of `transformers` writes under constraints: every text is a valid labelling."""

from __future__ import annotations

import pytest
import torch
from label_constraints import constrained

from lcons_contrib.llm.logits import LabelLogitsProcessor
from lcons_core import iob2
from lcons_core.features import Existence
from lcons_decode import Hard, Soft, forbidden_ngrams

pytestmark = pytest.mark.integrations

LABELS = ("B", "I", "O")
IDS = {"B": 2, "I": 3, "O": (4, 5)}
EOS, PROMPT = 0, 3
WORDS = [(6,), (7, 8), (9,), (6,)]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("soft", [(), (Soft(forbidden_ngrams(LABELS, [("O", "O")]), 2.0, "soft", "hinge"),)])
def test_what_a_model_writes_is_a_valid_labelling_whatever_it_prefers(beams, soft):
    from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessorList

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=10, n_positions=32, n_embd=16, n_layer=1, n_head=2, eos_token_id=EOS)
    some_b = constrained(Existence(LABELS), [[-2.0, 0.0, 0.0]], [2.0])
    some = Hard(iob2(LABELS), "iob2"), Hard(some_b, "some B")
    processor = LabelLogitsProcessor(IDS, [WORDS], [*some, *soft], eos_token_id=EOS, prompt_length=PROMPT)
    prompt = torch.tensor([[1] * PROMPT])
    written = (
        GPT2LMHeadModel(config)
        .eval()
        .generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            logits_processor=LogitsProcessorList([processor]),
            max_new_tokens=20,
            num_beams=beams,
            do_sample=False,
            pad_token_id=1,
        )
    )
    y = processor.read(0, [token for token in written[0, PROMPT:].tolist() if token != 1])
    assert len(y) == len(WORDS)
    assert all(use.constraint.satisfied(y) for use in some)
