"""`lcons diagnose`: constraint, data and model files in, a report out."""

import json

import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import iob2
from lcons_tasks.corpus import CONLL2000, Columns, Sentence, write_columns
from lcons_tasks.models.linear_crf import train_linear

SENTENCES = [
    Sentence(("the", "dog", "barks", "."), ("B-NP", "I-NP", "B-VP", "O"), {"pos": ("DT", "NN", "VBZ", ".")}),
    Sentence(("dogs", "bark", "at", "me"), ("B-NP", "B-VP", "O", "B-NP"), {"pos": ("NN", "VB", "IN", "PR")}),
    Sentence((".", "a", "big", "dog"), ("O", "B-NP", "I-NP", "I-NP"), {"pos": (".", "DT", "JJ", "NN")}),
] * 4


@pytest.fixture
def files(tmp_path):
    """A constraint, CoNLL files, predictions in a fourth column, and a model."""
    iob2(["B-NP", "I-NP", "B-VP", "O"]).save(tmp_path / "iob2.json")
    for name in ("train.txt", "dev.txt"):
        write_columns(tmp_path / name, SENTENCES, CONLL2000)
    wrong = [
        Sentence(s.words, ("O", "I-NP", *s.labels[2:]), {**s.columns, "gold": s.labels}) for s in SENTENCES
    ]
    layout = Columns(("word", "pos", "gold", "found"), "word", "found", ("pos", "gold"))
    write_columns(tmp_path / "predicted.txt", wrong, layout)
    train_linear(SENTENCES).save(tmp_path / "model.npz")
    return tmp_path


def run(files, *arguments):
    given = ["diagnose", files / "iob2.json", "--train", files / "train.txt", "--held-out", files / "dev.txt"]
    return CliRunner().invoke(main, [str(argument) for argument in (*given, *arguments)])


def test_the_report_goes_to_stdout(files):
    result = run(files)
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "ngram, n = 2; corrupted by `unseen`; seed 0\n12 training and 12 held-out"
    )
    assert "predictions" not in result.stdout


def test_predictions_of_a_file_are_judged(files):
    result = run(files, "--predictions", files / "predicted.txt", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["obedience"]["violations"]["value"] == pytest.approx(100 / 5)
    assert found["obedience"]["gold_violations"]["value"] == 0


def test_another_column_of_the_file_can_hold_the_predictions(files):
    result = run(files, "--predictions", files / "predicted.txt", "--predicted-column", "3", "--json")
    assert json.loads(result.stdout)["obedience"]["accuracy"] == 100


def test_a_model_predicts_the_held_out_sentences(files):
    result = run(files, "--model", files / "model.npz", "--json", "--seed", "3")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["seed"] == 3
    assert found["obedience"]["accuracy"] == 100


def test_columns_are_stated_by_name_or_number(files):
    write_columns(files / "dev.txt", SENTENCES, Columns(("l", "w", "p"), "w", "l", {"pos": "p"}))
    write_columns(files / "train.txt", SENTENCES, Columns(("l", "w", "p"), "w", "l", {"pos": "p"}))
    for columns in ("label,word,pos", "word=2,label=1", "word=-2,label=-3,pos=3"):
        assert run(files, "--columns", columns).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--columns", "word,pos"), "expected a column named `label`, found `word,pos`"),
        (("--negatives", "nowhere"), "unknown negatives 'nowhere'"),
        (("--predictions", "train.txt", "--predicted-column", "9"), "expected at least 9 columns"),
        (("--predictions", "other.txt"), "found others in sentence 1"),
        (("--predictions", "short.txt"), "expected 12 sentences"),
    ],
)
def test_errors_are_one_line(files, arguments, message):
    write_columns(files / "other.txt", SENTENCES[1:], CONLL2000)
    write_columns(files / "short.txt", SENTENCES[:5], CONLL2000)
    given = [files / argument if argument.endswith(".txt") else argument for argument in arguments]
    result = run(files, *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_a_model_and_predictions_are_one_too_many(files):
    result = run(files, "--model", "a", "--predictions", "b")
    assert result.exit_code == 2
    assert "not both" in result.stderr


def test_the_help_shows_an_example():
    assert "Example:\n    lcons diagnose" in CliRunner().invoke(main, ["diagnose", "--help"]).stdout
