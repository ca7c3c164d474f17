"""`lcons diagnose`: a constraint, data of any kind and a model's answers in, a report out."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import iob2
from lcons_tasks.data import Columns, Sentence, write_columns
from lcons_tasks.data._columns import CONLL2000
from lcons_tasks.models._linear_crf import train_linear

SENTENCES = [
    Sentence(("the", "dog", "barks", "."), ("B-NP", "I-NP", "B-VP", "O"), {"pos": ("DT", "NN", "VBZ", ".")}),
    Sentence(("dogs", "bark", "at", "me"), ("B-NP", "B-VP", "O", "B-NP"), {"pos": ("NN", "VB", "IN", "PR")}),
    Sentence((".", "a", "big", "dog"), ("O", "B-NP", "I-NP", "I-NP"), {"pos": (".", "DT", "JJ", "NN")}),
] * 4
LABELS = ("B-NP", "I-NP", "B-VP", "O")


@pytest.fixture
def files(tmp_path):
    """A constraint, CoNLL files, predictions in a fourth column, and a model."""
    iob2(LABELS).save(tmp_path / "iob2.json")
    for name in ("train.txt", "dev.txt"):
        write_columns(tmp_path / name, SENTENCES, CONLL2000)
    wrong = [
        Sentence(s.words, ("O", "I-NP", *s.labels[2:]), {**s.columns, "gold": s.labels}) for s in SENTENCES
    ]
    layout = Columns(("word", "pos", "gold", "found"), "word", "found", ("pos", "gold"))
    write_columns(tmp_path / "predicted.txt", wrong, layout)
    train_linear(SENTENCES).save(tmp_path / "model.npz")
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def run(files, *arguments):
    given = ["diagnose", files / "iob2.json", "--train", files / "train.txt", "--held-out", files / "dev.txt"]
    return invoke(*given, *arguments)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder with sentences and tuples, and constraints that `lcons learn` made of them."""
    folder = tmp_path_factory.mktemp("diagnose")
    rng = np.random.default_rng(0)
    sentences = [SENTENCES[i] for i in rng.integers(0, 3, 60)]
    write_columns(folder / "train.conll", sentences, CONLL2000)
    write_columns(folder / "dev.conll", SENTENCES, CONLL2000)
    write_lines(
        folder / "train.jsonl",
        [{"labels": s.labels, "words": s.words, "pos": s.columns["pos"]} for s in sentences],
    )
    scored = [
        {"emission": [[float(label == v) for v in LABELS] for label in s.labels], "words": s.words}
        for s in SENTENCES
    ]
    write_lines(folder / "scores.jsonl", [{"labels": LABELS}, *scored])
    (folder / "all.toml").write_text("evidence = false\n")
    for data, name, *options in [
        ("train.conll", "ngram", "-K", 3),
        ("train.conll", "pos", "-n", 1, "-K", 3),
        ("train.conll", "counts", "-K", 2),
    ]:
        more = ("--feature", name, "--recipe", folder / "all.toml", "--held-out-end")
        done = invoke("learn", folder / data, "-o", folder / f"{name}.json", *options, *more)
        assert done.exit_code == 0, done.output
    return folder


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(learned, monkeypatch):
    monkeypatch.chdir(learned)
    return learned


def test_the_report_goes_to_stdout(files):
    result = run(files)
    assert result.exit_code == 0
    assert "12 training and 12 held-out" in result.stdout
    assert "predictions" not in result.stdout


def test_predictions_of_a_file_are_judged(files):
    result = run(files, "--predictions", files / "predicted.txt", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["obedience"]["violations"]["value"] == pytest.approx(100 / 5)
    assert found["obedience"]["gold_violations"]["value"] == 0


def test_a_model_predicts_the_held_out_sentences(files):
    result = run(files, "--model", files / "model.npz", "--json", "--seed", "3")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["seed"] == 3
    assert found["obedience"]["accuracy"] == 100


@pytest.mark.parametrize(
    ("name", "train", "said"),
    [
        ("ngram", "train.jsonl", "48 training and 12 held-out sentences"),
        ("pos", "train.conll", "corrupted by `apart`"),
        ("counts", "train.conll", "corrupted by `perturb`"),
    ],
)
def test_constraints_and_data_are_diagnosed_on_what_learn_held_out(folder, name, train, said):
    result = invoke("diagnose", f"{name}.json", "--train", train)
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
    assert re.search(r"^(EXISTS|NO SUCH CONSTRAINT): ", result.stdout, re.MULTILINE)
    assert "as it records; the others are held out" in result.stderr


def test_scores_are_labelled_without_constraints_and_judged(folder):
    given = ("--train", "train.conll", "--held-out", "dev.conll", "--scores", "scores.jsonl", "--json")
    result = invoke("diagnose", "ngram.json", *given)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["obedience"]["accuracy"] == 100
    assert found["verdicts"] == ["exists", "found by the learner", "already obeyed"]
