"""Coded columns: the same strings by value and code, checked once, and read once per value."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import CodedColumn, Instance, InvalidInput
from lcons_core.features import NgramContext

words = st.lists(st.sampled_from(["DT", "NN", "1950", "(", "of", ""]), max_size=8)


@settings(max_examples=50, deadline=None)
@given(words, st.data())
def test_a_column_reads_as_its_strings(column, data):
    coded = CodedColumn.of(column)
    assert list(coded) == column
    assert len(coded) == len(column)
    assert len(set(coded.values)) == len(coded.values)
    assert CodedColumn.of(coded) is coded
    first, last = sorted(data.draw(st.tuples(st.integers(0, 8), st.integers(0, 8))))
    assert list(coded[first:last]) == column[first:last]
    assert [coded[i] for i in range(len(column))] == column
    assert np.shares_memory(coded[:2].codes, coded.codes) or not column


@settings(max_examples=30, deadline=None)
@given(st.lists(words, max_size=4))
def test_joined_columns_are_the_strings_in_order(columns):
    together = [word for column in columns for word in column]
    assert list(CodedColumn.joined(columns)) == together
    whole = CodedColumn.of(together)
    ends = np.cumsum([0, *map(len, columns)])
    slices = [whole[a:b] for a, b in pairwise(ends)]
    joined = CodedColumn.joined(slices)
    assert list(joined) == together
    assert not columns or joined.values is whole.values


@settings(max_examples=30, deadline=None)
@given(words, st.sampled_from([None, "shape", "punctuation"]))
def test_contexts_of_a_coded_column_are_those_of_its_strings(column, word_class):
    feature = NgramContext(("B", "O"), ("DT", "year", "punctuation"), 2, "pos", word_class)
    instances = [Instance({"pos": x}, ["B"] * len(column)) for x in (column, CodedColumn.of(column))]
    plain, coded = (feature.psi(instance) for instance in instances)
    assert np.array_equal(plain.dense(), coded.dense())


@pytest.mark.parametrize(
    ("values", "codes"),
    [(("a", 1), [0]), (("a",), [0.5]), (("a",), [[0]]), (("a",), [0, -1]), (("a",), [1]), ((), [0])],
)
def test_values_and_codes_are_checked_once(values, codes):
    with pytest.raises(InvalidInput):
        CodedColumn(values, codes)


@pytest.mark.parametrize("wrong", ["NN", b"NN", 3, None, ["a", None], ["a", 3], [["a"], ["b"]]])
def test_what_is_no_column_is_one_sentence(wrong):
    with pytest.raises(InvalidInput):
        CodedColumn.of(wrong)


class Dictionary:
    """A column as Arrow and pandas have it: distinct values, and one integer per token."""

    categories, codes, null_count, array = ["DT", "NN"], np.array([1, 0]), 0, None

    def __iter__(self):
        raise AssertionError("its strings are not read")


def test_columns_of_arrow_and_pandas_are_known_by_their_attributes_and_read_by_their_integers():
    values = SimpleNamespace(to_pylist=lambda: ["DT", "NN"])
    codes = SimpleNamespace(to_numpy=lambda zero_copy_only: np.array([1, 0]))
    categorical, series, arrow, chunked = (Dictionary() for _ in range(4))
    categorical.array = categorical
    series.array = SimpleNamespace(factorize=lambda: (series.codes, series.categories))
    arrow.dictionary_encode, arrow.dictionary, arrow.indices = lambda: arrow, values, codes
    chunked.dictionary_encode, chunked.unify_dictionaries = None, lambda: chunked
    chunked.combine_chunks = lambda: arrow
    for column in (categorical, series, arrow, chunked):
        assert list(CodedColumn.of(column)) == ["NN", "DT"]
    arrow.null_count = 1
    with pytest.raises(InvalidInput):
        CodedColumn.of(arrow)
