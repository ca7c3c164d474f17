"""Problems of GLiNER2's joint extraction, drawn, and their best score by its own checks."""

from itertools import product

from gliner2.joint_ie import JointSchema, SymmetricRelation, compile_schema
from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem, NodeCandidate
from gliner2.joint_ie.optimizers import BaseOptimizer
from hypothesis import strategies as st

TYPES = st.sampled_from([["P"], ["L"], ["P", "L"]])
MOST = st.sampled_from([None, None, 1, 2])
SCORE = st.integers(-24, 40).map(lambda own: own / 8)


@st.composite
def joint_schemas(draw):
    """Schemas with rules of all kinds."""
    nested = st.booleans()
    schema = JointSchema().entities({name: {"allow_nested": draw(nested)} for name in "PL"})
    kind = draw(st.sampled_from(["inverse", "symmetric", "as gliner2 writes it", "plain", "plain"]))
    head, tail = draw(TYPES), draw(TYPES)
    if kind == "inverse":
        schema.relation("r", head, tail, inverse="q", max_per_head=draw(MOST)).relation("q", tail, head)
    elif kind == "symmetric":
        schema.relation("r", head, head, max_per_head=draw(MOST)).constraint(SymmetricRelation("r"))
        schema.relation("q", draw(TYPES), draw(TYPES), acyclic=True)
    elif kind == "as gliner2 writes it":
        schema.relation("r", head, head, symmetric=True).relation(
            "q", draw(TYPES), draw(TYPES), allow_self=True
        )
    else:
        acyclic = draw(st.booleans())
        schema.relation("r", head, tail, max_per_head=draw(MOST), max_per_tail=draw(MOST), acyclic=acyclic)
        schema.relation("q", draw(TYPES), draw(TYPES), unique_head=draw(st.booleans()))
    if draw(st.booleans()):
        schema.at_most(per_head=draw(st.integers(1, 2)))
    return schema


@st.composite
def joint_problems(draw):
    """Problems with up to five nodes and six edges."""
    constraints = compile_schema(draw(joint_schemas())).constraints
    nodes = {}
    for _ in range(draw(st.integers(1, 5))):
        start, width = draw(st.integers(0, 4)), draw(st.integers(1, 2))
        node = NodeCandidate(draw(st.sampled_from("PL")), start, start + width, draw(SCORE))
        nodes[node.candidate_id] = node
    ends = st.sampled_from(sorted(nodes))
    slots, alternatives = draw(st.booleans()), draw(st.booleans())
    edges = {}
    for i in range(draw(st.integers(0, 6))):
        relation = draw(st.sampled_from("rq"))
        slot = draw(st.integers(0, 2)) if slots else i
        alternative = draw(st.integers(0, 1)) if alternatives else None
        edge = EdgeCandidate(
            relation,
            draw(ends),
            draw(ends),
            draw(SCORE),
            slot=slot,
            hypothesis=relation,
            count_alternative=alternative,
        )
        edges[edge.candidate_id] = edge
    return JointProblem(tuple(nodes.values()), tuple(edges.values()), constraints)


def best_score(problem):
    """The best score of all selections that GLiNER2's own checks accept."""
    checks, best = BaseOptimizer(), 0.0
    for bits in product((False, True), repeat=len(problem.edges)):
        chosen = [edge for edge, bit in zip(problem.edges, bits, strict=True) if bit]
        used = set()
        for edge in chosen:
            if checks.edge_conflicts(edge, used):
                break
            used |= checks.edge_usage(edge)
        else:
            needed = {end for edge in chosen for end in (edge.head, edge.tail)}
            others = [node for node in problem.nodes if node.candidate_id not in needed and node.score > 0]
            for more in product((False, True), repeat=len(others)):
                ids = needed | {node.candidate_id for node, bit in zip(others, more, strict=True) if bit}
                score = sum(node.score for node in problem.nodes if node.candidate_id in ids)
                score += sum(edge.score for edge in chosen)
                if score > best and checks.validate_solution(
                    problem, checks.solution(problem, ids, chosen, score)
                ):
                    best = score
    return best
