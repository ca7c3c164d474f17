"""Rules on the page: what each rests on, in gold labels or in its own data, and its values in full."""

import re
from dataclasses import replace

import pytest

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    binary,
    explain,
    one_hot,
    save,
)
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report import _rules as rules
from lcons_tasks.report import read_runs, report_page
from lcons_tasks.report._rules import evidence_of
from lcons_tasks.report._templates import environment


def rules_view(*given, **options) -> str:
    module = environment().get_template("blocks.html").module
    return module.rules(rules.rules_view(*given, **options))  # type: ignore[attr-defined]


def test_rules_have_support_and_exceptions_in_gold_parts():
    constraint = designed()["source-relation"]
    names = ("source", "relation")
    pairs = [("Person", "Kill"), ("Person", "Kill"), ("Location", "Kill"), ("Location", "NoRel")]
    gold = constraint.space.assignments(constraint.feature.psi(pairs))
    shown = rules_view(constraint, gold)
    assert constraint.feature.names == names
    row = re.search(r"<tr><th scope=\"row\">relation Kill[^/]*</th>(.*?)</tr>", shown)[1]
    assert re.findall(r"<td>(.*?)</td>", row)[1:] == ["3", "1"]


def told(constraint, *evidence):
    """The constraint with evidence in its provenance."""
    return LearnedConstraint(
        constraint.network, constraint.space, constraint.feature, {"seed": 3, "evidence": list(evidence)}
    )


def cells_of(shown: str, words: str) -> list[str]:
    row = re.search(rf"<tr><th scope=\"row\">{re.escape(words)}.*?</th>(.*?)</tr>", shown)[1]
    return re.findall(r"<td>(.*?)</td>", row)


def test_rules_without_gold_have_the_evidence_of_their_file():
    constraint = designed()["source-relation"]
    known, other, *_ = [rule.words for rule in explain(constraint).rules]
    shown = rules_view(
        told(constraint, {"rule": known, "support": 1234, "expected": 21.46, "seen": 0}), None, most=2
    )
    assert "support, expected and seen are counts in the data that the constraint was learned from" in shown
    assert re.findall(r'<th scope="col">(.*?)</th>', shown)[2:] == ["support", "expected by chance", "seen"]
    assert cells_of(shown, known)[1:] == ["1,234", "21", "0"]
    assert cells_of(shown, other)[1:] == ["", "", ""]


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        ["a", None, [1]],
        [{"rule": ["a"], "support": 1, "expected": 1.0, "seen": 1}],
        [{"rule": "a", "support": "<b>", "expected": 1.0, "seen": 1}],
        [{"rule": "a", "support": 1, "expected": float("nan"), "seen": 1}],
        [{"rule": "a", "support": 1, "expected": 1.0, "seen": -1}],
        [{"rule": "a", "support": 1, "expected": 1.0}],
    ],
)
def test_evidence_of_other_types_is_ignored(evidence):
    assert evidence_of({"evidence": evidence}) == {}


def test_evidence_is_not_listed_among_the_provenance(tmp_path):
    evidence = {"rule": "no such rule", "support": 1, "expected": 2.0, "seen": 0}
    constraint = told(designed()["source-relation"], evidence)
    both = {"all_of": [dict(constraint.provenance), {"seed": 2}]}
    for name, provenance in (("own", constraint.provenance), ("both", both)):
        save(replace(constraint, provenance=provenance), tmp_path / f"{name}.json")
        page = report_page(read_runs([tmp_path / f"{name}.json"]))
        assert "seed" in page
        assert "evidence" not in page
        assert "no such rule" not in page


def test_conditions_that_words_only_count_can_be_opened_in_full():
    names = [f"z{i}" for i in range(9)]
    space = FeatureSpace([binary("z", names)])
    all_hold, three_hold = (
        LearnedConstraint(RectifierNetwork([[2.0] * n + [0.0] * (9 - n)], [2.0 - 2.0 * n]), space)
        for n in (9, 3)
    )
    opened = re.search(r"<details class=\"whole\">(.*?)</details>", rules_view(all_hold, None))[1]
    assert all(f"<b>z {name}</b> is 1" in opened for name in names)
    assert "<details" not in rules_view(three_hold, None)


def test_a_list_of_values_that_words_shorten_can_be_opened_in_full():
    values = [f"v{i}" for i in range(40)]
    space = FeatureSpace([one_hot("pos", values), one_hot("label", ["B", "I", "O"])])
    few, most = ({"pos": values[:n], "label": "I"} for n in (2, 20))
    shown = rules_view(LearnedConstraint(Rules(space, [most]).network(), space), None)
    assert ", ".join(values[:20]) in re.search(r"<details class=\"whole\">(.*?)</details>", shown)[1]
    assert "v20" not in shown
    assert "<details" not in rules_view(LearnedConstraint(Rules(space, [few]).network(), space), None)
