"""The integer program returns the same as exhaustive enumeration, in every form, with either solver."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lcons_decode.ilp._forms import encode
from lcons_decode.ilp._grounded import Affine, Bounds

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, LconsError, MissingExtra, TooLarge, Unsupported
from lcons_core._instance import Instance
from lcons_core._network import RectifierNetwork
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.testing import conjunctions, networks
from lcons_decode import ChainScores, Hard, Soft, Status, Violation, forbidden_ngrams
from lcons_decode.ilp import (
    Program,
    Row,
    Sense,
    Type,
    Variable,
    chain_program,
    decode_ilp,
    graph_program,
    ground_chain,
    ground_columns,
    ground_tuples,
)
from lcons_decode.ilp import _backend as backend
from lcons_decode.ilp import _check as check
from lcons_decode.ilp import solve as solve_program

FORMS = (None, "rows", "lifted", "cuts")
SOLVERS = ["cbc", "highs"]

sixteenths = st.integers(-32, 32).map(lambda n: n / 16)
scores_or_forbidden = st.one_of(sixteenths, sixteenths, sixteenths, st.just(-math.inf))


@st.composite
def chains(draw, max_T=4, max_L=3):
    T, L = draw(st.integers(0, max_T)), draw(st.integers(1, max_L))

    def array(*shape):
        size = math.prod(shape)
        values = draw(st.lists(scores_or_forbidden, min_size=size, max_size=size))
        return np.array(values, dtype=float).reshape(shape)

    arrays = [array(T, L), array(L, L), array(L), array(L)]
    return ChainScores(*arrays, labels=["A", "B", "C"][:L])


@st.composite
def learned(draw, feature):
    d = feature.space.d
    shapes = st.one_of(networks(max_K=3, d=d), conjunctions(2, 2, d=d))
    return LearnedConstraint(draw(shapes), feature.space, feature)


@st.composite
def sequence_constraints(draw, labels):
    n, pad = draw(st.integers(1, 3)), draw(st.booleans())
    kinds = [
        NgramLabels(labels, max(n, 1 + pad), pad),
        NgramContext(labels, ("DT",), min(max(n, 1 + pad), 2), pad=pad),
        Existence(labels, 1 if len(labels) == 3 else min(n, 2)),
        Existence(labels, n if len(labels) < 3 else 2),
        Counts(labels, high=8),
    ]
    return draw(learned(draw(st.sampled_from(kinds))))


@st.composite
def chain_cases(draw):
    scores = draw(chains())
    constraints = draw(st.lists(sequence_constraints(scores.labels), min_size=1, max_size=2))
    x = {"pos": draw(st.lists(st.sampled_from(["DT", "NN"]), min_size=len(scores), max_size=len(scores)))}
    return scores, constraints, x


def brute(candidates, score):
    """(best score, all that have it); () if none has a finite score."""
    scored = [(score(y), y) for y in candidates]
    best = max((value for value, _ in scored), default=-math.inf)
    return best, [y for value, y in scored if value == best and best > -math.inf]


def hinge(constraint, structure):
    margins = [constraint.network.rational_margin(psi) for psi in constraint.feature.psi(structure).dense()]
    return sum(float(max(0, -margin)) for margin in margins)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=50)
@given(case=chain_cases())
def test_every_form_finds_the_best_labelling_that_the_networks_accept(form, case):
    scores, constraints, x = case

    def score(y):
        satisfied = all(c.satisfied(Instance(x, y)) for c in constraints)
        return scores.score(y) if satisfied else -math.inf

    best, labellings = brute(product(scores.labels, repeat=len(scores)), score)
    found = decode_ilp(scores, constraints, x, form=form)
    if not labellings:
        assert found.status is Status.INFEASIBLE
        assert found.score == -math.inf
        return
    assert found.status is Status.OPTIMAL
    assert found.score == best == scores.score(found.y)
    assert found.y in labellings
    assert not found.violations


@settings(max_examples=30)
@given(case=chain_cases())
def test_the_two_solvers_agree(case):
    scores, constraints, x = case
    cbc, highs = (decode_ilp(scores, constraints, x, solver=solver) for solver in ("cbc", "highs"))
    assert (cbc.status, cbc.score) == (highs.status, highs.score)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(case=chain_cases(), weight=st.integers(0, 32).map(lambda n: n / 16))
def test_hinges_cost_their_weight_times_the_negative_margin(form, case, weight):
    scores, (first, *others), x = case

    def score(y):
        instance = Instance(x, y)
        satisfied = all(c.satisfied(instance) for c in others)
        return scores.score(y) - weight * hinge(first, instance) if satisfied else -math.inf

    best, labellings = brute(product(scores.labels, repeat=len(scores)), score)
    found = decode_ilp(scores, [Soft(first, weight, "soft", "hinge"), *others], x, form=form)
    assert found.score == best
    assert decode_ilp(scores, [Soft(first, weight, cost="hinge"), *others], x, form=form).score == best
    if labellings:
        assert found.y in labellings
        broken = first.violations(Instance(x, found.y))
        assert len(found.violations) == len(broken)
        assert found.status is Status.OPTIMAL


@st.composite
def graph_cases(draw):
    entities, relations = ("Person", "Place", "None")[: draw(st.integers(1, 3))], ("NoRel", "Kill")
    score = st.integers(-32, 32).map(lambda n: n / 16)
    decisions = {("entity", i): {label: draw(score) for label in entities} for i in range(2)}
    decisions |= {("relation", i, 1 - i): {label: draw(score) for label in relations} for i in range(2)}
    factors = {}
    if draw(st.booleans()):
        pairs = product(relations, relations)
        factors = {(("relation", 0, 1), ("relation", 1, 0)): {pair: draw(score) for pair in pairs}}
    source = Tuples(("source", "relation"), (entities, relations))
    both = Tuples(("forward", "backward"), (relations, relations))
    return decisions, factors, draw(learned(source)), draw(learned(both))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(case=graph_cases(), weight=st.one_of(st.none(), st.integers(0, 32).map(lambda n: n / 16)))
def test_graphs_are_solved_as_enumeration_solves_them(form, case, weight):
    decisions, factors, source, both = case
    program = graph_program(decisions, factors)
    source_parts = [(("entity", i), ("relation", i, 1 - i)) for i in range(2)]
    both_parts = [(("relation", 0, 1), ("relation", 1, 0))]
    soft = source if weight is None else Soft(source, weight, cost="hinge")

    def score(labels):
        chosen = dict(zip(decisions, labels, strict=True))
        total = sum(decisions[d][label] for d, label in chosen.items())
        total += sum(f.get((chosen[a], chosen[b]), 0.0) for (a, b), f in factors.items())
        tuples = Instance({}, [tuple(chosen[d] for d in part) for part in source_parts])
        if not both.satisfied(Instance({}, [tuple(chosen[d] for d in both_parts[0])])):
            return -math.inf
        if weight is None:
            return total if source.satisfied(tuples) else -math.inf
        return total - weight * hinge(source, tuples)

    best, labellings = brute(product(*decisions.values()), score)
    constraints = [
        ground_tuples(program, soft, source_parts, name="source"),
        ground_tuples(program, both, both_parts, name="both"),
    ]
    found = solve_program(program, constraints, form=form)
    assert found.score == best
    if labellings:
        assert found.status is Status.OPTIMAL
        assert tuple(found.labels[d] for d in decisions) in labellings
    else:
        assert found.status is Status.INFEASIBLE


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=15)
@given(data=st.data())
def test_fixing_psi_is_feasible_exactly_when_the_network_accepts(form, solver, data):
    network = data.draw(st.one_of(networks(max_K=4, max_d=5), conjunctions(2, 2, 5)))
    for _ in range(3):
        psi = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=network.d, max_size=network.d))
        fixed = Program({j: Variable(j, 0.0, value, value) for j, value in enumerate(psi)})
        found = solve_program(fixed, [ground_columns(network, range(network.d))], form=form, solver=solver)
        assert (found.status is Status.OPTIMAL) == network.accepts(psi)


def test_a_solution_that_the_network_rejects_is_cut_off_and_counted(monkeypatch):
    scores = ChainScores([[3.0, 2.0, 1.0], [2.0, 0.0, 1.0]], labels=["A", "B", "C"])
    rejected = []

    def strict(grounded, psi):
        """Rejects the first two answers, as if they were within the solver's tolerance only."""
        if len(rejected) < 2:
            rejected.append(psi.copy())
            return np.zeros(len(psi), dtype=bool)
        return grounded.network.accepts(psi)

    monkeypatch.setattr(check, "verdicts", strict)
    anything = forbidden_ngrams(["A", "B", "C"], [("C", "C")])
    found = decode_ilp(scores, [anything], form="lifted")
    assert found.stats["no_goods"] == 2
    assert found.stats["rounds"] == 3
    assert found.score == 4.0
    assert found.status is Status.OPTIMAL
    assert found.y in {("A", "C"), ("B", "A")}


