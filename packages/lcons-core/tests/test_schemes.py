"""The ready-made span schemes accept exactly the valid sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, bilou, bioes, detect_scheme, iob2
from lcons_core._schemes import chunks

BIOES = ("B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "O")


def valid_iob2(labels):
    return all(
        now[0] != "I" or before in (f"B{now[1:]}", now)
        for before, now in zip(["O", *labels], labels, strict=False)
    )


def valid_closed(labels, last):
    open_type = None
    for label in labels:
        if open_type is None:
            if label[0] in ("I", last):
                return False
            open_type = label[1:] if label[0] == "B" else None
        else:
            if label[0] not in ("I", last) or label[1:] != open_type:
                return False
            open_type = None if label[0] == last else open_type
    return open_type is None


VALID = {
    "iob2": valid_iob2,
    "bioes": lambda labels: valid_closed(labels, "E"),
    "bilou": lambda labels: valid_closed(labels, "L"),
}
MAKERS = {"iob2": (iob2, "BI"), "bioes": (bioes, "BIES"), "bilou": (bilou, "BILU")}


@pytest.mark.parametrize("types", [("-X", "-Y"), ("",)])
@pytest.mark.parametrize("name", MAKERS)
@given(data=st.data())
def test_a_scheme_accepts_exactly_the_valid_sequences(name, types, data):
    make, letters = MAKERS[name]
    labels = ["O", *(f"{letter}{kind}" for kind in types for letter in letters)]
    sequence = data.draw(st.lists(st.sampled_from(labels), max_size=6))
    assert make(labels).satisfied(sequence) == VALID[name](sequence)


@given(st.lists(st.lists(st.sampled_from([*BIOES, "L-X", "U-X", "B"]), max_size=4), max_size=3))
def test_a_scheme_is_detected_where_it_fits_and_no_sequence_violates_it(sequences):
    used = {label for sequence in sequences for label in sequence}
    fitting = [
        name
        for name, (_, letters) in MAKERS.items()
        if used - {"O"}
        and all(label == "O" or label[0] in letters for label in used)
        and all(map(VALID[name], sequences))
    ]
    assert detect_scheme(sequences) == next(iter(fitting), None)


@pytest.mark.parametrize("labels", [["O"], [], ["NN", "B-X"], ["B-"], ["I-X"], ["OB-X"]])
def test_other_labels_have_no_scheme(labels):
    assert detect_scheme([labels]) is None


def test_one_sequence_instead_of_a_list_of_sequences_is_an_error():
    with pytest.raises(InvalidInput):
        detect_scheme(["B-X", "O"])


@pytest.mark.parametrize("label", ["NP", "X-NP", "I-", "-NP", "BI-NP"])
def test_a_label_outside_the_scheme_is_named(label):
    with pytest.raises(InvalidInput):
        iob2(["O", label])


@pytest.mark.parametrize("letters", ["BIIB", "BIES", "BILU"])
@given(spans=st.lists(st.tuples(st.sampled_from(["X", "Y", ""]), st.integers(1, 4)), max_size=5))
def test_chunks_are_the_spans_that_were_written(letters, spans):
    labels, expected = [], []
    for kind, length in spans:
        if kind:
            expected.append((kind, len(labels), len(labels) + length))
        some = letters[3] if length == 1 else letters[0] + letters[1] * (length - 2) + letters[2]
        labels += [f"{letter}-{kind}" for letter in some] if kind else ["O"] * length
    assert list(chunks(labels)) == expected
    open_ended = [label.replace("B", "I").replace("E", "I").replace("L", "I") for label in labels]
    assert sum(last - first for _, first, last in chunks(open_ended)) == sum(label != "O" for label in labels)
