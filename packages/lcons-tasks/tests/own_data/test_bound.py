"""Bounds on what a constraint rejects are exact, and folds judge what was learned without them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from lcons_core import Instance, Recipe, load, save
from lcons_tasks.own_data import (
    PsiTable,
    Structures,
    contiguous_folds,
    learn,
    summary_dict,
    upper_bound,
)

SENTENCES = [
    Instance({}, labels.split())
    for labels in ("B-X I-X O O", "O O B-Y", "B-Y I-Y I-Y O", "O B-X I-X B-Y O", "O O", "B-X O B-Y I-Y")
]


@given(st.integers(0, 3000), st.integers(1, 3000))
def test_the_bound_is_that_of_clopper_and_pearson(rejected, parts):
    rejected = min(rejected, parts)
    expected = 1.0 if rejected == parts else beta.ppf(0.95, rejected + 1, parts - rejected)
    assert upper_bound(rejected, parts) == pytest.approx(expected, rel=1e-6)


@given(st.integers(1, 30), st.integers(2, 9))
def test_each_structure_is_held_out_once_and_never_learned_from(number, folds):
    data = Structures([Instance({}, (f"L{i}",)) for i in range(number)])
    pairs = contiguous_folds(data, folds)
    assert len(pairs) == (0 if number == 1 else min(number, folds))
    held = [instance for _, fold in pairs for instance in fold.instances]
    assert held == (list(data.instances) if number > 1 else [])
    for rest, fold in pairs:
        assert not set(map(str, rest.instances)) & set(map(str, fold.instances))
        assert len(rest) + len(fold) == number
        assert [data.instances[i - 1] for i in fold.numbers()] == list(fold.instances)


@given(st.lists(st.booleans(), min_size=2, max_size=20), st.integers(2, 5))
def test_folds_of_a_table_have_rows_of_both_kinds(valid, folds):
    table = PsiTable(("a",), np.arange(len(valid), dtype=float)[:, None], np.array(valid))
    pairs = contiguous_folds(table, folds)
    held = sorted(row for _, fold in pairs for row in fold.numbers().tolist())
    assert held == ([] if not pairs else list(range(1, len(valid) + 1)))
    for rest, fold in pairs:
        if len(set(valid)) == 2:
            assert len(set(fold.valid)) == 2
        assert not set(rest.numbers()) & set(fold.numbers())


def test_folds_judge_the_networks_that_were_learned_without_them():
    data, recipe = Structures([*SENTENCES * 4, Instance({}, ("O", "I-X"))]), Recipe(hidden=3)
    found = learn(data, recipe, folds=3)
    alone = [learn(rest, recipe, fold).held_out for rest, fold in contiguous_folds(data, 3)]
    for name in ("structures", "parts", "forbidden_parts", "forbidden_structures", "new_parts", "outside"):
        assert getattr(found.held_out, name) == sum(getattr(one, name) for one in alone)
    assert found.held_out.forbidden_parts == 1
    assert found.held_out.examples[0].words == "label 1 O, label 2 I-X"
    assert found.constraint.satisfied(["O", "I-X"])


def test_bounds_are_in_the_file_and_in_the_summary(tmp_path):
    found = learn(Structures(SENTENCES * 8), folds=4)
    save(found.constraint, tmp_path / "c.json")
    provenance = load(tmp_path / "c.json").provenance
    assert provenance["bound"] == found.held_out.bound.to_dict() == summary_dict(found, "", "")["bound"]
    assert found.recommendation.use == "hard"


def test_windows_without_evidence_that_are_forbidden_are_told():
    found = learn(Structures(SENTENCES * 8))
    assert found.undecided.count
    assert not found.undecided.rejected
    assert not found.warnings
