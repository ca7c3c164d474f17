"""What a base model answers, from scores and files, and which part of a file a constraint has not seen."""

import json
import re
from dataclasses import asdict, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcons_core import Instance, LconsError, iob2
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis import divide, predict, read_predictions, read_scores
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.own_data import Part, PsiTable, Split, Structures, split

HELD_OUT = Structures.of([(["a", "b"], ["B", "I"]), (["c"], ["O"])])
TUPLES = Structures((Instance({}, (("P", "k"),)), Instance({}, ())), tuples=True)
TABLE = PsiTable(("a", "b"), np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([True, True, False]))


def scores(*sequences, labels=("B", "I", "O"), **model):
    lines = [{"labels": list(labels), **model}, *sequences]
    return "".join(json.dumps(line) + "\n" for line in lines)


FIRST, SECOND = {"emission": [[1, 0, 0], [0, 1, 0]]}, {"emission": [[0, 0, 1]]}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_scores_give_the_best_labelling_of_all(data, lengths, tmp_path):
    row = st.lists(st.integers(-9, 9), min_size=2, max_size=2)
    model = {"transition": [data.draw(row), data.draw(row)], "start": data.draw(row), "stop": data.draw(row)}
    emissions = [data.draw(st.lists(row, min_size=n, max_size=n)) for n in lengths]
    path = tmp_path / "scores.jsonl"
    path.write_text(scores(*({"emission": one} for one in emissions), labels="AB", **model))

    def score(emission, y):
        inner = sum(emission[t][v] for t, v in enumerate(y))
        steps = sum(model["transition"][a][b] for a, b in pairwise(y))
        return inner + steps + model["start"][y[0]] + model["stop"][y[-1]]

    held_out = Structures(tuple(Instance({}, "A" * n) for n in lengths))
    found, labels = read_scores(path, held_out)
    assert labels == ("A", "B")
    for emission, y in zip(emissions, found, strict=True):
        best = max(score(emission, one) for one in product(range(2), repeat=len(emission)))
        assert score(emission, ["AB".index(label) for label in y]) == best


def test_scores_of_a_model_are_what_the_model_predicts(tmp_path):
    sentences = [Sentence(tuple("abc"), tuple("BIO")), Sentence(tuple("ca"), tuple("OB"))] * 5
    model = train_linear(sentences, LinearSettings(iterations=5))
    batch = model.scores([sentence.x for sentence in sentences])
    arrays = {name: getattr(batch, name) for name in ("emission", "offsets", "transition", "start", "stop")}
    words = np.array([word for sentence in sentences for word in sentence.words])
    np.savez(tmp_path / "scores.npz", labels=np.array(batch.labels), words=words, **arrays)
    held_out = Structures(tuple(sentence.instance for sentence in sentences))
    told = []
    found, _ = read_scores(tmp_path / "scores.npz", held_out, lambda *step: told.append(step))
    assert found == predict(model, sentences) == predict(model, held_out.instances, lambda *step: None)
    assert told[-1] == (1000, 1000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (scores(FIRST), "expected 2 sentences in .*, as many as in the held-out data, found 1"),
        (scores(FIRST, SECOND, SECOND), "expected 2 sentences in .*, found 3"),
        (scores(SECOND, SECOND), "scores:2: expected 2 tokens as in held-out sentence 1, found 1"),
        (
            scores({**FIRST, "words": ["a", "x"]}, SECOND),
            r"scores:2: expected the words of .*, found others in sentence 1 \('x' for 'b'\)",
        ),
        (
            '{"labels": ["B"]}\n{"emission": [[-Infinity], [-Infinity]]}\n',
            "found that every labelling is forbidden",
        ),
        ('{"emission": [[1, 0]]}\n', "expected the names of the labels, found none"),
        ("{", "expected a JSON object"),
        ("", "expected 2 sentences in .*, found 0"),
        (None, "cannot read .*: No such file or directory; name a file of scores"),
    ],
)
def test_scores_that_do_not_belong_to_the_held_out_sentences_are_refused(text, message, tmp_path):
    if text is not None:
        (tmp_path / "scores").write_text(text)
    with pytest.raises(LconsError, match=message):
        read_scores(tmp_path / "scores", HELD_OUT)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("found.txt", "a B O\nb I I\n\nc O O\n", {"column": 2}),
        ("found.txt", "B a O\nI b I\n\nO c O\n", {"words": 2, "column": 1}),
        ("found.txt", "a\tx\tB\nb\tx\tI\n\nc\tx\tO\n", {"tabs": True}),
        ("found.txt", '{"labels": ["B", "I"], "violations": []}\n{"labels": ["O"], "words": ["c"]}\n', {}),
    ],
)
def test_predicted_labels_are_columns_or_json_lines(name, text, options, tmp_path):
    (tmp_path / name).write_text(text)
    assert read_predictions(tmp_path / name, HELD_OUT, **options) == [("B", "I"), ("O",)]


