"""`lcons diagnose`: a constraint, data of any kind and a model's answers in, a report out."""

import json
import re
import shlex
import subprocess
import sys

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
ALLOWED = {"Person": ("no", "kill"), "Place": ("no", "at"), "None": ("no",)}


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
    """A folder with data of every kind and constraints that `lcons learn` made of them."""
    folder = tmp_path_factory.mktemp("diagnose")
    rng = np.random.default_rng(0)
    sentences = [SENTENCES[i] for i in rng.integers(0, 3, 60)]
    write_columns(folder / "train.conll", sentences, CONLL2000)
    write_columns(folder / "dev.conll", SENTENCES, CONLL2000)
    lines = [{"labels": s.labels, "words": s.words, "pos": s.columns["pos"]} for s in sentences]
    (folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    pairs = []
    for _ in range(100):
        sources = rng.choice(list(ALLOWED), rng.integers(1, 4))
        pairs.append([[str(source), str(rng.choice(ALLOWED[source]))] for source in sources])
    (folder / "pairs.jsonl").write_text("".join(json.dumps({"tuples": one}) + "\n" for one in pairs))
    predicted = [[[source, "kill"] for source, _ in one] for one in pairs[80:]]
    (folder / "predicted.jsonl").write_text("".join(json.dumps({"tuples": one}) + "\n" for one in predicted))
    X = (rng.random((300, 6)) < 0.4).astype(int)
    valid = (X.sum(1) <= 2).astype(int)
    rows = [",".join(map(str, [*x, v])) + "\n" for x, v in zip(X, valid, strict=True)]
    (folder / "psi.csv").write_text("a,b,c,d,e,f,valid\n" + "".join(rows))
    np.savez(folder / "psi.npz", X=X, y=valid, names=np.array(list("abcdef")))
    scored = [
        {"emission": [[float(label == v) for v in LABELS] for label in s.labels], "words": s.words}
        for s in SENTENCES
    ]
    head = {"labels": LABELS}
    (folder / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [head, *scored]))
    packed = [row for one in scored for row in one["emission"]]
    np.savez(folder / "scores.npz", emission=packed, offsets=np.arange(0, 49, 4), labels=np.array(LABELS))
    for data, name, *options in [
        ("train.conll", "bigrams", "-K", 3),
        ("train.conll", "pos", "--feature", "pos", "-n", 1, "-K", 3),
        ("train.conll", "shape", "--feature", "shape", "-n", 1, "-K", 3),
        ("train.conll", "punctuation", "--feature", "punctuation", "-n", 1, "-K", 2),
        ("train.conll", "word", "--feature", "word", "-n", 1, "-K", 3),
        ("train.conll", "existence", "--feature", "existence", "-K", 2),
        ("train.conll", "counts", "--feature", "counts", "-K", 2),
        ("train.conll", "spans", "--feature", "counts", "--spans", "-K", 2),
        ("train.conll", "padded", "--pad", "-K", 3),
        ("pairs.jsonl", "pairs", "--names", "source,relation", "-K", 3),
        ("psi.csv", "psi", "-K", 2),
        ("train.conll", "all", "-K", 2, "--no-held-out"),
    ]:
        held_out = () if "--no-held-out" in options else ("--held-out-end",)
        done = invoke(
            "learn", folder / data, "-o", folder / f"{name}.json", *options, *held_out, "--all-rules", "-q"
        )
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def folder(learned, monkeypatch):
    monkeypatch.chdir(learned)
    return learned


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
    swapped = [Sentence(s.words, s.labels, s.columns) for s in SENTENCES]
    write_columns(files / "found.txt", swapped, Columns(("l", "w", "p"), "w", "l", {"pos": "p"}))
    given = ("--columns", "label,word,pos", "--predictions", files / "found.txt", "--predicted-column", 1)
    assert json.loads(run(files, *given, "--json").stdout)["obedience"]["accuracy"] == 100


@pytest.mark.parametrize(
    ("name", "train", "said"),
    [
        ("bigrams", "train.conll", "ngram, n = 2; corrupted by `unseen`"),
        ("bigrams", "train.jsonl", "48 training and 12 held-out sentences"),
        ("padded", "train.conll", "ngram, n = 2"),
        ("pos", "train.conll", "context of pos, n = 1; corrupted by `apart`"),
        ("pos", "train.jsonl", "context of pos, n = 1"),
        ("shape", "train.conll", "context of word, n = 1"),
        ("punctuation", "train.conll", "context of word, n = 1"),
        ("word", "train.conll", "context of word, n = 1"),
        ("existence", "train.conll", "existence, n = 1; corrupted by `flip`"),
        ("counts", "train.conll", "counts; corrupted by `perturb`"),
        ("spans", "train.conll", "counts; corrupted by `perturb`"),
        (
            "pairs",
            "pairs.jsonl",
            "tuples; corrupted by `unseen`; seed 0\n80 training and 20 held-out structures",
        ),
    ],
)
def test_every_kind_of_constraint_and_data_is_diagnosed_on_what_learn_held_out(folder, name, train, said):
    result = invoke("diagnose", f"{name}.json", "--train", train)
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
    assert re.search(r"^(EXISTS|NO SUCH CONSTRAINT): ", result.stdout, re.MULTILINE)
    assert "as it records; the others are held out" in result.stderr


