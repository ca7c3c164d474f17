"""Unions: every form gives the verdict of brute force in rationals, at the boundary too."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from lcons_core import (
    Conjunction,
    DamagedFile,
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    PointSet,
    RectifierNetwork,
    SparsePsi,
    TooLarge,
    Union,
    Unsupported,
    binary,
    compare,
    compile_masks,
    count,
    estimate_form,
    explain,
    lift,
    lift_union,
    load,
    most_violated,
    named_rows,
    real,
    save,
    simplify,
    to_inequalities,
    verify,
    why,
)
from lcons_core._arithmetic import rounding_bound
from lcons_core._constraint import loads
from lcons_core._document import dumps
from lcons_core._plain import digest, parse, pretty
from lcons_core._union import greatest_activations
from lcons_core.features import NgramLabels
from lcons_core.reason import Box, completions, enumerate_verdicts, exhausts
from lcons_core.testing import networks, spaces, unions

ORDER = FeatureSpace([count("order", ["boxes"], high=9)])
NONE = RectifierNetwork([[2.0]], [0.0])
FOUR = RectifierNetwork([[-1.0]], [5.0])
NONE_OR_FOUR = Union([NONE, FOUR])


def rational(weights, psi, bias):
    return sum((Fraction(w) * Fraction(x) for w, x in zip(weights, psi, strict=True)), Fraction(bias))


def truth(union, psi):
    """The definition, computed here from the weights alone."""
    return any(
        all(
            sum(max(0, rational(w, psi, b)) for w, b in zip(part.W.tolist(), part.b.tolist(), strict=True))
            <= 1
            for part in member.parts
        )
        for member in union.members
    )


def some_s_fits(lifted, psi, off):
    """Whether some s >= 0 satisfies the rows: the least s that the rows with a positive coefficient allow."""
    least = [Fraction(0)] * lifted.K
    for a, a_s, a_off, rhs in zip(lifted.A_psi, lifted.A_s, lifted.A_off, lifted.rhs, strict=True):
        if (a_s > 0).any():
            (k,) = np.flatnonzero(a_s)
            assert a_s[k] == 1.0
            least[k] = max(least[k], -rational([*a, *a_off], [*psi, *off], -rhs))
    return all(
        rational([*a, *a_off, *a_s], [*psi, *off, *least], -rhs) >= 0
        for a, a_s, a_off, rhs in zip(lifted.A_psi, lifted.A_s, lifted.A_off, lifted.rhs, strict=True)
    )


def lifted_accepts(lifted, psi):
    return any(some_s_fits(lifted, psi, off) for off in product([0.0, 1.0], repeat=lifted.M))


@st.composite
def on_spaces(draw, max_members=3):
    """(union, space, psi of all points); in every second one, a point is exactly on the boundary."""
    space = draw(spaces(max_blocks=2, max_values=3))
    union = draw(unions(max_members=max_members, max_K=2, d=space.d))
    psi = space.vectors(np.concatenate(list(space.points())))
    if draw(st.booleans()):
        point = psi[draw(st.integers(0, len(psi) - 1))]
        part = union.members[0].parts[0]
        # One active unit with the activation 1 there, and the other members reject the point.
        W, b = part.W[:1], np.array([1.0 - part.W[0] @ point])
        rejecting = RectifierNetwork(np.zeros((1, space.d)), [2.0])
        union = Union([RectifierNetwork(W, b), rejecting])
        assert union.rational_margin(point) == 0
    return union, space, psi


@settings(max_examples=30)
@given(on_spaces(), st.integers(1, 7))
def test_every_form_gives_the_verdict_of_brute_force(case, chunk):
    union, space, psi = case
    assert isinstance(union, PointSet)
    expected = np.array([truth(union, point) for point in psi])
    points = np.concatenate(list(space.points()))
    scanned = [accepted[0] for _, accepted in enumerate_verdicts([union], space, chunk)]
    systems, lifted = union.disjunction(), lift_union(union, space)  # type: ignore[attr-defined]
    constraint = LearnedConstraint(union, space)
    forms = {
        "accepts": union.accepts(psi),
        "sparse": union.accepts(SparsePsi.from_dense(psi)),
        "one by one": [union.accepts(point) for point in psi],
        "margin": union.margin(psi) >= 0,
        "rational margin": [union.rational_margin(point) >= 0 for point in psi],  # type: ignore[attr-defined]
        "margins": union.margins(space, points) >= 0,
        "verdicts": union.verdicts(space, points),
        "scan": np.concatenate(scanned),
        "disjunction": np.any([rows.accepts(psi) for rows in systems], axis=0),
        "lifted": [lifted_accepts(lifted, point) for point in psi],
        "file": loads(dumps(constraint)).accepts(psi),
    }
    for name, found in forms.items():
        assert np.array_equal(found, expected), name
    assert union.rational_margin(psi[0]) == max(member.rational_margin(psi[0]) for member in union.members)  # type: ignore[attr-defined]


tenths = st.integers(-30, 30).map(lambda tenth: tenth / 10)


@settings(max_examples=25)
@given(st.data())
def test_the_lifted_form_is_exact_for_weights_that_float64_cannot_add(data):
    d, K = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    low = np.array(data.draw(st.lists(tenths, min_size=d, max_size=d)))
    high = low + np.array(data.draw(st.lists(tenths.map(abs), min_size=d, max_size=d)))

    def network():
        W = np.array(data.draw(st.lists(tenths, min_size=K * d, max_size=K * d))).reshape(K, d)
        return RectifierNetwork(W, data.draw(st.lists(tenths, min_size=K, max_size=K)))

    union = Union([network(), network()])
    lifted = lift_union(union, bounds=(low, high))
    ends = np.array(list(product(*zip(low, high, strict=True))))
    inside = np.array(data.draw(st.lists(st.floats(0, 1), min_size=d, max_size=d)))
    for psi in [*ends, np.clip(low + inside * (high - low), low, high)]:
        assert lifted_accepts(lifted, psi) == truth(union, psi) == union.accepts(psi)


@settings(max_examples=25)
@given(unions(max_members=3, max_K=2, max_d=3))
def test_a_solver_finds_s_and_off_iff_the_union_accepts(union):
    lifted = lift_union(union, FeatureSpace([binary("bit", [str(j) for j in range(union.d)])]))
    K, M = lifted.K, lifted.M
    for psi in product([0.0, 1.0], repeat=union.d):
        rows = LinearConstraint(
            np.hstack([lifted.A_s, lifted.A_off]), lifted.rhs - lifted.A_psi @ psi, np.inf
        )
        found = milp(
            np.zeros(K + M),
            constraints=rows,
            integrality=[0] * K + [1] * M,
            bounds=Bounds(0, [np.inf] * K + [1] * M),
        )
        assert found.status in (0, 2)
        assert (found.status == 0) == union.accepts(np.array(psi))


def test_switching_all_members_off_is_infeasible():
    lifted = lift_union(NONE_OR_FOUR, ORDER)
    assert lifted.M == 2
    assert not some_s_fits(lifted, [0.0], [1.0, 1.0])


def test_the_bounds_are_those_of_the_space_and_tight():
    lifted = lift_union(NONE_OR_FOUR, ORDER)
    assert lifted.A_off[0, 0] == 18.0  # 2 x at x = 9
    assert lifted.A_off[2, 1] == 5.0  # 5 - x at x = 0
    never = Union([RectifierNetwork([[1.0]], [-20.0]), FOUR])
    assert lift_union(never, ORDER).A_off[0, 0] == 0.0


def test_the_bounds_have_one_rounding_per_product_and_addition():
    # Both units add up to 0 at their highest; of the absolute terms, the first has 3 + 0.3 + 0.25.
    network = RectifierNetwork([[1.0, -1.0], [0.0, 0.25]], [-0.25, -0.075])
    found = greatest_activations(network, bounds=([-3.0, 0.25], [0.5, 0.3]))
    assert found.tolist() == pytest.approx([rounding_bound(3.55, 2 * 2 + 2, None)] * 2, rel=1e-9, abs=0)


def test_the_bounds_are_never_below_the_exact_sum():
    # Some ends are whole, others are not: as a float, the sum of these is too small.
    high = [1.0, 0.1, 0.2, 0.6]
    network = RectifierNetwork(np.ones((1, len(high))), [0.0])
    exact = sum(map(Fraction, high))
    assert sum(high) < exact
    space = FeatureSpace(
        [binary("bit", "x"), *(real(f"x{j}", ["x"], low=0.0, high=end) for j, end in enumerate(high[1:]))]
    )
    for domain in ({"bounds": (np.zeros(len(high)), high)}, {"space": space}):
        assert Fraction(greatest_activations(network, **domain)[0]) >= exact


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "needs the bounds of psi"),
        ({"space": ORDER, "bounds": ([0.0], [9.0])}, "not both"),
        ({"bounds": ([0.0, 0.0], [9.0, 9.0])}, r"shape \(1,\)"),
        ({"bounds": ([3.0], [2.0])}, "low <= high"),
        ({"bounds": ([0.0], [np.inf])}, "finite"),
        ({"space": FeatureSpace([binary("bit", "ab")])}, "the space has 2 columns"),
    ],
)
def test_bounds_are_checked(given, match):
    with pytest.raises(InvalidInput, match=match):
        lift_union(NONE_OR_FOUR, **given)


@pytest.mark.parametrize(
    ("form", "match"),
    [
        (lambda union: union.inequalities(), "no single system of rows"),
        (lambda union: union.cut([1.0]), "no cut"),
        (lambda union: union.parts, "no parts that must all accept"),
        (lambda union: simplify(union, ORDER), "no single system of rows"),
        (to_inequalities, "a union of 2 networks"),
        (lift, "a union of 2 networks"),
        (lambda union: most_violated(union, [1.0]), "a union of 2 networks"),
        (lambda union: named_rows(LearnedConstraint(union, ORDER), "rows"), "no form 'rows'"),
        (lambda union: named_rows(LearnedConstraint(union, ORDER), "simplified"), "no form 'simplified'"),
    ],
)
def test_what_has_no_single_system_of_rows_says_so(form, match):
    with pytest.raises(Unsupported, match=match):
        form(NONE_OR_FOUR)


def test_one_low_above_its_high_is_refused():
    network = RectifierNetwork([[1.0, 1.0]], [0.0])
    with pytest.raises(InvalidInput, match="low <= high"):
        greatest_activations(network, bounds=([0.0, 3.0], [1.0, 2.0]))


def test_a_union_has_the_size_and_the_forms_of_its_members():
    tenth = RectifierNetwork([[0.1], [1e9]], [0.0, 0.0])
    union = Union([NONE, tenth])
    assert (union.d, union.K, union.width, union.cost, Union([NONE]).d) == (1, 3, 3, 3, 1)
    assert (union.rounded, NONE_OR_FOUR.rounded) == (True, False)
    assert [found.tolist() for found in union.directions(4)] == [[[2.0], [2.0]], [[0.1 + 1e9], [0.1]]]
    assert [len(found) for found in union.directions(1)] == [1, 1]
    assert lift_union(union, ORDER).d == 1


def test_members_are_networks_of_one_width():
    with pytest.raises(InvalidInput, match="same number of columns, found \\[1, 2\\]"):
        Union([NONE, RectifierNetwork([[1.0, 1.0]], [0.0])])
    with pytest.raises(InvalidInput, match="no member"):
        Union([])
    with pytest.raises(InvalidInput, match="found str"):
        Union(["network"])  # type: ignore[list-item]
    with pytest.raises(TooLarge, match="at most 1,024 members"):
        Union([NONE] * 1025)
    assert len(Union([NONE] * 1024).members) == len((Union([NONE] * 32) & Union([FOUR] * 32)).members) == 1024
    with pytest.raises(TooLarge, match="of unions of 33 and 33 members has 1,089"):
        Union([NONE] * 33) & Union([FOUR] * 33)
    assert Union([Union([NONE, FOUR]), Conjunction((NONE,))]).members == (NONE, FOUR, NONE)


@settings(max_examples=30)
@given(st.data())
def test_and_distributes_over_or(data):
    d = data.draw(st.integers(1, 3))
    a, b = (data.draw(unions(max_members=2, max_K=2, d=d)) for _ in range(2))
    plain = data.draw(networks(max_K=2, d=d))
    psi = np.array(list(product([0.0, 1.0], repeat=d)))
    for both, left, right in ((a & b, a, b), (a & plain, a, plain), (plain & a, plain, a)):
        assert np.array_equal(both.accepts(psi), left.accepts(psi) & right.accepts(psi))
    for either, left, right in ((a | b, a, b), (a | plain, a, plain), (plain | a, plain, a)):
        assert np.array_equal(either.accepts(psi), left.accepts(psi) | right.accepts(psi))


@settings(max_examples=25)
@given(on_spaces(max_members=2), st.data())
def test_constraints_are_joined_and_edited_exactly(case, data):
    union, space, psi = case
    a = LearnedConstraint(union.members[0], space, None, {"seed": 1})
    b = LearnedConstraint(union.members[1], space, None, {"seed": 2})
    either = a | b
    assert either.network == Union([a.network, b.network])
    assert either.provenance == {"any_of": [{"seed": 1}, {"seed": 2}]}
    before = union.accepts(psi)
    assert np.array_equal(either.accepts(psi), a.accepts(psi) | b.accepts(psi))
    assert np.array_equal((either & a).accepts(psi), a.accepts(psi))
    named = [axis for axis in space.axes if space.block(axis.block).kind in ("one-hot", "binary")]
    axis = data.draw(st.sampled_from(named or [None]))
    if axis is None:
        return
    name = {axis.name: axis.values[-1]}
    if space.block(axis.block).kind == "binary":
        name = {axis.block: {axis.name.removeprefix(f"{axis.block} "): True}}
    inside = Box.of(space, name).contains(space, space.assignments(psi))
    assert np.array_equal(either.forbid(name).accepts(psi), before & ~inside)


def test_constraints_on_different_spaces_are_not_joined():
    other = LearnedConstraint(NONE, FeatureSpace([binary("bit", "a")]))
    with pytest.raises(InvalidInput, match=r"`a \| b` needs constraints on one space"):
        LearnedConstraint(NONE, ORDER) | other
    with pytest.raises(TypeError):
        LearnedConstraint(NONE, ORDER) | NONE


def test_a_union_of_one_is_its_member():
    both = Conjunction((NONE, FOUR))
    assert LearnedConstraint(Union([NONE]), ORDER).network == NONE
    assert LearnedConstraint(Union([both]), ORDER).network == both


@settings(max_examples=25)
@given(st.data())
def test_masks_are_the_or_of_the_members(data):
    feature = NgramLabels(("A", "B"), 2, data.draw(st.booleans()))
    union = data.draw(unions(max_K=2, d=feature.space.d))
    tables = [
        compile_masks(LearnedConstraint(network, feature.space, feature)).masks()
        for network in (union, *union.members)
    ]
    assert np.array_equal(tables[0], np.any(tables[1:], axis=0))


def rewritten(text, change):
    """The text of a file with other content and the right checksum."""
    document = parse(text)
    document.pop("sha256")
    change(document)
    return pretty({**document, "sha256": digest(document)})


def test_files_of_unions_have_a_version_that_0_1_0_refuses_by_name(tmp_path):
    constraint = LearnedConstraint(Union([NONE, Conjunction((FOUR, FOUR))]), ORDER, None, {"seed": 3})
    save(constraint, tmp_path / "union.json")
    assert load(tmp_path / "union.json") == constraint
    assert parse(dumps(constraint))["version"] == 2
    assert parse(dumps(LearnedConstraint(NONE, ORDER)))["version"] == 1


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda document: document.update(version=1), "version is 1, but its network is a union"),
        (lambda document: document["network"]["members"].pop(), "a single member"),
        (
            lambda document: document["network"]["members"].append(3),
            "a member of its network is not an object",
        ),
        (lambda document: document["network"].update(parts=[]), "unknown members parts"),
        (lambda document: document.update(version=3), "reads versions 1 to 2; upgrade"),
    ],
)
def test_damaged_files_of_unions_are_refused(change, match):
    text = dumps(LearnedConstraint(NONE_OR_FOUR, ORDER))
    with pytest.raises(DamagedFile, match=match):
        loads(rewritten(text, change))


def test_a_file_of_version_2_must_hold_a_union():
    with pytest.raises(DamagedFile, match="its version is 2, but its network is not a union"):
        loads(rewritten(dumps(LearnedConstraint(NONE, ORDER)), lambda document: document.update(version=2)))


@settings(max_examples=25)
@given(on_spaces(max_members=2))
def test_verify_checks_members_and_the_lifted_form_of_the_union(case):
    union, space, psi = case
    found = verify(union, space)
    expected = [union.rational_margin(point) for point in psi]
    assert found.ok, found
    assert (found.points, found.members, found.exhausted) == (len(psi), 2, True)
    assert found.accepted == sum(margin >= 0 for margin in expected)
    assert found.boundary == sum(margin == 0 for margin in expected)
    assert found.rows == sum(2**part.K - 1 for member in union.members for part in member.parts)
    assert exhausts(union, space)
    assert found.to_dict()["members"] == 2


def test_verify_prints_the_union_and_reads_points():
    assert str(verify(NONE_OR_FOUR, ORDER)).startswith(
        "verified: union of 2 networks = 2 rows = lifted = cut at 10"
    )
    given = verify(NONE_OR_FOUR, points=[[0.5], [-3.0], [4.0], [100.25]])
    assert given.ok
    assert (given.accepted, given.boundary) == (4, 2)


def test_verify_finds_a_wrong_bound(monkeypatch):
    """A bound that is too small makes the lifted form reject what the union accepts."""
    from lcons_core import _union

    monkeypatch.setattr(_union, "greatest_activations", lambda network, *_, **__: np.ones(network.K))
    found = verify(NONE_OR_FOUR, ORDER)
    assert not found.ok
    assert "the lifted rows" in str(found)


@settings(max_examples=25)
@given(on_spaces(max_members=2))
def test_why_has_a_row_of_every_member_where_a_point_is_forbidden(case):
    union, space, _ = case
    for assignment in np.concatenate(list(space.points()))[:4]:
        point = space.vectors(assignment[None])[0]
        named = space.describe(point)
        reason = why(union, named, space=space)
        assert reason.forbidden == (not truth(union, point))
        assert not reason.partial
        assert reason.member in (1, 2)
        reasons = [reason, *reason.others]
        if reason.forbidden:
            assert sorted(one.member for one in reasons) == [1, 2]
            assert all(one.value < 0 for one in reasons)
        else:
            assert reason.value >= 0
            assert not reason.others


def test_why_in_words():
    reason = why(NONE_OR_FOUR, {"order": {"boxes": 1}}, space=ORDER)
    assert str(reason) == (
        "member 1: order boxes = 1: -2.00 + 1.00 = -1.00 < 0, so it is forbidden there; "
        "member 2: order boxes = 1: 1.00 - 4.00 = -3.00 < 0, so it is forbidden there"
    )
    assert [other["member"] for other in reason.to_dict()["others"]] == [2]
    assert str(why(NONE_OR_FOUR, {"order": {"boxes": 7}}, space=ORDER)).startswith("member 2: ")


@settings(max_examples=25)
@given(on_spaces(max_members=2), st.sampled_from([0, 10**7]))
def test_explained_rules_are_rejected_by_every_member(case, enumeration):
    union, space, psi = case
    found = explain(union, space=space, enumeration=enumeration)
    assignments = space.assignments(psi)
    accepted = union.verdicts(space, assignments)
    covered = np.zeros(len(psi), dtype=bool)
    for rule in found.rules:
        inside = rule.box.contains(space, assignments)
        assert not (inside & accepted).any()
        covered |= inside
        if enumeration == 0:
            assert rule.proof.member == 1
            assert [other.member for other in rule.proof.others] == [2]
            assert all(proof.bound < 0 for proof in (rule.proof, *rule.proof.others))
    if found.complete:
        assert np.array_equal(covered, ~accepted)


def test_a_large_domain_is_explained_with_a_row_of_each_member():
    """At least 2 of A or at least 2 of B, of 14 columns each: at most one of each is rejected."""
    space = FeatureSpace([binary("A", map(str, range(14))), binary("B", map(str, range(14)))])
    W = np.zeros((2, 28))
    W[0, :14] = W[1, 14:] = -1.0
    found = explain(Union([RectifierNetwork(W[:1], [3.0]), RectifierNetwork(W[1:], [3.0])]), space=space)
    assert found.rules
    assert not found.complete
    assert "member 1" in str(found.rules[0].proof)
    assert "member 2" in str(found.rules[0].proof)


def test_comparison_of_unions_by_enumeration_and_in_closed_form():
    same = Union([FOUR, NONE])
    assert compare(NONE_OR_FOUR, same, ORDER).equal
    assert compare(NONE_OR_FOUR, FOUR, ORDER).only_a == 1
    space = FeatureSpace([binary("bit", map(str, range(40)))])
    ones = np.ones((1, 40))
    few, most = RectifierNetwork(ones, [-1.0]), RectifierNetwork(-ones, [38.0])
    fewer = RectifierNetwork(ones, [0.0])
    a = Union([few, most])
    assert (
        compare(a, Union([most, few]), space).how == "both have the same units on this space, in some order"
    )
    closed = compare(a, Union([most, fewer, few]), space)
    assert closed.equal
    assert closed.how == "each member of one is inside a member of the other, row by row"
    assert compare(a, Union([most, fewer]), space).equal is False
    assert compare(a, few, space).equal is False


def test_unions_of_real_numbers():
    """x <= 0 or x >= 4, for real x from -1.1 to 9.3."""
    space = FeatureSpace([real("x", ["x"], low=-1.1, high=9.3)])
    lifted = lift_union(LearnedConstraint(NONE_OR_FOUR, space))
    for x in (-1.1, 0.0, 0.5, 0.50001, 3.9, 4.0, 9.3):
        assert lifted_accepts(lifted, [x]) == truth(NONE_OR_FOUR, [x]) == NONE_OR_FOUR.accepts([x])
    found = verify(NONE_OR_FOUR, space)
    assert found.ok
    assert 0 < found.accepted < found.points
    assert found.proved == "all rows"
    assert why(NONE_OR_FOUR, x=2.0, space=space).forbidden
    assert not why(NONE_OR_FOUR, x=4.0, space=space).forbidden
    assert completions(NONE_OR_FOUR, {}, space=space).allowed
    assert completions(NONE_OR_FOUR, {"x": 2.0}, space=space).forbidden
    for rule in explain(NONE_OR_FOUR, space=space).rules:
        assert [rule.proof.member, rule.proof.others[0].member] == [1, 2]
    assert compare(NONE_OR_FOUR, Union([FOUR, NONE]), space).equal
    assert compare(NONE_OR_FOUR, NONE, space).equal is False
    wider = Union([NONE, RectifierNetwork([[-1.0]], [4.0])])
    assert compare(NONE_OR_FOUR, wider, space).equal is False


def test_the_lifted_table_names_the_binaries():
    table = named_rows(LearnedConstraint(NONE_OR_FOUR, ORDER), "lifted")
    assert len(table) == estimate_form(NONE_OR_FOUR, "lifted").rows == 5
    assert list(table.arrays) == ["A_psi", "A_s", "A_off", "rhs"]
    assert next(iter(table.csv())) == "order=boxes,s=s0,s=s1,off=off0,off=off1,rhs"
    assert "zeros and ones" in table.meaning
