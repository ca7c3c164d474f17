"""`lcons schema`: passages in, a schema in words and as a file out; `lcons extract --schema` obeys it."""

import json

import pytest
from constraint_files import run

from lcons_core.relations import EntityGraph, RelationSchema, load_schema, read_graph

PASSAGE = {
    "text": "Ann left Oslo.",
    "entities": [{"label": "Person"}, {"label": "Place"}, {"label": "Place"}],
    "relations": [{"source": 0, "target": 1, "label": "LiveIn"}, {"source": 1, "target": 2, "label": "In"}],
}


@pytest.fixture
def passages(tmp_path):
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps(PASSAGE) + "\n" for _ in range(30)) + "\n")
    return path


def test_passages_become_a_schema_with_evidence_in_words_and_in_the_file(passages, tmp_path):
    done = run("schema", passages, "-o", tmp_path / "schema.json")
    assert done.exit_code == 0, done.output
    assert "the head of LiveIn is Person: 30 of 30" in done.stdout
    assert "broken in at most 9.6% of cases" in done.stdout
    assert "In never leads back to its start" in done.stdout
    learned = load_schema(tmp_path / "schema.json")
    assert learned.schema.allows(read_graph(PASSAGE))
    assert not learned.schema.allows(EntityGraph(["Place", "Person"], [(0, "LiveIn", 1)]))
    again = run("schema", tmp_path / "schema.json")
    assert again.stdout == done.stdout
    assert (
        json.loads(run("schema", tmp_path / "schema.json", "--json").stdout)["relations"][0]["name"] == "In"
    )


def test_other_forms_go_to_a_file_or_to_stdout(passages, tmp_path):
    run("schema", passages, "-o", tmp_path / "schema.json")
    shown = run("schema", tmp_path / "schema.json", "--to", "gliner2")
    assert json.loads(shown.stdout)["constraints"] == [{"type": "AcyclicRelation", "relation": "In"}]
    run("schema", tmp_path / "schema.json", "--to", "gliner2", "-o", tmp_path / "joint.json")
    assert (tmp_path / "joint.json").read_text() == shown.stdout
    assert "sh:NodeShape" in run("schema", passages, "--to", "shacl").stdout


def test_verbose_prints_what_was_not_learned(passages):
    assert "not learned" not in run("schema", passages).stdout
    assert "not learned" in run("schema", passages, "-v", "--odds", "1000000").stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "passages.jsonl:1: expected a passage as a JSON object"),
        ("[]", "passages.jsonl:1: expected entities with `label`"),
        ('{"entities": [{"label": "P"}]}', "found none in 1 passages"),
        ("", "found none in 0 passages"),
        ('{"format": 3}', "expected a relation schema"),
        (
            '{"entities": ["P"], "relations": [{"source": 0, "target": 7, "label": "r"}]}',
            "indices of the 1 entities",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, content, message):
    path = tmp_path / "passages.jsonl"
    path.write_text(content)
    done = run("schema", path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_schema_is_not_learned_again(passages, tmp_path):
    run("schema", passages, "-o", tmp_path / "schema.json")
    done = run("schema", tmp_path / "schema.json", "--odds", "3")
    assert "leave out --odds" in done.stderr
    assert isinstance(load_schema(tmp_path / "schema.json").schema, RelationSchema)
