"""A schema learned from annotated passages, and a lattice of GLiNER2 decoded exactly under it."""

from gliner2.joint_ie import compile_schema
from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem, NodeCandidate

from lcons_core.relations import EntityGraph, learn_schema
from lcons_decode.gliner2 import ExactOptimizer, joint_schema, read_problem

passages = [EntityGraph(["person", "city", "city"], [(0, "born in", 1), (1, "near", 2)])] * 30
learned = learn_schema(passages)
print(*learned.words(), sep="\n")

ann, oslo, rome = (NodeCandidate(t, i, i + 1, 1.0) for i, t in enumerate(["person", "city", "city"]))
edges = [EdgeCandidate("born in", ann.candidate_id, c.candidate_id, s, slot=i)
         for i, (c, s) in enumerate([(oslo, 2.0), (rome, 1.5)])]  # fmt: skip
problem = JointProblem((ann, oslo, rome), tuple(edges), compile_schema(joint_schema(learned)).constraints)
found = ExactOptimizer().optimize(problem)  # or JointIEEngine(model, optimizer=ExactOptimizer())
print(len(found.edges), found.score, found.status, found.certificate.check(read_problem(problem)))