def test_no_goods_exhaust_a_program_of_free_binaries(monkeypatch):
    monkeypatch.setattr(check, "verdicts", lambda grounded, psi: np.zeros(len(psi), dtype=bool))
    program = Program({name: Variable(name, 1.0) for name in "ab"})
    network = ground_columns(RectifierNetwork([[0.0, 0.0]], [0.0]), ["a", "b"])
    found = solve_program(program, [network], explain=False)
    assert found.status is Status.INFEASIBLE
    assert found.stats["no_goods"] == 4


def test_infeasible_names_the_constraints_that_clash():
    labels = ["A", "B"]
    scores = ChainScores(np.zeros((2, 2)), labels=labels)
    uses = [
        Hard(forbidden_ngrams(labels, [("A",)]), "no A"),
        Hard(forbidden_ngrams(labels, [("A", "A")]), "no A A"),
        Hard(forbidden_ngrams(labels, [("B", "B")]), "no B B"),
        Hinge(forbidden_ngrams(labels, [("B",)]), 1.0, "rather no B"),
    ]
    found = decode_ilp(scores, uses)
    assert found.status is Status.INFEASIBLE
    assert sorted(found.stats["clash"]) == ["no A", "no B B"]


def test_infeasible_names_row_groups_and_the_program_itself():
    program = graph_program({"a": {"X": 1.0, "Y": 0.0}})
    rows = [
        Row("x", ((("a", "X"), 1.0),), Sense.AT_LEAST, 1.0, "must be X"),
        Row("y", ((("a", "Y"), 1.0),), Sense.AT_LEAST, 1.0, "must be Y"),
    ]
    assert sorted(solve_program(program.extended(rows=rows)).stats["clash"]) == ["must be X", "must be Y"]
    nothing = graph_program({"a": {"X": -math.inf}})
    assert solve_program(nothing).stats["clash"] == ()


