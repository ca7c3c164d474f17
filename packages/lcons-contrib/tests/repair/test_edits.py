"""A repair changes exactly the verdicts that it must, is proved, fast, and kept as an example."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_contrib.repair.edits import allow, broken_examples, kept_examples, repair
from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    RectifierNetwork,
    binary,
    learn_constraints,
    load,
    round_dyadic,
    save,
)
from lcons_core.features import NgramLabels, Tuples
from lcons_core.testing import check_theorem1, conjunctions, networks

PAIRS = Tuples(("source", "relation"), (("Person", "Place", "Firm"), ("NoRel", "Kill", "LiveIn")))


@st.composite
def pairs_constraints(draw):
    d = PAIRS.space.d
    network = draw(st.one_of(networks(max_K=3, d=d), conjunctions(2, 2, d=d)))
    return LearnedConstraint(network, PAIRS.space, PAIRS, {"seed": 1})


STRUCTURES = st.lists(st.tuples(*map(st.sampled_from, PAIRS.values)), min_size=1, max_size=3)


def verdicts(constraint):
    """By pair of labels."""
    return {pair: constraint.satisfied([pair]) for pair in product(*PAIRS.values)}


@given(constraint=pairs_constraints(), structure=STRUCTURES)
def test_exactly_the_rejected_parts_become_allowed(constraint, structure):
    repaired, before = repair(constraint, allow=structure), verdicts(constraint)
    assert verdicts(repaired.constraint) == before | dict.fromkeys(structure, True)
    assert {tuple(part.values()) for part in repaired.allowed} == {p for p in structure if not before[p]}
    assert repaired.compared == len(before)


@given(constraint=pairs_constraints(), structure=STRUCTURES)
def test_one_part_becomes_forbidden_and_nothing_else_changes(constraint, structure):
    repaired = repair(constraint, forbid=structure)
    forbidden = [tuple(part.values()) for part in repaired.forbidden]
    assert verdicts(repaired.constraint) == verdicts(constraint) | dict.fromkeys(forbidden, False)
    assert len(forbidden) == constraint.satisfied(structure)
    if forbidden:
        margins = {pair: float(constraint.margin(PAIRS.psi([pair]).dense()[0])) for pair in structure}
        assert margins[forbidden[0]] == min(margins.values())


def test_one_number_is_moved_where_that_is_enough():
    both = RectifierNetwork([[0.0, 1.0, 1.0, 0.0, 1.0, 1.0]], [0.0])  # only Person, or NoRel
    found = repair(LearnedConstraint(both, PAIRS.space, PAIRS), allow=[("Firm", "Kill")])
    assert found.how == "the exact edit `allow` of one combination"
    weak = LearnedConstraint(RectifierNetwork([[0.0, 1.0, 2.0, 0.0, 1.0, 0.0]], [-1.5]), PAIRS.space, PAIRS)
    assert not weak.satisfied([("Firm", "Kill")])
    found = repair(weak, allow=[("Firm", "Kill")])
    assert found.how == "one weight of one unit, by -0.5"
    assert found.constraint.network.K == 1


def test_the_structure_is_kept_and_later_repairs_may_not_break_it(tmp_path):
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 6)), [0.0]), PAIRS.space, PAIRS)
    fixed = repair(constraint, allow=[("Person", "Kill")]).constraint
    assert fixed.provenance["kept_examples"] == [
        {"valid": True, "parts": [{"source": "Person", "relation": "Kill"}]}
    ]
    save(fixed, tmp_path / "fixed.json")
    fixed = load(tmp_path / "fixed.json")
    with pytest.raises(LconsError, match="every part of the structure is part of a valid example"):
        repair(fixed, forbid=[("Person", "Kill")])
    strict = repair(fixed, forbid=[("Person", "Kill"), ("Place", "Kill")])
    assert strict.forbidden == ({"source": "Place", "relation": "Kill"},)
    with pytest.raises(LconsError, match="would break an earlier example, invalid: source P"):
        repair(strict.constraint, allow=[("Place", "Kill")])
    broken = broken_examples(fixed.forbid(source="Person", relation="Kill"))
    assert [str(one) for one in broken] == ["valid: source Person, relation Kill"]


def test_a_constraint_that_was_learned_is_repaired_and_keeps_the_counts_of_its_examples():
    pairs = [[("Person", "NoRel"), ("Place", "NoRel"), ("Person", "Kill")]]
    learned = learn_constraints(pairs, "pairs", hidden=1, epochs=200)
    found = repair(learned, allow=[("Place", "Kill")]).constraint
    assert found.satisfied([("Place", "Kill")])
    assert found.provenance["examples"] == learned.provenance["examples"] == {"positives": 3, "negatives": 1}
    assert [one.parts for one in kept_examples(found)] == [({"value 1": "Place", "value 2": "Kill"},)]
    assert kept_examples(learned) == broken_examples(found) == []


def test_sequences_and_binary_blocks_are_repaired():
    labels = NgramLabels(("O", "B", "I"), n=2, pad=True)
    constraint = LearnedConstraint(
        RectifierNetwork(np.zeros((1, labels.space.d)), [0.0]), labels.space, labels
    )
    found = repair(constraint, forbid=["O", "I"])
    assert not found.constraint.satisfied(["O", "I"])
    space = FeatureSpace([binary("bit", "abc")])
    bits = LearnedConstraint(RectifierNetwork([[2.0, 2.0, 0.0]], [-2.0]), space)
    again = repair(bits, allow={"bit": {"a": True, "b": True, "c": False}})
    assert (len(again.allowed), again.compared) == (1, 8)
    assert again.constraint.accepts([1, 1, 0])
    assert not again.constraint.accepts([1, 1, 1])


@settings(max_examples=25)
@given(
    pairs_constraints(),
    st.tuples(*(st.lists(st.sampled_from(v), min_size=1, unique=True) for v in PAIRS.values)),
)
def test_allow_adds_exactly_the_box(constraint, box):
    edited = allow(constraint, source=box[0], relation=box[1])
    assert verdicts(edited) == verdicts(constraint) | dict.fromkeys(product(*box), True)
    check_theorem1(edited.network)


def bits(columns, W, b):
    space = FeatureSpace([binary("x", [f"x{j}" for j in range(columns)])])
    return LearnedConstraint(RectifierNetwork(W, b), space)


def only(columns, *ones):
    return {"x": {f"x{j}": j in ones for j in range(columns)}}


def test_an_edit_that_float64_cannot_represent_is_refused():
    W = np.full((1, 22), -50.0)
    W[0, :3] = 0.8, 1.9, 61.7
    constraint = bits(22, W, [-1.7])
    with pytest.raises(LconsError, match="float64 cannot represent the weights"):
        repair(constraint, allow=only(22, 2))
    # The same weights as multiples of 2^-20 are edited exactly.
    rounded = bits(22, round_dyadic(W), round_dyadic([-1.7]))
    found = repair(rounded, allow=only(22, 2))
    assert str(found).splitlines()[1] == "nothing else changed, by construction"
    psi = np.zeros((3, 22))
    psi[0, 2], psi[1, :2], psi[2, [0, 2]] = 1, 1, 1
    assert found.constraint.accepts(psi).tolist() == [True, True, False]
    assert rounded.accepts(psi).tolist() == [False, True, False]


def test_weights_that_are_no_dyadic_numbers_are_rounded_only_if_no_verdict_changes():
    W = [[0.8, 1.9, 61.7, -50.0]]
    constraint = bits(4, W, [-1.7])
    found = repair(constraint, allow=only(4, 2))
    assert found.allowed == ({"x": ["x2"]},)
    assert found.compared == 16
    # 0.1 + 0.2 + 0.7 is a little above 1 as a rational, and exactly 1 as multiples of 2^-20.
    close = bits(4, [[0.1, 0.2, 0.7, 40.0]], [2.0**-53])
    assert not close.accepts([1, 1, 1, 0])
    with pytest.raises(LconsError, match="float64 cannot represent"):
        allow(close, only(4, 3))


@pytest.mark.parametrize("columns", [23, 40])
def test_edits_of_large_domains_change_nothing_else_or_are_refused(columns):
    """One-decimal weights, which sums of floats round: old verdicts are computed as rationals."""
    rng = np.random.default_rng(columns)
    refused = 0
    for _ in range(30):
        W, b = np.round(rng.normal(0, 3, (2, columns)), 1), np.round(rng.normal(-1, 2, 2), 1)
        old, ones = bits(columns, W, b), np.flatnonzero(rng.random(columns) < 0.2).tolist()
        psi = (rng.random((40, columns)) < 0.2) * 1.0
        psi[:20, ones], psi[0] = 1.0, np.isin(np.arange(columns), ones)
        before = np.array([old.network.rational_margin(point) >= 0 for point in psi])
        # A combination, and a box without conditions on zeros, which needs no sums.
        for box in (only(columns, *ones), {"x": {f"x{j}": True for j in ones}}):
            inside = np.all([psi[:, int(name[1:])] == one for name, one in box["x"].items()], axis=0)
            for edit, after in ((allow, before | inside), (LearnedConstraint.forbid, before & ~inside)):
                try:
                    new = edit(old, box)
                except LconsError:
                    refused += 1
                else:
                    assert [new.network.rational_margin(point) >= 0 for point in psi] == after.tolist()
    assert 30 <= refused <= 40


def test_an_edit_is_recorded_and_a_guarantee_that_no_longer_holds_is_dropped():
    weak = RectifierNetwork([[0.0, 1.0, 2.0, 0.0, 1.0, 0.0]], [-1.5])
    constraint = LearnedConstraint(weak, PAIRS.space, PAIRS, {"calibration": {"alpha": 0.1}})
    allowed = repair(constraint, allow=[("Firm", "Kill")]).constraint
    assert allowed.provenance["edits"] == [{"allow": {"source": ["Firm"], "relation": ["Kill"]}}]
    assert "calibration" in allowed.provenance
    assert "calibration" not in repair(allowed, forbid=[("Person", "Kill")]).constraint.provenance


@pytest.mark.parametrize(
    "examples", [7, [7], [{"valid": 1, "parts": []}], [{"valid": True, "parts": [{"source": "Person"}]}]]
)
def test_examples_of_another_kind_in_a_file_are_refused(examples):
    network = RectifierNetwork(np.zeros((1, 6)), [0.0])
    constraint = LearnedConstraint(network, PAIRS.space, PAIRS, {"kept_examples": examples})
    with pytest.raises(InvalidInput):
        repair(constraint, allow=[("Person", "Kill")])
