"""Scores of coded columns are those of strings, and both are sums of the weights of attributes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import CodedColumn
from lcons_tasks.models._linear_chain import LinearChain
from lcons_tasks.models.phi._templates import TEMPLATES, attribute_rows

WORDS = ["Mind", "mind", ".", ",", "(", "In", "1950", "\u0130", "J", "=", "all"]
Inputs = list[dict[str, list[str]]]
TOKENS = st.lists(
    st.tuples(st.sampled_from(WORDS) | st.text(max_size=3), st.sampled_from(["NN", "DT", "", "a b"])),
    max_size=24,
)
INPUTS = st.lists(TOKENS, min_size=1, max_size=4).map(
    lambda many: [{"word": [word for word, _ in own], "pos": [tag for _, tag in own]} for own in many]
)


def model(xs: Inputs, template: str, columns: tuple[str, ...]) -> LinearChain:
    """Random weights for two thirds of the attributes of the inputs."""
    names = sorted({a for x in xs for row in attribute_rows(x, template, columns) for a in row})
    draw = np.random.default_rng(0)
    kept = tuple(draw.permutation([name for name in names if draw.random() < 0.67]).tolist())
    weights = draw.normal(size=(len(kept), 3))
    zeros = (np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    return LinearChain(("a", "b", "c"), columns, template, kept, weights, *zeros)


def summed(chain: LinearChain, xs: Inputs) -> Any:
    """The scores, attribute by attribute."""
    weights = dict(zip(chain.attributes, chain.weights, strict=True))
    rows = [row for x in xs for row in attribute_rows(x, chain.template, chain.columns)]
    return np.reshape([sum((weights[a] for a in row if a in weights), np.zeros(3)) for row in rows], (-1, 3))


def sliced(xs: Inputs, codes: Any = CodedColumn.of) -> list[dict[str, CodedColumn]]:
    """The inputs as slices of one coded column for each name."""
    ends = np.cumsum([0, *(len(x["word"]) for x in xs)]).tolist()
    whole = {name: codes([value for x in xs for value in x[name]]) for name in ("word", "pos")}
    return [{name: column[a:b] for name, column in whole.items()} for a, b in pairwise(ends)]


def with_values_of_no_token(values: list[str]) -> CodedColumn:
    """A column whose dictionary is that of more text, with a value twice."""
    column = CodedColumn.of(values)
    more = tuple(f"unseen {i}" for i in range(40))
    codes = (column.codes + 40 + len(column.values)).astype(np.uint64)
    return CodedColumn((*more, *column.values, *column.values), codes)


@pytest.mark.parametrize("template", TEMPLATES)
@given(INPUTS, INPUTS, st.booleans())
def test_coded_scores_are_the_scores_of_strings(
    template: str, xs: Inputs, others: Inputs, more: bool
) -> None:
    chain = model(xs, template, ("pos",) if more else ())
    for own in (xs, others, xs):
        scores = [
            chain.scores(form).emission for form in (own, sliced(own), sliced(own, with_values_of_no_token))
        ]
        np.testing.assert_allclose(scores[0], summed(chain, own), atol=1e-12)
        np.testing.assert_array_equal(scores[1:], [scores[0], scores[0]], strict=True)
