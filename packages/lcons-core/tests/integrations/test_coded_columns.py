"""Columns of Arrow and pandas become coded columns without a loop over tokens in Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lcons_core import CodedColumn, InvalidInput

pytestmark = pytest.mark.integrations

WORDS = ["NN", "DT", "NN", "VB", "DT"]
DICTIONARY = pa.array(WORDS).dictionary_encode()
COLUMNS = {
    "strings": pa.array(WORDS),
    "large strings": pa.array(WORDS, pa.large_string()),
    "dictionary": DICTIONARY,
    "chunked": pa.chunked_array([WORDS[:2], WORDS[2:]]),
    "chunks with dictionaries": pa.chunked_array(
        [pa.array(WORDS[:2]).dictionary_encode(), pa.array(WORDS[2:]).dictionary_encode()]
    ),
    "slice": pa.array(["XX", *WORDS, "XX"]).slice(1, 5),
    "slice of a dictionary": pa.array(["XX", *WORDS]).dictionary_encode().slice(1),
    "flat list": pa.array([WORDS[:2], [], WORDS[2:]]).flatten(),
    "categorical": pd.Categorical(WORDS),
    "categorical series": pd.Series(WORDS, dtype="category", index=range(5, 10)),
    "series": pd.Series(WORDS),
    "arrow-backed series": pd.Series(WORDS, dtype="string[pyarrow]"),
    "index": pd.CategoricalIndex(WORDS),
    "numpy": np.array(WORDS),
}


@pytest.mark.parametrize("kind", list(COLUMNS))
def test_columns_of_other_libraries_have_the_same_strings(kind):
    assert list(CodedColumn.of(COLUMNS[kind])) == WORDS


def test_codes_of_dictionaries_and_categoricals_are_used_as_they_are():
    assert np.shares_memory(CodedColumn.of(DICTIONARY).codes, DICTIONARY.indices.to_numpy())
    categorical = pd.Categorical(WORDS)
    assert np.shares_memory(CodedColumn.of(categorical).codes, categorical.codes)


@pytest.mark.parametrize(
    "column",
    [pa.array(["NN", None]), pa.array(["NN", None]).dictionary_encode(), pd.Categorical(["NN", None])],
)
def test_missing_values_are_one_sentence(column):
    with pytest.raises(InvalidInput):
        CodedColumn.of(column)
