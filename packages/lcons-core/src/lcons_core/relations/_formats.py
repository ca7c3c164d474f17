"""Relation schemas as files: JSON of lcons, GLiNER2's JSON, and SHACL.

JSON of lcons: `{"format": "lcons relation schema", "version": 1, "entities": [...], "relations": [...],
"evidence": [...]}`. Keys with default values are left out; the evidence is for readers.

GLiNER2 (`gliner2.joint_ie`): the dict that `JointSchema.from_dict` reads. A symmetric relation is written
as a directed one with the constraint SymmetricRelation: with its own `symmetric=True`, GLiNER2 2.1.0 also
refuses a pair that occurs in both directions, so that no such relation is ever extracted.

SHACL (Turtle): a class per entity type and a property per relation.

| rule | shape |
|---|---|
| head, tail | `sh:class` of the subjects, and of the objects |
| at most k | `sh:maxCount` of the property, and of its inverse path |
| symmetric, inverse | `sh:equals` of the inverse path |
| acyclic, no self loops | a SPARQL constraint, as SHACL's core has none |

Not in the paper.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any
from urllib.parse import quote

from lcons_core._atomic import replacing
from lcons_core._errors import DamagedFile, InvalidInput, LconsError
from lcons_core._files import open_regular
from lcons_core._plain import parse, pretty
from lcons_core.relations._learner import Evidence, LearnedSchema
from lcons_core.relations._schema import EntityGraph, RelationSchema, RelationType

FORMAT, VERSION = "lcons relation schema", 1
MAX_BYTES = 2**24
_DEFAULTS = {own.name: own.default for own in fields(RelationType)[3:]}


def schema_to_dict(given: RelationSchema | LearnedSchema) -> dict[str, Any]:
    """The schema as plain data, with its evidence if it was learned."""
    schema = given.schema if isinstance(given, LearnedSchema) else given
    found: dict[str, Any] = {"format": FORMAT, "version": VERSION, "entities": list(schema.entities)}
    found["relations"] = [
        {key: list(value) if isinstance(value, tuple) else value for key, value in _told(own).items()}
        for own in schema.relations
    ]
    if isinstance(given, LearnedSchema):
        found["learned"] = {**given.settings, "wrong_labels": given.wrong_labels}
        found["evidence"] = [asdict(own) for own in given.evidence]
    return found


def schema_from_dict(data: Any) -> RelationSchema | LearnedSchema:
    """The schema of `schema_to_dict`; raises `InvalidInput` if it is not one."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InvalidInput(f"expected a relation schema with the format {FORMAT!r}, found none.")
    if data.get("version") != VERSION:
        raise InvalidInput(
            f"expected version {VERSION} of the format, found {data.get('version')!r:.20}; use a newer lcons."
        )
    try:
        relations = [RelationType(**own) for own in data["relations"]]
        schema = RelationSchema(data["entities"], relations)
        if "learned" not in data:
            return schema
        settings = dict(data["learned"])
        wrong = settings.pop("wrong_labels")
        return LearnedSchema(schema, tuple(Evidence(**own) for own in data["evidence"]), wrong, settings)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"expected a whole relation schema: {error}; write it again.") from None


def save_schema(schema: RelationSchema | LearnedSchema, path: str | os.PathLike[str]) -> None:
    """Writes the schema as JSON of lcons; if this fails, an existing file stays unchanged."""
    content = (pretty(schema_to_dict(schema)) + "\n").encode()
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise LconsError(
            f"cannot write {os.fspath(path)!r}: {error.strerror or error}; choose another file."
        ) from None


def load_schema(path: str | os.PathLike[str]) -> RelationSchema | LearnedSchema:
    """The schema that `save_schema` wrote; raises `DamagedFile` if there is none."""
    name = os.fspath(path)
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DamagedFile(f"cannot read {name!r}: {reason}; pass the path of a relation schema.") from None
    if len(content) > MAX_BYTES:
        raise DamagedFile(f"{name!r} has more than {MAX_BYTES:,} bytes; pass the path of a relation schema.")
    try:
        return schema_from_dict(parse(content.decode()))
    except (LconsError, UnicodeDecodeError) as error:
        reason = str(error).rstrip(".")
        raise DamagedFile(f"{name!r} is not a relation schema: {reason}.") from None


def schema_to_gliner2(schema: RelationSchema) -> dict[str, Any]:
    """The schema for `gliner2.joint_ie.JointSchema.from_dict`.

    >>> schema = RelationSchema(["person"], [RelationType("spouse", "person", "person", symmetric=True)])
    >>> schema_to_gliner2(schema)["constraints"]
    [{'type': 'SymmetricRelation', 'relation': 'spouse'}]
    """
    constraints: list[dict[str, Any]] = []
    relations: dict[str, dict[str, Any]] = {}
    for own in schema.relations:
        told = {key: list(value) if isinstance(value, tuple) else value for key, value in _told(own).items()}
        for rule, kind in (("symmetric", "SymmetricRelation"), ("acyclic", "AcyclicRelation")):
            if told.pop(rule, False):
                constraints.append({"type": kind, "relation": own.name})
        del told["name"]
        relations[own.name] = told
    return {
        "entities": {name: {} for name in schema.entities},
        "relations": relations,
        "constraints": constraints,
    }