@pytest.mark.parametrize("solver", SOLVERS)
def test_empty_sequences_and_single_labels(solver):
    empty = ChainScores(np.zeros((0, 2)), labels=["A", "B"])
    found = decode_ilp(empty, [forbidden_ngrams(["A", "B"], [("A", "B")])], solver=solver)
    assert (found.y, found.score, found.status) == ((), 0.0, Status.OPTIMAL)
    needs_a = LearnedConstraint(
        RectifierNetwork([[-2.0, 0.0]], [2.0]), Existence(("A", "B")).space, Existence(("A", "B"))
    )
    for form in FORMS:
        assert decode_ilp(empty, [needs_a], solver=solver, form=form).status is Status.INFEASIBLE
    one = ChainScores([[1.0], [2.0]], labels=["A"])
    assert decode_ilp(one, solver=solver).y == ("A", "A")
    assert decode_ilp(one, [forbidden_ngrams(["A"], [("A", "A")])], solver=solver).stats["clash"] == (
        "constraint 1",
    )


def test_minus_infinity_forbids_and_everything_forbidden_is_infeasible():
    scores = ChainScores([[5.0, 0.0], [5.0, 0.0]], [[-math.inf, 0.0], [0.0, 0.0]], labels=["A", "B"])
    assert decode_ilp(scores).score == 5.0
    nothing = ChainScores(np.zeros((2, 2)), np.full((2, 2), -math.inf))
    assert decode_ilp(nothing).status is Status.INFEASIBLE
    assert decode_ilp(nothing).stats["clash"] == ()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_ends_with_that_status(solver):
    rng = np.random.default_rng(0)
    variables = {j: Variable(j, float(rng.integers(1, 9))) for j in range(60)}
    network = RectifierNetwork(rng.integers(-16, 17, (8, 60)) / 16, np.full(8, -1.0))
    constraint = ground_columns(network, range(60))
    assert solve_program(Program(variables), [constraint], solver=solver, time_limit=0.0).status is (
        Status.TIME_LIMIT
    )
    stopped = solve_program(Program(variables), [constraint], solver=solver, time_limit=0.02)
    assert stopped.status in (Status.TIME_LIMIT, Status.OPTIMAL)


