"""The integer program returns the same as exhaustive enumeration, in every form, with either solver."""

import math
from dataclasses import replace

import numpy as np
import pytest
from chain_strategies import enumerated, global_uses, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    Instance,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    MissingExtra,
    RectifierNetwork,
    TooLarge,
    Unsupported,
)
from lcons_core.features import Counts, Existence, Tuples
from lcons_decode import ChainScores, Hard, Soft, Status, Violation, forbidden_ngrams
from lcons_decode.ilp import Program, Row, Sense, Variable, decode_ilp
from lcons_decode.ilp import _ground as ground_module
from lcons_decode.ilp import _solver as solver_module
from lcons_decode.ilp import solve as solve_program
from lcons_decode.ilp._decoders import chain_program
from lcons_decode.ilp._ground import ground_chain, ground_columns, ground_tuples
from lcons_decode.ilp._program import Type, graph_program

FORMS = ("auto", "rows", "lifted", "cuts")
SOLVERS = ["cbc", "highs"]


@st.composite
def chain_cases(draw):
    """(scores, constraints on windows and at most one on the whole, x); soft ones cost the hinge."""
    scores, uses, x = draw(problems(max_T=4, max_L=3, max_n=3, min_uses=0, max_uses=2))
    if not uses or draw(st.booleans()):
        uses.append(draw(global_uses(scores.labels)))
    return scores, [replace(use, cost="hinge") if isinstance(use, Soft) else use for use in uses], x


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=50)
@given(case=chain_cases(), solver=st.sampled_from(SOLVERS))
def test_every_form_finds_the_best_labelling_less_the_hinges(form, solver, case):
    scores, uses, x = case
    found = decode_ilp(scores, uses, x, form=form, solver=solver)
    satisfying = {each.y: each for each in enumerated(scores, uses, x) if not each.violations}
    if not satisfying:
        assert (found.status, found.score) == (Status.INFEASIBLE, -math.inf)
        return
    assert found.status is Status.OPTIMAL
    assert found.score == satisfying[found.y].score == max(each.score for each in satisfying.values())
    softs = [use for use in uses if isinstance(use, Soft)]
    broken = [len(use.constraint.violations(Instance(x, found.y))) for use in softs]
    assert [sum(v.constraint == use.name for v in found.violations) for use in softs] == broken
    assert len(found.violations) == sum(broken)


def test_a_solution_that_the_network_rejects_is_cut_off_and_counted(monkeypatch):
    scores = ChainScores([[3.0, 2.0, 1.0], [2.0, 0.0, 1.0]], labels=["A", "B", "C"])
    rejected, accepts = [], RectifierNetwork.accepts

    def strict(network, psi):
        """Rejects the first two answers, as if they were within the solver's tolerance only."""
        if len(rejected) < 2:
            rejected.append(psi)
            return np.zeros(len(psi), dtype=bool)
        return accepts(network, psi)

    monkeypatch.setattr(RectifierNetwork, "accepts", strict)
    anything = forbidden_ngrams(["A", "B", "C"], [("C", "C")])
    found = decode_ilp(scores, [anything], form="lifted")
    assert (found.stats["no_goods"], found.stats["rounds"]) == (2, 3)
    assert (found.score, found.status) == (4.0, Status.OPTIMAL)
    assert found.y in {("A", "C"), ("B", "A")}


def test_no_goods_exhaust_a_program_of_free_binaries(monkeypatch):
    monkeypatch.setattr(RectifierNetwork, "accepts", lambda network, psi: np.zeros(len(psi), dtype=bool))
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
        Soft(forbidden_ngrams(labels, [("B",)]), 1.0, "rather no B", "hinge"),
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
    assert solve_program(graph_program({"a": {"X": -math.inf}})).stats["clash"] == ()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_ends_with_that_status(solver):
    rng = np.random.default_rng(0)
    program = Program({j: Variable(j, float(rng.integers(1, 9))) for j in range(60)})
    constraint = ground_columns(
        RectifierNetwork(rng.integers(-16, 17, (8, 60)) / 16, np.full(8, -1.0)), range(60)
    )
    assert solve_program(program, [constraint], solver=solver, time_limit=0.0).status is Status.TIME_LIMIT
    stopped = solve_program(program, [constraint], solver=solver, time_limit=0.02)
    assert stopped.status in (Status.TIME_LIMIT, Status.OPTIMAL)


def test_violated_hinges_say_where():
    scores = ChainScores([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0]], labels=["A", "B"])
    found = decode_ilp(scores, [Soft(forbidden_ngrams("AB", [("B", "B")]), 0.5, "no B B", "hinge")])
    assert found.y == ("B", "B", "A")
    assert found.violations == (Violation("no B B", 1),)
    assert found.score == 27.0 - 0.5


