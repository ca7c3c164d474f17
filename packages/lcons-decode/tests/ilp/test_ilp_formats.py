"""LP and MPS files are complete models: other readers find the same optimum, and names are read back."""

import math
from dataclasses import replace

import highspy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import DamagedFile, InvalidInput
from lcons_core._network import RectifierNetwork
from lcons_core.features import Existence
from lcons_decode import ChainScores, Status, forbidden_ngrams
from lcons_decode.ilp import (
    Hinge,
    Program,
    Row,
    Sense,
    Type,
    Variable,
    chain_program,
    graph_program,
    ground_chain,
    read_program,
    solve,
    with_constraints,
    write_program,
)

ENDINGS = (".lp", ".mps")


def sorted_terms(program):
    """The program with the terms of each row in a fixed order, because MPS loses their order."""
    rows = tuple(replace(row, terms=tuple(sorted(row.terms, key=repr))) for row in program.rows)
    return replace(program, rows=rows)


def citation_program(form="lifted"):
    labels = ["B-x y", 'I"', "O"]
    scores = ChainScores(
        np.array([[1, 2, 3], [2, -math.inf, 1], [0.1, 2, 1.9]]), np.eye(3) / 3, labels=labels
    )
    program = chain_program(scores)
    exists = Existence(tuple(labels), 2)
    network = RectifierNetwork(np.arange(9).reshape(1, 9) / 16 + 1 / 3, [0.25])
    constraints = [
        ground_chain(program, forbidden_ngrams(labels, [("O", "O")]), name="no O O"),
        ground_chain(program, Hinge(LearnedConstraint(network, exists.space, exists), 0.7), name="soft"),
    ]
    return with_constraints(program, constraints, form), solve(program, constraints, form=form)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", ["lifted", "rows"])
def test_a_program_comes_back_with_names_and_optimum(tmp_path, ending, form):
    program, answer = citation_program(form)
    path = tmp_path / f"program{ending}"
    write_program(program, path)
    again = read_program(path)
    assert sorted_terms(again) == sorted_terms(program)
    found = solve(again)
    assert found.status is Status.OPTIMAL
    assert found.labels == answer.labels


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_readers_find_the_same_optimum(tmp_path, ending):
    program, answer = citation_program()
    path = str(tmp_path / f"program{ending}")
    write_program(program, path)
    sign = 1.0 if ending == ".lp" else -1.0
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(path)
    model.optimize()
    assert sign * model.objective_value == pytest.approx(answer.score, abs=1e-6)
    assert model.num_int == sum(v.type is Type.BINARY for v in program.variables.values())
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(path)
    highs.run()
    assert sign * highs.getObjectiveValue() == pytest.approx(answer.score, abs=1e-6)


@st.composite
def programs(draw):
    number = st.floats(-1e6, 1e6, allow_nan=False)
    scalar = st.one_of(st.text(max_size=4), st.integers(-5, 5), st.none())
    names = st.recursive(scalar, lambda part: st.tuples(part, part), max_leaves=4)
    variables = {}
    for name in draw(st.lists(names, min_size=2, max_size=6, unique_by=repr)):
        high = draw(st.sampled_from([0.0, 1.0, 7.5, math.inf]))
        type_ = draw(st.sampled_from(list(Type)))
        variables[name] = Variable(
            name, draw(number), 0.0, min(high, 1.0) if type_ is Type.BINARY else high, type_
        )
    listed = list(variables)
    decisions = {("d", 1): {"X": listed[0], "Y": listed[1]}} if draw(st.booleans()) else {}
    rows = []
    for i in range(draw(st.integers(0, 3))):
        chosen = draw(st.lists(st.sampled_from(listed), max_size=3, unique=True))
        terms = tuple((name, c) for name in chosen if (c := draw(number)))
        sense = draw(st.sampled_from(list(Sense)))
        rows.append(Row((i, "row"), terms, sense, draw(number), draw(st.sampled_from([None, "a group"]))))
    return Program(variables, decisions, tuple(rows))


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.large_base_example])
@given(program=programs())
def test_every_program_comes_back_as_it_was(tmp_path_factory, ending, program):
    path = tmp_path_factory.mktemp("programs") / f"p{ending}"
    write_program(program, path)
    assert sorted_terms(read_program(path)) == sorted_terms(program)


@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_files_are_refused(tmp_path, ending):
    path = tmp_path / f"program{ending}"
    write_program(citation_program()[0], path)
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for damaged in (
        "",
        "x",
        text[: len(text) // 2],
        "".join(lines[:-1]),
        text.replace('"version": 1', '"version": 9'),
    ):
        path.write_text(damaged)
        with pytest.raises(DamagedFile, match="write_program"):
            read_program(path)
    with pytest.raises(DamagedFile):
        read_program(tmp_path / f"missing{ending}")


def test_what_cannot_be_written_is_refused(tmp_path):
    program = graph_program({"a": {"X": 1.0}})
    with pytest.raises(InvalidInput, match=r"\.lp or \.mps"):
        write_program(program, tmp_path / "program.txt")
    with pytest.raises(InvalidInput, match="nothing to solve"):
        write_program(Program({}), tmp_path / "program.lp")
    odd = Program({frozenset("a"): Variable(frozenset("a"))})
    with pytest.raises(InvalidInput, match="frozenset"):
        write_program(odd, tmp_path / "program.lp")


@pytest.mark.parametrize("ending", ENDINGS)
def test_fixed_binaries_stay_fixed(tmp_path, ending):
    program = graph_program({"a": {"X": 5.0, "Y": 1.0}})
    variables = dict(program.variables)
    variables["a", "X"] = replace(variables["a", "X"], high=0.0)
    path = str(tmp_path / f"program{ending}")
    write_program(Program(variables, program.decisions), path)
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(path)
    model.optimize()
    assert abs(model.objective_value) == 1.0
