"""GLiNER2 end to end, with a tiny model of its own classes and random weights: text to extraction."""

import logging

import pytest
import torch

from lcons_core.relations import EntityGraph, RelationSchema, RelationType

pytestmark = pytest.mark.integrations

pytest.importorskip("gliner2")

from gliner2.configuration import ExtractorConfig  # noqa: E402
from gliner2.joint_ie import JointIEEngine  # noqa: E402
from gliner2.joint_ie.engine import JointIEConfig  # noqa: E402
from gliner2.joint_ie.optimizers import BaseOptimizer, BeamOptimizer  # noqa: E402
from gliner2.models.span.model import SpanExtractorModel  # noqa: E402
from tiny_models import PIECES, SPECIAL, tokenizer  # noqa: E402
from transformers import BertConfig  # noqa: E402

from lcons_decode import Status  # noqa: E402
from lcons_decode.gliner2 import ExactOptimizer, joint_schema, read_problem  # noqa: E402

logging.getLogger("gliner2").setLevel(logging.ERROR)
SCHEMA = RelationSchema(
    ["person", "place"],
    [
        RelationType("born", "person", "place", max_per_head=1),
        RelationType("near", "place", "place", acyclic=True),
    ],
)
TEXTS = ["ann saw new york . lee saw ann .", "the town x , y and z saw lee .", "ann lee saw ann town"]
# Everything is a candidate, so that the rules and not a threshold decide.
OPEN = JointIEConfig(candidate_threshold=0.0, relation_role_threshold=0.0, top_k_entities=8, top_k_roles=4)


def tiny_model(seed: int) -> SpanExtractorModel:
    """A span model of GLiNER2 with a BERT of one layer; nothing is downloaded."""
    torch.manual_seed(seed)
    encoder = BertConfig(
        vocab_size=len(SPECIAL + PIECES),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
    )
    model = SpanExtractorModel(
        ExtractorConfig(model_name="tiny", max_width=3), encoder_config=encoder, tokenizer=tokenizer(128)
    )
    with torch.no_grad():
        model.encoder.embeddings.word_embeddings.weight.mul_(40)
        for parameter in (*model.span_rep.parameters(), *model.count_embed.parameters()):
            parameter.mul_(3)
        model.count_pred[-1].bias[:3] = torch.tensor([-4.0, 2.0, 2.0])
    return model.eval()


class Watched:
    """An optimizer that keeps the problems it is given, and its solutions."""

    def __init__(self) -> None:
        self.seen = []

    def optimize(self, problem):
        solution = ExactOptimizer().optimize(problem)
        self.seen.append((problem, solution))
        return solution


def test_a_text_is_extracted_exactly_under_the_schema():
    relations = better = 0
    for seed in range(4):
        watched = Watched()
        engine = JointIEEngine(tiny_model(seed), optimizer=watched)
        for text in TEXTS:
            result = engine.extract(text, joint_schema(SCHEMA), config=OPEN)
            problem, solution = watched.seen[-1]
            assert solution.status is Status.OPTIMAL
            assert solution.certificate.check(read_problem(problem))
            assert BaseOptimizer().validate_solution(problem, solution)
            beam = BeamOptimizer(16).optimize(problem)
            total = sum(own.score for own in (*beam.nodes, *beam.edges))
            assert total <= solution.score + 1e-9
            better += total < solution.score - 1e-6
            assert len(result.entities) == len(solution.nodes)
            places = {own.id: i for i, own in enumerate(result.entities)}
            graph = EntityGraph(
                [own.type for own in result.entities],
                {(places[own.head], own.type, places[own.tail]) for own in result.relations},
            )
            assert SCHEMA.allows(graph)
            relations += len(result.relations)
    assert relations >= 5
    assert better >= 1