def test_violated_hinges_say_where():
    scores = ChainScores([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0]], labels=["A", "B"])
    found = decode_ilp(scores, [Hinge(forbidden_ngrams(["A", "B"], [("B", "B")]), 0.5, "no B B")])
    assert found.y == ("B", "B", "A")
    assert found.violations == (Violation("no B B", 1),)
    assert found.score == 27.0 - 0.5


def test_labels_that_the_scores_lack_are_never_chosen():
    scores = ChainScores([[1.0, 0.0]] * 2, labels=["A", "B"])
    found = decode_ilp(scores, [forbidden_ngrams(["A", "B", "C"], [("A", "A"), ("C", "C")])])
    assert found.score == 1.0
    with pytest.raises(InvalidInput, match=r"but the feature of .* does not"):
        decode_ilp(scores, [forbidden_ngrams(["A"], [("A", "A")])])


def test_what_cannot_be_grounded_is_refused_by_name():
    labels = ("A", "B")
    program = chain_program(ChainScores(np.zeros((3, 2)), labels=labels))
    spans = Counts(labels, spans=True)
    everything = RectifierNetwork(np.zeros((1, 2)), [0.0])
    with pytest.raises(Unsupported, match="span counts"):
        ground_chain(program, LearnedConstraint(everything, spans.space, spans))
    pair = Tuples(("a",), (labels,))
    with pytest.raises(Unsupported, match="tuples"):
        ground_chain(program, LearnedConstraint(everything, pair.space, pair))
    with pytest.raises(Unsupported, match="Hinge"):
        ground_chain(program, Soft(LearnedConstraint(everything, pair.space, pair), 1.0))


def test_sizes_are_stated_and_refused_past_the_limit():
    labels = ("A", "B", "C")
    scores = ChainScores(np.zeros((9, 3)), labels=labels)
    exists = Existence(labels, 3)
    everything = LearnedConstraint(RectifierNetwork(np.ones((1, 27)), [-99.0]), exists.space, exists)
    with pytest.raises(TooLarge, match=r"189 occurrences .* limit of 500"):
        decode_ilp(scores, [everything], max_terms=500)
    wide = ground_columns(RectifierNetwork(np.ones((16, 40)), np.zeros(16)), range(40))
    with pytest.raises(TooLarge, match=r"65,535 rows.*lifted"):
        solve_program(Program({j: Variable(j) for j in range(40)}), [wide], form="rows")


def test_the_solver_is_checked_before_it_is_used(monkeypatch):
    scores = ChainScores([[1.0]])
    with pytest.raises(InvalidInput, match="cbc, highs"):
        decode_ilp(scores, solver="gurobi")
    with pytest.raises(InvalidInput, match="auto, rows, simplified, lifted, cuts"):
        decode_ilp(scores, form="dense")
    monkeypatch.setattr(backend, "_version", lambda name: "1.14.0")
    with pytest.raises(MissingExtra, match=r"1\.15\.1.*install -U highspy"):
        decode_ilp(scores, solver="highs")

    def missing(name):
        raise backend.PackageNotFoundError(name)  # type: ignore[attr-defined]

    monkeypatch.setattr(backend, "_version", missing)
    with pytest.raises(MissingExtra, match="install highspy"):
        decode_ilp(scores, solver="highs")


def test_an_answer_that_breaks_rows_is_asked_for_again_and_then_refused(monkeypatch):
    program = graph_program({"d": {"X": 1.0, "Y": 0.0}})
    solved, asked = backend.MipModel._solved, []

    def wrong(model, seconds, careful):
        asked.append(careful)
        answer = solved(model, seconds, careful)
        return answer if careful else replace(answer, values=dict.fromkeys(answer.values, 1.0))

    monkeypatch.setattr(backend.MipModel, "_solved", wrong)
    assert solve_program(program, form="lifted").labels == {"d": "X"}
    assert asked == [False, True]
    monkeypatch.setattr(
        backend.MipModel, "_solved", lambda model, seconds, careful: wrong(model, seconds, False)
    )
    with pytest.raises(LconsError, match="other solver"):
        solve_program(program, form="lifted")