def test_labels_that_the_scores_lack_are_never_chosen():
    scores = ChainScores([[1.0, 0.0]] * 2, labels=["A", "B"])
    assert decode_ilp(scores, [forbidden_ngrams("ABC", [("A", "A"), ("C", "C")])]).score == 1.0
    with pytest.raises(InvalidInput):
        decode_ilp(scores, [forbidden_ngrams(["A"], [("A", "A")])])


def test_what_cannot_be_grounded_is_refused():
    labels = ("A", "B")
    program = chain_program(ChainScores(np.zeros((3, 2)), labels=labels))
    everything = RectifierNetwork(np.zeros((1, 2)), [0.0])
    for feature in (Counts(labels, spans=True), Tuples(("a",), (labels,))):
        with pytest.raises(Unsupported):
            ground_chain(program, LearnedConstraint(everything, feature.space, feature))
    bits = Counts(labels, high=3)
    with pytest.raises(Unsupported):
        ground_chain(program, Soft(LearnedConstraint(everything, bits.space, bits), 1.0))


def test_sizes_past_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(ground_module, "MAX_TERMS", 500)
    exists = Existence(("A", "B", "C"), 3)
    everything = LearnedConstraint(RectifierNetwork(np.ones((1, 27)), [-99.0]), exists.space, exists)
    with pytest.raises(TooLarge):
        decode_ilp(ChainScores(np.zeros((9, 3)), labels="ABC"), [everything])
    wide = ground_columns(RectifierNetwork(np.ones((14, 140)), np.zeros(14)), range(140))
    with pytest.raises(TooLarge):
        solve_program(Program({j: Variable(j) for j in range(140)}), [wide], form="rows")


def test_the_solver_and_the_form_are_checked_before_they_are_used(monkeypatch):
    scores = ChainScores([[1.0]])
    for options in ({"solver": "gurobi"}, {"form": "dense"}, {"form": "simplified"}):
        with pytest.raises(InvalidInput):
            decode_ilp(scores, **options)
    monkeypatch.setattr(solver_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra):
        decode_ilp(scores)


def test_an_answer_that_breaks_rows_is_asked_for_again_and_then_refused(monkeypatch):
    program = graph_program({"d": {"X": 1.0, "Y": 0.0}})
    answer_of, asked = solver_module._answer, []

    def wrong(program, rows, solver, seconds, careful):
        asked.append(careful)
        answer = answer_of(program, rows, solver, seconds, careful)
        return answer if careful else replace(answer, values=dict.fromkeys(answer.values, 1.0))

    monkeypatch.setattr(solver_module, "_answer", wrong)
    assert solve_program(program).labels == {"d": "X"}
    assert asked == [False, True]
    monkeypatch.setattr(
        solver_module, "_answer", lambda p, rows, solver, s, _: wrong(p, rows, solver, s, False)
    )
    with pytest.raises(LconsError):
        solve_program(program)


def test_an_infeasible_graph_that_cbc_preprocessing_called_optimal():
    labels = ("NoRel", "Kill")
    pair = Tuples(("forward", "backward"), (labels, labels))
    rejects_all = RectifierNetwork(
        [[4, -1, 1.625, -1.0625], [4, -1, 1.625, -1.0625], [-2.9375, 2.1875, -3.5625, -3.875]],
        [-1.0625, -4.625, 4.0],
    )
    flat = dict.fromkeys(labels, 0.0)
    factor = {("NoRel", "NoRel"): 2.0**-40}  # for pair variables
    program = graph_program({"f": flat, "b": flat}, {("f", "b"): factor})
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
    exists = Existence(labels, 1)
    existence = LearnedConstraint(RectifierNetwork(-np.ones((4, 3)), np.full(4, 2.0)), exists.space, exists)
    found = decode_ilp(scores, [Hard(pairs, "pairs"), Hard(triples, "triples"), Hard(existence, "exist")])
    assert found.stats["forms"] == {"table": 3, "lifted": 1}
    assert decode_ilp(scores, [Soft(pairs, 1.0, cost="hinge")]).stats["forms"] == {"rows": 2}
    assert decode_ilp(scores, [pairs], form="cuts").stats["forms"] == {"cuts": 2}


def test_a_continuous_program_without_solution_prints_nothing(capfd):
    variables = {name: Variable(name, 1.0, type=Type.CONTINUOUS) for name in "ab"}
    row = Row("r", (("a", 1.0), ("b", 1.0)), Sense.AT_LEAST, 3.0)
    assert solve_program(Program(variables, {}, (row,))).status is Status.INFEASIBLE
    assert capfd.readouterr().out == ""
