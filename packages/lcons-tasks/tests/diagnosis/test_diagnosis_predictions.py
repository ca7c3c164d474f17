"""What a base model answers, from scores and files, and which part of a file a constraint has not seen."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from lcons_core import iob2
from lcons_core._errors import LconsError
from lcons_decode._stream import decode_scored
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis import divide, predict, predict_scores, read_predictions, read_scores
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.own_data import PsiTable, Split, Structures, split

HELD_OUT = Structures.of([(["a", "b"], ["B", "I"]), (["c"], ["O"])])


def scores(*sequences, labels=("B", "I", "O"), **model):
    lines = [{"labels": list(labels), **model}, *sequences]
    return "".join(json.dumps(line) + "\n" for line in lines)


FIRST, SECOND = {"emission": [[1, 0, 0], [0, 1, 0]]}, {"emission": [[0, 0, 1]]}


def test_scores_of_a_model_are_what_the_model_predicts(tmp_path):
    sentences = [Sentence(tuple("abc"), tuple("BIO")), Sentence(tuple("ca"), tuple("OB"))] * 5
    model = train_linear(sentences, LinearSettings(iterations=5))
    batch = model.scores([sentence.x for sentence in sentences])
    arrays = {name: getattr(batch, name) for name in ("emission", "offsets", "transition", "start", "stop")}
    words = np.array([word for sentence in sentences for word in sentence.words])
    np.savez(tmp_path / "scores.npz", labels=np.array(batch.labels), words=words, **arrays)
    held_out = Structures(tuple(sentence.instance for sentence in sentences))
    found = read_scores(tmp_path / "scores.npz", held_out)
    expected = predict_scores(model, sentences)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.scores.emission, other.scores.emission)
    assert [answer.y for _, answer in decode_scored(found)] == predict(model, sentences)


@pytest.mark.parametrize(
    "text",
    [
        scores(FIRST),
        scores(FIRST, SECOND, SECOND),
        scores(SECOND, SECOND),
        scores({**FIRST, "words": ["a", "x"]}, SECOND),
        '{"emission": [[1, 0]]}\n',
        "",
        None,
    ],
)
def test_scores_that_do_not_belong_to_the_held_out_sentences_are_refused(text, tmp_path):
    if text is not None:
        (tmp_path / "scores").write_text(text)
    with pytest.raises(LconsError):
        read_scores(tmp_path / "scores", HELD_OUT)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("found.txt", "a B O\nb I I\n\nc O O\n", {"columns": "word=1,label=2"}),
        ("found.txt", "B a O\nI b I\n\nO c O\n", {"columns": "word=2,label=1"}),
        ("found.txt", "a\tx\tB\nb\tx\tI\n\nc\tx\tO\n", {"tabs": True}),
        ("found.txt", '{"labels": ["B", "I"], "violations": []}\n{"labels": ["O"], "words": ["c"]}\n', {}),
    ],
)
def test_predicted_labels_are_columns_or_json_lines(name, text, options, tmp_path):
    (tmp_path / name).write_text(text)
    assert read_predictions(tmp_path / name, HELD_OUT, **options) == [("B", "I"), ("O",)]


@pytest.mark.parametrize(
    ("name", "text", "held_out"),
    [
        ("x.conll", "a B\nb I\n", HELD_OUT),
        ("x.conll", "a B\nx I\n\nc O\n", HELD_OUT),
        ("x.conll", "a B\n\nc O\n", HELD_OUT),
        ("x.jsonl", '{"tuples": []}\n' * 2, HELD_OUT),
        ("x.csv", "a,valid\n1,1\n", HELD_OUT),
    ],
)
def test_predictions_that_do_not_belong_to_the_held_out_data_are_refused(name, text, held_out, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(LconsError):
        read_predictions(tmp_path / name, held_out)


DATA = Structures.of([(["a"], ["O"])] * 20)


def recording(**provenance):
    return replace(iob2(["B-X", "I-X", "O"]), provenance=provenance)


ROWS = PsiTable(("a",), np.ones((1500, 1)), np.arange(1500) < 1000)
BY_POSITION = {"structures": (DATA, "train.conll"), "rows": (ROWS, "table.csv")}


@pytest.mark.parametrize("name", BY_POSITION)
def test_what_learn_held_out_is_held_out_again(name):
    data, file = BY_POSITION[name]
    divided = divide(recording(split=asdict(Split.of_file(data, file, 0.2))), data)
    train, held_out = split(data)
    assert divided.train.numbers().tolist() == train.numbers().tolist()
    assert divided.held_out.numbers().tolist() == held_out.numbers().tolist()


WHOLE = Split.of_file(DATA, "train.conll")
OTHER = Split.of_file(Structures.of([(["a"], ["O"])] * 10), "train.conll", 0.2)


@pytest.mark.parametrize(
    "recorded",
    [
        {"split": asdict(WHOLE)},
        {"split": asdict(OTHER)},
        {"split": {**asdict(WHOLE), "share": 2}},
        {"split": {"learned_from": [{"file": "x"}], "held_out": []}},
        {"split": "the first 80 %"},
        {},
    ],
)
def test_where_nothing_is_known_to_be_held_out_nothing_is(recorded):
    divided = divide(recording(**recorded), DATA)
    assert (divided.train, divided.held_out) == (DATA, None)
