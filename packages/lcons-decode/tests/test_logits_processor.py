"""What a language model may write next: exactly what can be completed to a valid labelling."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from chain_strategies import columns, learned, local_uses
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, iob2
from lcons_core.features import Existence
from lcons_decode import ChainConstraints, Hard, LabelLogitsProcessor

LABELS = ("a", "b", "c")
# Labels of one and of several ids, two of which begin alike.
IDS = {"a": 4, "b": (5, 6), "c": (5, 7)}
EOS, PROMPT = 0, 2
WORDS = [(8,), (), (9, 8)]


def flat(y) -> list[int]:
    """What is written for a labelling."""
    own = [(IDS[label],) if isinstance(IDS[label], int) else IDS[label] for label in y]
    return [token for word, label in zip(WORDS, own, strict=True) for token in (*word, *label)] + [EOS]


@st.composite
def uses(draw):
    found = draw(local_uses(LABELS, min_size=0, max_size=2, max_n=3))
    if draw(st.booleans()):
        found.append(Hard(draw(learned(Existence(LABELS))), "whole"))
    return found, draw(columns(len(WORDS)))


@given(uses())
@settings(max_examples=15)
def test_valid_texts_and_only_they_can_be_written_and_their_penalties_are_added(case):
    constraints, x = case
    compiled = ChainConstraints.of(constraints, LABELS)
    valid = {
        tuple(flat(y)): compiled.penalty(y, x)
        for y in product(LABELS, repeat=len(WORDS))
        if not compiled.violations(y, x)
    }
    if not valid:
        with pytest.raises(InvalidInput, match="no labelling of sequence 0"):
            LabelLogitsProcessor(IDS, [WORDS], constraints, eos_token_id=EOS, prompt_length=PROMPT, xs=[x])
        return
    processor = LabelLogitsProcessor(
        IDS, [WORDS], constraints, eos_token_id=EOS, prompt_length=PROMPT, xs=[x]
    )
    logits = torch.arange(10.0, dtype=torch.float64)
    found = {}
    todo: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    while todo:
        written, total = todo.pop()
        if written and written[-1] == EOS:
            found[written] = total
            continue
        rows = torch.tensor([[1] * PROMPT + list(written)])
        scores = processor(rows, logits[None])[0]
        allowed = torch.isfinite(scores).nonzero()[:, 0].tolist()
        assert allowed, written  # never a dead end
        todo += [((*written, token), total + float(scores[token] - logits[token])) for token in allowed]
    assert set(found) == set(valid)
    for written, penalty in valid.items():
        assert found[written] == pytest.approx(penalty, abs=1e-9)


def test_rows_belong_to_their_sequences_also_with_beams():
    processor = LabelLogitsProcessor(
        {"B": 1, "I": 2, "O": 3},
        [[()], [(), ()]],
        [iob2(["B", "I", "O"])],
        eos_token_id=0,
        prompt_length=1,
    )
    scores = torch.zeros(4, 5)
    found = processor(torch.tensor([[9, 1], [9, 3], [9, 1], [9, 3]]), scores)
    allowed = [torch.isfinite(row).nonzero()[:, 0].tolist() for row in found]
    assert allowed == [[0], [0], [1, 2, 3], [1, 3]]
    assert processor.read(1, [1, 2, 0]) == ("B", "I")
    with pytest.raises(InvalidInput, match="a multiple of 2 rows"):
        processor(torch.zeros(3, 1, dtype=torch.long), scores[:3])


def test_wrong_ids_are_refused_by_name():
    options = {"eos_token_id": 0, "prompt_length": 1}
    with pytest.raises(InvalidInput, match="the ids of label 'a' begin those of 'b'"):
        LabelLogitsProcessor({"a": 1, "b": (1, 2)}, [[()]], **options)
    with pytest.raises(InvalidInput, match="label 'a' has no token ids"):
        LabelLogitsProcessor({"a": ()}, [[()]], **options)
    with pytest.raises(InvalidInput, match="for each sequence of the batch, found 1 sequences and 2"):
        LabelLogitsProcessor({"a": 1}, [[()]], xs=[None, None], **options)
