"""Inequalities with the names of their columns: every format has the same numbers, large ones are refused."""

import csv
import json

import numpy as np
import pytest
from hypothesis import given
from paper_tables import PRINTED, SOURCE_RELATION, printed_network

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    lift,
    one_hot,
    simplify,
    to_inequalities,
)
from lcons_core._tables import named_rows
from lcons_core._theorem import estimate_form
from lcons_core.testing import constraints

PAIRS = LearnedConstraint(printed_network("source-relation"), SOURCE_RELATION)


def test_the_text_is_the_table_of_the_paper():
    lines = list(named_rows(PAIRS).text())
    assert lines[0].split() == ["source", "|", "relation", "|"]
    assert lines[1].split("|")[0].split() == ["NoEnt", "Person", "Location", "Organization"]
    found = [[float(x) for x in line.replace("|", " ").split()] for line in lines[2:]]
    assert np.allclose(found, PRINTED["source-relation"], atol=0.011)


@given(constraints())
def test_json_and_csv_have_the_very_numbers(constraint):
    network = constraint.network
    wanted = {
        "rows": (to_inequalities(network).coefficients, to_inequalities(network).bias),
        "simplified": (simplify(constraint).rows.coefficients, simplify(constraint).rows.bias),
        "lifted": (lift(network).A_psi, lift(network).rhs),
    }
    for form, (coefficients, bias) in wanted.items():
        rows = named_rows(constraint, form)
        found = json.loads("\n".join(rows.json()))
        name, last = ("A_psi", "rhs") if form == "lifted" else ("coefficients", "bias")
        assert np.array_equal(np.array(found[name]).reshape(coefficients.shape), coefficients)
        assert found[last] == bias.tolist()
        assert found["columns"] == [list(column) for column in constraint.space.columns]
        header, *lines = csv.reader(rows.csv())
        assert header[: constraint.space.d] == [f"{b}={v}" for b, v in constraint.space.columns]
        assert len(lines) == len(rows) == len(bias)
        for line, c, b in zip(lines, coefficients, bias, strict=True):
            assert [float(x) for x in line[: len(c)]] == c.tolist()
            assert float(line[header.index(last)]) == b


def test_names_with_line_breaks_and_of_formulas_stay_in_one_harmless_cell():
    space = FeatureSpace([one_hot("=1+1", ["a\nb", "c"]), one_hot("tag", ["-x", "@y"])])
    constraint = LearnedConstraint(RectifierNetwork([[1.0, 0.0, 2.0, 0.0]], [0.5]), space)
    lines = list(named_rows(constraint).csv())
    assert len(lines) == 2
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in next(csv.reader(lines)))
    text = "\n".join(named_rows(constraint).text())
    assert len(text.splitlines()) == 3


def test_what_is_too_large_is_refused_with_its_size():
    wide = LearnedConstraint(RectifierNetwork(np.ones((40, 10)), np.zeros(40)), SOURCE_RELATION)
    assert estimate_form(wide.network, "rows").rows == 2**40 - 1
    for form in ("rows", "simplified"):
        with pytest.raises(TooLarge):
            named_rows(wide, form)
    assert len(named_rows(wide, "lifted")) == 41
    with pytest.raises(TooLarge):
        named_rows(wide, "lifted", max_bytes=100)
    with pytest.raises(InvalidInput):
        named_rows(wide, "masks")