def test_an_infeasible_graph_that_cbc_preprocessing_called_optimal():
    labels = ("NoRel", "Kill")
    pair = Tuples(("forward", "backward"), (labels, labels))
    rejects_all = RectifierNetwork(
        [[4, -1, 1.625, -1.0625], [4, -1, 1.625, -1.0625], [-2.9375, 2.1875, -3.5625, -3.875]],
        [-1.0625, -4.625, 4.0],
    )
    flat = dict.fromkeys(labels, 0.0)
    factor = {("NoRel", "NoRel"): -1.625, ("NoRel", "Kill"): 2.0}
    program = graph_program({"f": flat, "b": flat}, {("f", "b"): factor}).without_objective()
    constraint = ground_tuples(program, LearnedConstraint(rejects_all, pair.space, pair), [("f", "b")])
    for form in FORMS:
        found = solve_program(program, [constraint], form=form)
        assert found.status is Status.INFEASIBLE
        assert found.stats["no_goods"] == 0 or form == "cuts"


def test_auto_states_which_forms_it_chose():
    labels = ["A", "B", "C"]
    scores = ChainScores(np.eye(3), np.eye(3), labels=labels)
    pairs = forbidden_ngrams(labels, [("A", "B")])
    triples = forbidden_ngrams(labels, [("A", "A", "C")])
    existence = LearnedConstraint(
        RectifierNetwork(-np.ones((4, 3)), np.full(4, 2.0)), Existence(labels, 1).space, Existence(labels, 1)
    )
    found = decode_ilp(scores, [Hard(pairs, "pairs"), Hard(triples, "triples"), Hard(existence, "exist")])
    assert found.stats["form"] == "auto"
    assert found.stats["forms"] == {"table": 3, "lifted": 1}
    hinged = decode_ilp(scores, [Hinge(pairs, 1.0, "pairs")])
    assert hinged.stats["forms"] == {"rows": 2}
    one = decode_ilp(scores, [pairs], form="rows")
    assert one.stats["forms"] == {"rows": 2}


def test_one_unit_is_one_row_where_no_pair_variables_make_a_table_tighter():
    program = graph_program({"a": {"X": 1.0, "Y": 0.0}, "b": {"X": 1.0, "Y": 0.0}})
    pairs = Tuples(("first", "second"), (("X", "Y"), ("X", "Y")))
    for K, form in ((1, "rows"), (2, "table")):
        network = RectifierNetwork([[2.0, 0.0, 2.0, 0.0]] * K, [-2.0] * K)
        grounded = ground_tuples(program, LearnedConstraint(network, pairs.space, pairs), [("a", "b")])
        assert encode(program, [grounded]).forms == {form: 1}


def test_auto_needs_no_solver_if_the_best_of_every_part_is_accepted():
    program = graph_program({"a": {"X": 1.0, "Y": 0.0}, "b": {"X": 0.0, "Y": 2.0}})
    pairs = Tuples(("first", "second"), (("X", "Y"), ("X", "Y")))
    not_both = LearnedConstraint(RectifierNetwork([[2.0, 0.0, 2.0, 0.0]], [-2.0]), pairs.space, pairs)
    found = solve_program(program, [ground_tuples(program, not_both, [("a", "b")])])
    assert (found.stats["rounds"], found.score, found.status) == (0, 3.0, Status.OPTIMAL)
    assert found.labels == {"a": "X", "b": "Y"}


@settings(max_examples=200)
@given(data=st.data())
def test_bounds_decide_signs_exactly(data):
    """Against enumeration of one decision and of two free variables, in rationals."""
    third = st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.2, -0.3, 1 / 3])
    program = Program(
        {"free": Variable("free"), "count": Variable("count", 0.0, -1.0, 2.0, Type.INTEGER)}
        | dict(graph_program({"d": {"X": 0.0, "Y": 0.0, "Z": -math.inf}}).variables),
        {"d": {label: ("d", label) for label in "XYZ"}},
    )
    names = ("free", "count", ("d", "X"), ("d", "Z"))
    values = Affine(
        names,
        np.array([data.draw(st.lists(third, min_size=4, max_size=4)) for _ in range(2)]),
        np.array(data.draw(st.lists(third, min_size=2, max_size=2))),
    )
    scale = data.draw(st.sampled_from([1.0, -1.0]))
    found = Bounds(program, ()).at_most_zero(values, scale)
    for m in range(2):
        c = [Fraction(value) for value in values.coefficients[m]]
        reached = [
            Fraction(values.constant[m]) + c[0] * free + c[1] * count + c[2] * x
            for free in (0, 1)
            for count in (-1, 2)
            for x in (0, 1)
        ]
        assert found[m] == (max(reached) <= 0 if scale > 0 else min(reached) >= 0)
