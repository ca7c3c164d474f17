"""What a language model may write next: exactly what can be completed to a valid labelling."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from label_constraints import LABELS, constrained, local_constraints, of_feature

from lcons_contrib.llm.logits import LabelLogitsProcessor
from lcons_core import InvalidInput, TooLarge, Unsupported, iob2
from lcons_core.features import Counts, Existence
from lcons_decode import ChainConstraints, Hard, Soft

# Labels of one and of several ids, two of which begin alike.
IDS = {"A": 4, "B": (5, 6), "AB": (5, 7)}
EOS, PROMPT = 0, 2
WORDS = [(8,), (), (9, 8)]
X = {"pos": ["x", "y", "x"]}


def flat(y) -> tuple[int, ...]:
    """What is written for a labelling."""
    labels = [(IDS[label],) if isinstance(IDS[label], int) else IDS[label] for label in y]
    return (*(token for word, label in zip(WORDS, labels, strict=True) for token in (*word, *label)), EOS)


@st.composite
def uses(draw):
    """Local constraints of both kinds, and hard ones on whole sequences, one with a label more."""
    found = [Hard(one, "hard") for one in draw(st.lists(local_constraints(), max_size=1))]
    found += [Soft(one, 1.5, "soft") for one in draw(st.lists(local_constraints(), max_size=1))]
    labels = draw(st.sampled_from([LABELS, (*LABELS[1:], "C")]))
    whole = draw(
        st.sampled_from(
            [None, Existence(labels), Existence(labels, 2), Counts(labels, 8, True), Counts(labels, 8)]
        )
    )
    return found + ([] if whole is None else [Hard(draw(of_feature(whole)), "whole")])


@given(uses())
@settings(max_examples=25)
def test_valid_texts_and_only_they_can_be_written_and_their_penalties_are_added(constraints):
    compiled = ChainConstraints.of(constraints, LABELS)
    valid = {
        flat(y): compiled.penalty(y, X)
        for y in product(LABELS, repeat=len(WORDS))
        if not compiled.violations(y, X)
    }
    options = {"eos_token_id": EOS, "prompt_length": PROMPT, "xs": [X]}
    if not valid:
        with pytest.raises(InvalidInput, match="satisfies the constraints"):
            LabelLogitsProcessor(IDS, [WORDS], constraints, **options)
        return
    processor = LabelLogitsProcessor(IDS, [WORDS], constraints, **options)
    logits = torch.arange(10.0, dtype=torch.float64)
    totals = {}
    begun: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    while begun:
        written, total = begun.pop()
        if written and written[-1] == EOS:
            totals[written] = total
            continue
        scores = processor(torch.tensor([[1] * PROMPT + list(written)]), logits[None])[0]
        allowed = torch.isfinite(scores).nonzero()[:, 0].tolist()
        assert allowed, written  # never a dead end
        begun += [((*written, token), total + float(scores[token] - logits[token])) for token in allowed]
    assert totals == pytest.approx(valid, abs=1e-9)


def test_rows_belong_to_their_sequences_also_with_beams():
    ids, options = {"B": 1, "I": 2, "O": 3}, {"eos_token_id": 0, "prompt_length": 1}
    processor = LabelLogitsProcessor(ids, [[()], [(), ()]], [iob2(["B", "I", "O"])], **options)
    scores = torch.zeros(4, 5)
    processed = processor(torch.tensor([[9, 1], [9, 3], [9, 1], [9, 3]]), scores)
    allowed = [torch.isfinite(row).nonzero()[:, 0].tolist() for row in processed]
    assert allowed == [[0], [0], [1, 2, 3], [1, 3]]
    assert processor.read(1, [1, 2, 0]) == ("B", "I")
    with pytest.raises(InvalidInput, match="a multiple of 2 rows"):
        processor(torch.zeros(3, 1, dtype=torch.long), scores[:3])


def test_what_it_cannot_do_is_refused(monkeypatch):
    options = {"eos_token_id": 0, "prompt_length": 1}
    for ids in ({"a": 1, "b": (1, 2)}, {"a": ()}):
        with pytest.raises(InvalidInput):
            LabelLogitsProcessor(ids, [[()]], **options)
    some = Soft(constrained(Existence(LABELS), [[1.0] * 3], [0.0]), 1.0, "few")
    with pytest.raises(Unsupported):
        LabelLogitsProcessor(IDS, [WORDS], [some], **options)
    monkeypatch.setattr("lcons_contrib.llm._lattice.MAX_NUMBERS", 20)
    with pytest.raises(TooLarge):
        LabelLogitsProcessor(IDS, [WORDS], **options)