def schema_to_shacl(schema: RelationSchema, base: str = "urn:lcons:") -> str:
    """The schema as shapes in Turtle; classes and properties are the names after `base`."""
    if any(character in base for character in ' <>"{}|\\^`\n') or ":" not in base:
        raise InvalidInput(f"`base` must be the beginning of an IRI: got {base!r:.60}.")
    lines = ["@prefix sh: <http://www.w3.org/ns/shacl#> .", ""]
    for own in schema.relations:
        lines += _shapes(own, base)
    return "\n".join(lines)


def _shapes(own: RelationType, base: str) -> Iterator[str]:
    r = _iri(base, own.name)
    back = f"[ sh:inversePath {r} ]"
    heads = [f"sh:targetSubjectsOf {r}", *_classes(own.head, base)]
    tails = [f"sh:targetObjectsOf {r}", *_classes(own.tail, base)]
    if own.max_per_head is not None:
        heads.append(f"sh:property [ sh:path {r} ; sh:maxCount {own.max_per_head} ]")
    if own.max_per_tail is not None:
        tails.append(f"sh:property [ sh:path {back} ; sh:maxCount {own.max_per_tail} ]")
    turned = own.name if own.symmetric else own.inverse
    if turned is not None:
        equal = f"sh:property [ sh:path {back} ; sh:equals {_iri(base, turned)} ]"
        heads.append(equal)
        tails.append(equal)
    if own.acyclic or not own.allow_self:
        path, message = (f"{r}+", "never leads back") if own.acyclic else (r, "has no self loops")
        query = f"SELECT $this WHERE {{ $this {path} $this }}"
        heads.append(
            f'sh:sparql [ a sh:SPARQLConstraint ; sh:message "{_text(own.name)} {message}" ;'
            f' sh:select "{_text(query)}" ]'
        )
    for side, shape in (("head", heads), ("tail", tails)):
        yield f"{_iri(base, f'{own.name}-{side}')} a sh:NodeShape ;"
        yield "  " + " ;\n  ".join(shape) + " ."
        yield ""


def _classes(types: Iterable[str], base: str) -> list[str]:
    classes = [f"sh:class {_iri(base, name)}" for name in types]
    return classes if len(classes) == 1 else [f"sh:or ( {' '.join(f'[ {own} ]' for own in classes)} )"]


def _iri(base: str, name: str) -> str:
    return f"<{base}{quote(name, safe='')}>"


def _text(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")


def _told(own: RelationType) -> dict[str, Any]:
    """The fields of a relation that differ from their defaults."""
    values = {key.name: getattr(own, key.name) for key in fields(own)}
    return {key: value for key, value in values.items() if _DEFAULTS.get(key, ...) != value}


def read_graph(data: Any, where: str = "the passage") -> EntityGraph:
    """The graph of a passage as plain data.

    Entities are objects with `label` or `type`, and with an `id` if relations use it. Relations are objects
    with `label` or `type`, and `source` and `target`, or `head` and `tail`: indices of entities, or ids. So
    `lcons extract` and GLiNER2's `JointResult.to_dict` write it.

    >>> read_graph({"entities": [{"label": "A"}, {"label": "B"}],
    ...             "relations": [{"source": 0, "target": 1, "label": "r"}]}).relations
    frozenset({(0, 'r', 1)})
    """
    try:
        entities = [_label(own) for own in data["entities"]]
        ids: dict[Any, int] = {
            own["id"]: i for i, own in enumerate(data["entities"]) if isinstance(own, Mapping) and "id" in own
        }
        triples = []
        for own in data.get("relations", ()):
            ends = [own[first] if first in own else own[second] for first, second in _ENDS]
            head, tail = (ids.get(end, end) for end in ends)
            triples.append((head, _label(own), tail))
        return EntityGraph(entities, triples)
    except (KeyError, TypeError, AttributeError, InvalidInput) as error:
        reason = str(error).rstrip(".") if isinstance(error, InvalidInput) else "a key is missing"
        raise InvalidInput(
            f"{where}: expected entities with `label`, and relations with `label`, `source` and `target`:"
            f" {reason}; see `lcons schema --help`."
        ) from None


_ENDS = (("source", "head"), ("target", "tail"))


def _label(own: Any) -> str:
    return own if isinstance(own, str) else own["label"] if "label" in own else own["type"]
