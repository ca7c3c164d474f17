"""GLiNER2's lattices are decoded exactly, by its own checks; learned schemas are schemas of GLiNER2."""

import logging
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from lcons_core import Unsupported
from lcons_core.relations import EntityGraph, RelationSchema, RelationType, learn_schema, schema_to_gliner2

pytestmark = pytest.mark.integrations

gliner2 = pytest.importorskip("gliner2")

from gliner2.joint_ie import JointIEEngine, JointSchema, compile_schema  # noqa: E402
from gliner2.joint_ie.candidates import (  # noqa: E402
    CandidateBuilder,
    EdgeCandidate,
    JointProblem,
    NodeCandidate,
    RelationHypothesis,
)
from gliner2.joint_ie.constraints import Constraint  # noqa: E402
from gliner2.joint_ie.optimizers import BaseOptimizer, BeamOptimizer, GreedyOptimizer  # noqa: E402
from gliner2_problems import best_score, joint_problems  # noqa: E402

from lcons_decode import Status  # noqa: E402
from lcons_decode.gliner2 import ExactOptimizer, joint_schema, read_problem  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "with_gliner2.py"

logging.getLogger("gliner2").setLevel(logging.ERROR)


def score_of(solution):
    """The score by definition: GLiNER2's beam (2.1.0) counts the node of a self loop twice."""
    return sum(own.score for own in (*solution.nodes, *solution.edges))


@settings(max_examples=150, deadline=None)
@given(problem=joint_problems())
def test_the_solution_is_the_best_of_all_that_gliner2_accepts(problem):
    found = ExactOptimizer().optimize(problem)
    assert found.score == pytest.approx(best_score(problem), abs=1e-9)
    assert BaseOptimizer().validate_solution(problem, found)
    assert found.status is Status.OPTIMAL
    assert found.bound == pytest.approx(found.score, abs=1e-8)
    assert found.certificate.check(read_problem(problem))
    for other in (BeamOptimizer(16), GreedyOptimizer()):
        assert score_of(other.optimize(problem)) <= found.score + 1e-9


def dense_problem(seed, length=10, widths=3):
    """A problem that GLiNER2's own builder makes of random logits: two entity types, three relations."""
    rng = np.random.default_rng(seed)
    schema = JointSchema().entities(["P", "L"])
    schema.relation("born", "P", "L", max_per_head=1).relation("near", "L", "L", acyclic=True)
    schema.relation("knows", "P", "P", max_per_tail=2)
    hypotheses = [
        RelationHypothesis(name, rng.normal(-1, 2, (slots, 2, length, widths)), spec.head, spec.tail,
                           count_alternative=alternative, hypothesis_id=name)
        for name, spec in compile_schema(schema).relation_specs.items()
        for alternative, slots in enumerate((1, 2))
    ]  # fmt: skip
    builder = CandidateBuilder(top_k_entities=10, top_k_roles=4)
    logits = rng.normal(-1.5, 2, (2, length, widths))
    return builder.build(logits, ["P", "L"], hypotheses, constraints=compile_schema(schema).constraints)


@pytest.mark.parametrize("seed", range(4))
def test_problems_of_the_builder_are_proved_and_never_below_the_beam(seed):
    problem = dense_problem(seed)
    found = ExactOptimizer().optimize(problem)
    assert len(problem.edges) > 50
    assert found.status is Status.OPTIMAL
    assert found.certificate.check(read_problem(problem))
    assert BaseOptimizer().validate_solution(problem, found)
    assert score_of(BeamOptimizer(16).optimize(problem)) <= found.score + 1e-9


def test_a_learned_schema_is_a_schema_of_gliner2_with_the_same_rules():
    graphs = [
        EntityGraph(
            ["P", "L", "L", "P"], [(0, "born", 1), (1, "near", 2), (0, "spouse", 3), (3, "spouse", 0)]
        )
    ] * 30
    learned = learn_schema(graphs)
    made = joint_schema(learned)
    assert isinstance(made, JointSchema)
    compile_schema(made)
    again = JointSchema.from_json(made.to_json())
    assert (
        again.to_dict()
        == made.to_dict()
        == JointSchema.from_dict(schema_to_gliner2(learned.schema)).to_dict()
    )
    kinds = {type(own).__name__ for own in made.constraints}
    assert kinds == {"SymmetricRelation", "AcyclicRelation"}