def test_what_was_learned_from_is_what_training_is_beside_a_held_out_file(folder):
    result = invoke("diagnose", "bigrams.json", "--train", "train.conll", "--held-out", "dev.conll")
    assert "48 training and 12 held-out sentences" in result.stdout
    assert "learned from the first 80 % of the structures (48 of 60), as it records\n" in result.stderr


def test_learn_and_diagnose_read_a_file_alike_with_the_same_options(folder):
    of_tags = ("--columns", "word=1,label=2", "--format", "conll")
    done = invoke("learn", "train.conll", "-o", "tags.json", "-K", 2, "--held-out-end", *of_tags)
    assert done.exit_code == 0
    assert invoke("diagnose", "tags.json", "--train", "train.conll", *of_tags).exit_code == 0
    assert invoke("diagnose", "tags.json", "--train", "train.conll").exit_code == 2
    told = [
        re.findall(r"reading CoNLL columns (\S+)", invoke(*command).stderr)
        for command in (
            ("learn", "train.conll", "-o", "again.json", "-K", 1),
            ("diagnose", "bigrams.json", "--train", "train.conll"),
        )
    ]
    assert told == [["word=1,pos=2,label=-1"]] * 2


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.npz"])
def test_scores_are_labelled_without_constraints_and_judged(folder, name):
    given = ("--train", "train.conll", "--held-out", "dev.conll", "--scores", name, "--json")
    result = invoke("diagnose", "bigrams.json", *given)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["obedience"]["accuracy"] == 100
    assert [verdict["name"] for verdict in found["verdicts"]] == [
        "exists",
        "found by the learner",
        "already obeyed",
    ]


def test_labels_of_scores_that_the_constraint_does_not_know_are_one_warning(folder):
    lines = (folder / "scores.jsonl").read_text().splitlines()
    head = json.dumps({"labels": ["B-X", *LABELS[1:]]})
    (folder / "strange.jsonl").write_text("\n".join([head, *lines[1:]]))
    given = ("diagnose", "bigrams.json", "--train", "train.conll", "--held-out", "dev.conll", "--scores")
    result = invoke(*given, "strange.jsonl")
    # Every sentence has a B-NP.
    assert (result.exit_code, result.stdout) == (2, "")
    spare = [json.dumps({"labels": [*LABELS, "B-X"]})]
    spare += [
        json.dumps({"emission": [[*row, -1] for row in json.loads(line)["emission"]]}) for line in lines[1:]
    ]
    (folder / "spare.jsonl").write_text("\n".join(spare))
    result = invoke(*given, "spare.jsonl")
    assert result.exit_code == 0, result.stderr
    first = result.stdout.splitlines()[0]
    assert first.startswith(
        "warning: the scores have 5 labels, 1 of which the constraint does not have (B-X);"
    )
    (folder / "others.jsonl").write_text("\n".join([json.dumps({"labels": list("wxyz")}), *lines[1:]]))
    result = invoke(*given, "others.jsonl")
    assert result.exit_code == 2
    assert (
        "expected scores of the labels of the constraint (B-NP, B-VP, I-NP, O), found others" in result.stderr
    )


def test_predicted_tuples_are_judged(folder):
    given = ("pairs.json", "--train", "pairs.jsonl", "--predictions", "predicted.jsonl", "--json")
    found = json.loads(invoke("diagnose", *given).stdout)
    told = [json.loads(line)["tuples"] for line in (folder / "predicted.jsonl").read_text().splitlines()]
    broken = [source != "Person" for one in told for source, _ in one]
    assert found["obedience"]["violations"]["value"] == pytest.approx(100 * np.mean(broken))
    assert [verdict["name"] for verdict in found["verdicts"]] == [
        "exists",
        "found by the learner",
        "should help",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--columns", "word,word"),
        ("--columns", "pos,label"),
        ("--negatives", "nowhere"),
        ("--negatives", "apart"),
        ("--predictions", "train.txt", "--predicted-column", "9"),
        ("--predictions", "train.txt", "--predicted-column", "0"),
        ("--predictions", "other.txt"),
        ("--predictions", "short.txt"),
        ("--predictions", "none.txt"),
        ("--scores", "none.txt"),
        ("--scores", "train.txt"),
        ("--model", "none.txt"),
        ("--model", "train.txt"),
    ],
)
def test_errors_are_one_line(files, arguments):
    write_columns(files / "other.txt", SENTENCES[1:], CONLL2000)
    write_columns(files / "short.txt", SENTENCES[:5], CONLL2000)
    given = [files / argument if argument.endswith(".txt") else argument for argument in arguments]
    result = run(files, *given, "-q")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def test_the_help_shows_examples_that_run(folder):
    text = invoke("diagnose", "--help").stdout
    assert "Example:\n    lcons diagnose" in text
    # The first one has a model, and is run with those of other commands.
    first, *examples = re.findall(r"^ +lcons (diagnose .+)$", text, re.MULTILINE)
    assert "--model" in first
    assert len(examples) == 2
    for example in examples:
        result = invoke(*shlex.split(example))
        assert result.exit_code == 0, result.stderr


def test_the_command_runs_by_itself(folder):
    code = "from lcons_cli.main import main; main()"
    given = [sys.executable, "-c", code, "diagnose", "bigrams.json", "--train", "train.conll", "-q"]
    done = subprocess.run(given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "EXISTS: " in done.stdout
