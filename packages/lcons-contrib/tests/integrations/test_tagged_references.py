"""A tiny language model, trained here, writes references as tagged text; under constraints none is invalid.

The model reads a reference and writes each of its words with a field after it. Constraints on label bigrams
and on the fields that occur are learned from the training half, and the other half is written.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from lcons_contrib.llm.logits import LabelLogitsProcessor
from lcons_core import learn_constraints
from lcons_decode import ChainConstraints, Hard, Soft
from lcons_tasks.experiments.citation._corpus import read_labelled

pytestmark = pytest.mark.integrations

PAD, EOS, SEP, UNKNOWN = range(4)
LONGEST = 40
TESTED = 12


class Writer:
    """A causal model over words and fields, and its training."""

    def __init__(self, references) -> None:
        from transformers import GPT2Config, GPT2LMHeadModel

        torch.manual_seed(0)
        self.fields = sorted({field for _, y in references for field in y})
        counts = Counter(word for words, _ in references for word in words)
        names = [word for word, number in sorted(counts.items()) if number > 1]
        self.ids = {field: 4 + i for i, field in enumerate(self.fields)}
        self.words = {word: 4 + len(self.fields) + i for i, word in enumerate(names)}
        config = GPT2Config(
            vocab_size=4 + len(self.fields) + len(names),
            n_positions=4 * LONGEST,
            n_embd=64,
            n_layer=2,
            n_head=4,
            bos_token_id=SEP,
            eos_token_id=EOS,
            pad_token_id=PAD,
        )
        self.model = GPT2LMHeadModel(config)
        self._train([self.prompt(words) + self.answer(words, y) for words, y in references])

    def prompt(self, words) -> list[int]:
        return [*(self.words.get(word, UNKNOWN) for word in words), SEP]

    def answer(self, words, y) -> list[int]:
        pairs = zip(words, y, strict=True)
        return [token for word, f in pairs for token in (self.words.get(word, UNKNOWN), self.ids[f])] + [EOS]

    def _train(self, texts) -> None:
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        rng = np.random.default_rng(0)
        self.model.train()
        for _ in range(150):
            chosen = [texts[i] for i in rng.integers(0, len(texts), 8)]
            longest = max(map(len, chosen))
            batch = torch.tensor([text + [PAD] * (longest - len(text)) for text in chosen])
            loss = self.model(
                input_ids=batch,
                attention_mask=(batch != PAD).long(),
                labels=torch.where(batch == PAD, -100, batch),
            ).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        self.model.eval()

    def written(self, words, *processors, **options) -> list[int]:
        """What the model writes after a reference."""
        from transformers import LogitsProcessorList

        prompt = torch.tensor([self.prompt(words)])
        out = self.model.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            logits_processor=LogitsProcessorList(processors),
            max_new_tokens=2 * len(words) + 1,
            do_sample=False,
            **options,
        )
        return out[0, prompt.shape[1] :].tolist()

    def processor(self, words, constraints) -> LabelLogitsProcessor:
        given = [(self.words.get(word, UNKNOWN),) for word in words]
        return LabelLogitsProcessor(
            self.ids, [given], constraints, eos_token_id=EOS, prompt_length=len(words) + 1
        )


@pytest.fixture(scope="module")
def world():
    torch.set_num_threads(1)
    references = [(words, y) for words, y in read_labelled("bundled")[1] if len(words) <= LONGEST]
    half = len(references) // 2
    train, test = references[:half], references[half : half + TESTED]
    known = {field for _, y in train for field in y}
    test = [(words, y) for words, y in test if set(y) <= known]
    sequences = [list(y) for _, y in train]
    bigrams = learn_constraints(sequences, "ngram", n=2, pad=True, hidden=10)
    exists = learn_constraints(sequences, "existence", hidden=4)
    return Writer(train), test, [Hard(bigrams, "bigrams"), Hard(exists, "fields")]


def labels_of(writer, words, written) -> tuple[str, ...] | None:
    """The fields in what was written; None if it is not the reference, tagged."""
    names = {token: field for field, token in writer.ids.items()}
    fields = [names.get(token) for token in written[1::2]]
    wanted = [writer.words.get(word, UNKNOWN) for word in words]
    whole = written[::2] == [*wanted, EOS] and None not in fields
    return tuple(fields) if whole and len(fields) == len(words) else None


def broken(constraints, y) -> bool:
    return any(not use.constraint.satisfied(list(y)) for use in constraints)


def test_constrained_outputs_are_all_valid_and_stock_outputs_are_not(world):
    writer, test, constraints = world
    compiled = ChainConstraints.of(constraints, tuple(writer.ids))
    stock = [labels_of(writer, words, writer.written(words)) for words, _ in test]
    tagged, valid, right = [], [], [0, 0]
    for words, gold in test:
        free = writer.processor(words, [])
        tagged.append(labels_of(writer, words, writer.written(words, free)))
        under = writer.processor(words, compiled)
        valid.append(labels_of(writer, words, writer.written(words, under)))
        for i, y in enumerate((tagged[-1], valid[-1])):
            right[i] += sum(a == b for a, b in zip(y, gold, strict=True))
    tokens = sum(len(words) for words, _ in test)
    shares = [np.mean([y is None or broken(constraints, y) for y in ys]) for ys in (stock, tagged, valid)]
    print(
        f"\ninvalid outputs of {len(test)}: stock {shares[0]:.0%}, words copied {shares[1]:.0%}, constrained"
        f" {shares[2]:.0%}; token accuracy {right[0] / tokens:.3f} and {right[1] / tokens:.3f}"
    )
    assert shares[2] == 0
    assert shares[0] > 0
    assert shares[1] > 0


def test_beams_and_soft_constraints_write_whole_references(world):
    writer, test, constraints = world
    uses = [constraints[1], Soft(constraints[0].constraint, 2.0, "soft", "hinge")]
    compiled = ChainConstraints.of(uses, tuple(writer.ids))
    for words, _ in test[:3]:
        under = writer.processor(words, compiled)
        y = labels_of(writer, words, writer.written(words, under, num_beams=3))
        assert y is not None
        assert constraints[1].constraint.satisfied(list(y))
