"""The ready-made span schemes accept exactly the valid sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core._errors import InvalidInput
from lcons_core._schemes import bilou, iob2

IOB2 = ("B-X", "B-Y", "I-X", "I-Y", "O")
BILOU = ("B-X", "I-X", "L-X", "U-X", "B-Y", "I-Y", "L-Y", "U-Y", "O")


def valid_iob2(labels):
    return all(
        now[0] != "I" or before in (f"B{now[1:]}", now)
        for before, now in zip(["O", *labels], labels, strict=False)
    )


def valid_bilou(labels):
    open_type = None
    for label in labels:
        if open_type is None:
            if label[0] in "IL":
                return False
            open_type = label[1:] if label[0] == "B" else None
        else:
            if label[0] not in "IL" or label[1:] != open_type:
                return False
            open_type = None if label[0] == "L" else open_type
    return open_type is None


@given(st.lists(st.sampled_from(IOB2), max_size=6))
def test_iob2_accepts_exactly_the_valid_sequences(labels):
    assert iob2(IOB2).satisfied(labels) == valid_iob2(labels)


@given(st.lists(st.sampled_from(BILOU), max_size=6))
def test_bilou_accepts_exactly_the_valid_sequences(labels):
    assert bilou(BILOU).satisfied(labels) == valid_bilou(labels)


@pytest.mark.parametrize("label", ["NP", "X-NP", "I-", "-NP", "BI-NP"])
def test_a_label_outside_the_scheme_is_named(label):
    with pytest.raises(InvalidInput, match=repr(label)):
        iob2(["O", label])
