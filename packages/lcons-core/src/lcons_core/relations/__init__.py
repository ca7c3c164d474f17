"""Typed relation schemas: what they allow, learned from annotated graphs, as files.

    annotated graphs -> learn_schema -> LearnedSchema(schema, evidence) -> JSON, GLiNER2's JointSchema, SHACL

`lcons_decode` decodes under a `RelationSchema`.
"""

from lcons_core.relations._formats import (
    load_schema,
    read_graph,
    save_schema,
    schema_from_dict,
    schema_to_dict,
    schema_to_gliner2,
    schema_to_shacl,
)
from lcons_core.relations._learner import Evidence, LearnedSchema, learn_schema
from lcons_core.relations._schema import EntityGraph, RelationSchema, RelationType, cycle

__all__ = [
    "EntityGraph",
    "Evidence",
    "LearnedSchema",
    "RelationSchema",
    "RelationType",
    "cycle",
    "learn_schema",
    "load_schema",
    "read_graph",
    "save_schema",
    "schema_from_dict",
    "schema_to_dict",
    "schema_to_gliner2",
    "schema_to_shacl",
]
