"""Emissions of references by numbers are those of the keys, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import CodedColumn
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models.phi import _reference_sums, _sums
from lcons_tasks.models.phi._references import reference_attributes, reference_keys

WORDS = [
    "Mind",
    "mind",
    ".",
    ",",
    "(",
    "In",
    "Proc",
    "1950",
    "59",
    "pp",
    "\u03a3\u03a3",
    "J",
    "=",
    "+",
    "all",
    "\u0130",
]
REFERENCES = st.lists(
    st.lists(st.sampled_from(WORDS) | st.text(min_size=1, max_size=3), max_size=60), min_size=1, max_size=4
)


def model(references: list[list[str]], seed: int = 0) -> LinearChain:
    """Random weights for two thirds of the attributes of the references."""
    names = sorted(
        {
            attribute
            for words in references
            for row in reference_keys({"word": words})
            for key in row
            for attribute in reference_attributes(key)
        }
    )
    draw = np.random.default_rng(seed)
    kept = tuple(draw.permutation([name for name in names if draw.random() < 0.67]).tolist())
    weights = draw.normal(size=(len(kept), 3))
    return LinearChain(
        ("a", "b", "c"), (), "reference", kept, weights, np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    )


@given(REFERENCES, REFERENCES)
def test_emissions_are_those_of_the_keys(references: list[list[str]], others: list[list[str]]) -> None:
    chain = model(references)
    for own in (references, others, references):
        xs = [{"word": words} for words in own]
        np.testing.assert_array_equal(chain.scores(xs).emission, chain._emission(xs), strict=True)


def test_words_with_white_space_are_left_to_the_keys() -> None:
    chain = model([["New York", ","]])
    assert chain._quick is not None
    assert chain._quick.kinds(CodedColumn.of(["New York", ","]), np.array([0, 2])) is None
    assert chain._quick.kinds(CodedColumn.of(["New", "York"]), np.array([0, 2])) is not None


def test_a_full_cache_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reference_sums, "MOST_WORDS", 2)
    chain = model([WORDS])
    xs = [{"word": WORDS}]
    before = chain.scores(xs).emission
    assert len(chain._quick.lower) == 1 + len(WORDS)  # type: ignore[union-attr]
    np.testing.assert_array_equal(
        chain.scores([{"word": WORDS[:3]}]).emission, chain._emission([{"word": WORDS[:3]}])
    )
    assert len(chain._quick.lower) == 1 + 3  # type: ignore[union-attr]
    np.testing.assert_array_equal(chain.scores(xs).emission, before)


def test_long_segments_are_read_in_part() -> None:
    chain = model([["a"] * 30 + ["in"] + ["b"] * 30 + [".", "c"]])
    xs = [{"word": ["a"] * 30 + ["in"] + ["b"] * 30 + ["pp", ".", "c"]}]
    np.testing.assert_array_equal(chain.scores(xs).emission, chain._emission(xs))


@pytest.mark.parametrize("limit", ["MOST_PAIRS", "MOST_SEGMENTS"])
def test_full_tables_of_pairs_and_segments_are_emptied(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reference_sums, limit, 2)
    chain = model([WORDS])
    for xs in ([{"word": WORDS}], [{"word": WORDS[::-1]}], [{"word": WORDS[:3]}]):
        np.testing.assert_array_equal(chain.scores(xs).emission, chain._emission(xs), strict=True)
    assert len(chain._quick.segments) <= 2 or limit == "MOST_PAIRS"  # type: ignore[union-attr]
    assert len(chain._quick.pairs) <= 3 or limit == "MOST_SEGMENTS"  # type: ignore[union-attr]


def test_tables_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sums, "ROOM", 2)
    chain = model([WORDS])
    for xs in ([{"word": WORDS[:2]}], [{"word": WORDS * 2}], [{"word": WORDS[::-1]}]):
        np.testing.assert_array_equal(chain.scores(xs).emission, chain._emission(xs), strict=True)