def test_a_symmetric_relation_is_extracted_as_it_is_written_here_and_not_by_symmetric_true():
    nodes = tuple(NodeCandidate("P", i, i + 1, 1.0) for i in (0, 2))
    edge = EdgeCandidate(
        "spouse", nodes[0].candidate_id, nodes[1].candidate_id, 2.0, slot=0, hypothesis="spouse"
    )
    mine = joint_schema(RelationSchema(["P"], [RelationType("spouse", "P", "P", symmetric=True)]))
    theirs = JointSchema().entity("P").relation("spouse", "P", "P", symmetric=True)
    edges = {}
    for name, schema in (("mine", mine), ("theirs", theirs)):
        problem = JointProblem(nodes, (edge,), compile_schema(schema).constraints)
        edges[name] = [len(own.optimize(problem).edges) for own in (ExactOptimizer(), BeamOptimizer(16))]
    assert edges == {"mine": [2, 2], "theirs": [0, 0]}


def test_the_schema_of_lcons_and_the_checks_of_gliner2_agree_on_small_graphs():
    schema = RelationSchema(
        ["P", "L"],
        [RelationType("r", ("P", "L"), "L", 1), RelationType("s", "L", "L", max_per_tail=1, acyclic=True)],
    )
    constraints = compile_schema(joint_schema(schema)).constraints
    nodes = tuple(NodeCandidate(name, 2 * i, 2 * i + 1, 1.0) for i, name in enumerate("PLL"))
    rng = np.random.default_rng(0)
    verdicts = []
    for _ in range(300):
        drawn = {
            (int(i), name, int(j))
            for i, j in rng.integers(0, 3, (rng.integers(1, 4), 2))
            for name in rng.choice(["r", "s"], 1)
        }
        edges = tuple(
            EdgeCandidate(name, nodes[i].candidate_id, nodes[j].candidate_id, 1.0, slot=at, hypothesis=name)
            for at, (i, name, j) in enumerate(sorted(drawn))
        )
        problem = JointProblem(nodes, edges, constraints)
        solution = BaseOptimizer.solution(problem, [node.candidate_id for node in nodes], edges, 0.0)
        verdicts.append(BaseOptimizer().validate_solution(problem, solution))
        assert verdicts[-1] == schema.allows(EntityGraph("PLL", drawn))
    assert 20 < sum(verdicts) < 280


class Own(Constraint):
    """A constraint that lcons does not know."""


def test_a_constraint_of_the_users_own_is_refused_by_name():
    problem = JointProblem((NodeCandidate("P", 0, 1, 1.0),), (), (Own(),))
    with pytest.raises(Unsupported, match="Own is not a constraint of GLiNER2"):
        ExactOptimizer().optimize(problem)


def test_the_engine_of_gliner2_takes_the_optimizer():
    from gliner2.joint_ie.candidate_scores import CandidateScoreSet, MentionScore, ScoredRelationEdge

    words = ("Ann", "left", "Oslo")
    mentions = (MentionScore(0, "P", 0, 1, 2.0, 0.88), MentionScore(1, "L", 2, 3, 1.0, 0.73))
    edge = ScoredRelationEdge("born", ("P", 0, 1), ("L", 2, 3), 1.0, 0.73)
    scored = CandidateScoreSet("Ann left Oslo", mentions, edges=(edge,), text_tokens=words,
                               start_mappings=(0, 4, 9), end_mappings=(3, 8, 13))  # fmt: skip
    engine = JointIEEngine.__new__(JointIEEngine)
    for name, value in {"_optimizer_override": ExactOptimizer(), "_candidate_component": None}.items():
        setattr(engine, name, value)
    from gliner2.joint_ie.engine import JointIEConfig
    from gliner2.joint_ie.result import ResultBuilder

    engine._result_component = ResultBuilder
    schema = compile_schema(joint_schema(RelationSchema(["P", "L"], [RelationType("born", "P", "L", 1)])))
    result = engine._decode(scored, schema, JointIEConfig())
    assert [(own.type, own.text) for own in result.entities] == [("P", "Ann"), ("L", "Oslo")]
    assert [own.type for own in result.relations] == ["born"]


def test_the_example_prints_a_proof(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "optimal True" in capsys.readouterr().out