def test_predicted_tuples_are_json_lines_and_vectors_tables(tmp_path):
    path = tmp_path / "found.jsonl"
    path.write_text('{"tuples": []}\n{"tuples": [["P", "n"], ["L", "n"]]}\n')
    assert read_predictions(path, TUPLES) == [(), (("P", "n"), ("L", "n"))]
    path = tmp_path / "found.csv"
    path.write_text("b,a,valid\n0,1,0\n1,0,0\n")
    found = read_predictions(path, TABLE)
    assert (found.names, found.X.tolist()) == (("b", "a"), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("name", "text", "held_out", "message"),
    [
        ("x.conll", "a B\nb I\n", HELD_OUT, "expected 2 sentences in .*, as many as in the .* data, found 1"),
        ("x.conll", "a B\nx I\n\nc O\n", HELD_OUT, r"found others in sentence 1 \('x' for 'b'\)"),
        ("x.conll", "a B\n\nc O\n", HELD_OUT, "expected 2 tokens as in held-out sentence 1, found 1"),
        ("x.conll", "a B\nb I\n\nc O\n", TUPLES, "expected JSON lines of tuples in"),
        ("x.jsonl", '{"labels": ["B"]}\n' * 2, TUPLES, "expected predicted tuples in .*, found labels"),
        ("x.jsonl", '{"tuples": []}\n' * 2, HELD_OUT, "expected predicted labels in .*, found tuples"),
        ("x.jsonl", '{"tuples": []}\n', TUPLES, "expected 2 structures in .*, found 1"),
        ("x.csv", "a,valid\n1,1\n", HELD_OUT, "expected CoNLL columns or JSON lines in"),
        ("x.jsonl", '{"tuples": []}\n', TABLE, r"expected a table of psi vectors \(CSV or npz\) in"),
    ],
)
def test_predictions_that_do_not_belong_to_the_held_out_data_are_refused(
    name, text, held_out, message, tmp_path
):
    (tmp_path / name).write_text(text)
    with pytest.raises(LconsError, match=message):
        read_predictions(tmp_path / name, held_out)


DATA = Structures.of([(["a"], ["O"])] * 20)


def recording(**provenance):
    return replace(iob2(["B-X", "I-X", "O"]), provenance=provenance)


ROWS = PsiTable(("a",), np.ones((1500, 1)), np.arange(1500) < 1000)
SENTENCE = "the first 80 % of the structures (16 of 20)"
# By what a constraint file records: now, and by 0.1.0.
BY_POSITION = {
    "structures": (DATA, {"split": Split.by_position(DATA, "train.conll").to_dict()}),
    "rows": (ROWS, {"split": Split.by_position(ROWS, "table.csv").to_dict()}),
    "structures of 0.1.0": (DATA, {"learned_from": SENTENCE}),
    "rows of 0.1.0": (
        ROWS,
        {"learned_from": "the first 80 % of the valid and of the invalid rows (1,200 of 1,500)"},
    ),
}


@pytest.mark.parametrize("name", BY_POSITION)
def test_what_learn_held_out_is_held_out_again(name):
    data, provenance = BY_POSITION[name]
    found = divide(recording(**provenance), data)
    train, held_out = split(data)
    assert len(found.train) + len(found.held_out) == len(data)
    assert found.train.numbers().tolist() == train.numbers().tolist()
    assert found.held_out.numbers().tolist() == held_out.numbers().tolist()


WHOLE = Split((Part.all_of(DATA, "train.conll"),))
BOTH = Split((Part.all_of(DATA, "train.conll"), Part("dev.conll", "structures", 1000, 1000)))
OTHER = Split.by_position(Structures.of([(["a"], ["O"])] * 10), "train.conll")


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        ({"split": WHOLE.to_dict()}, "the constraint was learned from all 20 structures"),
        ({"split": BOTH.to_dict()}, "learned from all 1,020 structures, held-out ones too"),
        ({"split": OTHER.to_dict()}, r"\(8 of 10\), but this file has 20 in all"),
        ({"learned_from": "all 20 structures"}, "the constraint was learned from all 20 structures"),
        ({"learned_from": "the first 80 % of the structures (8 of 10)"}, "but this file has 20 in all"),
        ({}, "does not record"),
        ({"learned_from": None}, "does not record"),
        ({"learned_from": [SENTENCE]}, "does not record"),
        ({"split": SENTENCE}, "does not record"),
        ({"split": {"learned_from": [], "held_out": []}}, "does not record"),
        ({"split": {"learned_from": [{"file": "x"}], "held_out": []}}, "does not record"),
        ({"split": {"learned_from": [{**asdict(WHOLE.learned_from[0]), "share": 2}]}}, "does not record"),
    ],
)
def test_where_nothing_is_known_to_be_held_out_nothing_is(recorded, why):
    found = divide(recording(**recorded), DATA)
    assert (found.train, found.held_out) == (DATA, None)
    assert re.search(why, found.why)
