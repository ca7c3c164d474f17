"""`lcons learn`: labelled data in, a constraint file and what it says out."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import lcons_cli.learn as command
from lcons_cli import labelled_file
from lcons_cli.main import main
from lcons_core import Recipe, load
from lcons_tasks.own_data import Split, read_data

SENTENCES = [
    "Ann NNP B\nLee NNP I\nsings VBZ O\n. . O",
    "Oh UH O\n, , O\nAnn NNP B",
    "Ann NNP B\nAnn NNP B\nLee NNP I\nLee NNP I",
    "Oh UH O\n! . O",
    "sings VBZ O\nAnn NNP B\nLee NNP I",
]
PAIRS = [["Person", "NoRel"], ["Location", "NoRel"], ["Person", "Kill"], ["Location", "LocatedAt"]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data in every format."""
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(SENTENCES * 4) + "\n"
    for name in ("train.conll", "dev.conll", "plain.txt"):
        (tmp_path / name).write_text(text)
    (tmp_path / "tabs.txt").write_text(text.replace(" ", "\t").replace("Lee", "van Lee"))
    (tmp_path / "odd.conll").write_text("\n\n".join(SENTENCES * 4) + "\n\nOh UH O\nLee NNP I\n" * 5)
    (tmp_path / "pairs.jsonl").write_text((json.dumps({"tuples": PAIRS}) + "\n") * 10)
    (tmp_path / "psi.csv").write_text("k=a,k=b,m=c,m=d,valid\n" + "1,0,0,1,1\n0,1,1,0,1\n1,0,1,0,0\n" * 5)
    words = "1,0,0,1,feasible\n0,1,1,0,feasible\n1,0,1,0,infeasible\n" * 5
    (tmp_path / "words.csv").write_text("k=a,k=b,m=c,m=d,valid\n" + words)
    X, names = np.array([[1, 0], [0, 1], [1, 1]] * 5), np.array(["a", "b"])
    np.savez(tmp_path / "psi.npz", X=X, y=np.array([1, 1, 0] * 5), names=names)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["learn", *map(str, arguments)])


def test_columns_in_the_wrong_order_are_warned_of(folder, monkeypatch):
    monkeypatch.setattr(labelled_file, "_MANY_LABELS", 3)
    (folder / "swapped.conll").write_text("B Ann\nI Lee\nO sings\nO Oh\n\nB Bo\nO sighs\n" * 5)
    warned = "warning: swapped.conll has 6 different labels and 3 different words; if another column"
    assert warned in run("swapped.conll", "-o", "c.json").stderr
    right = run("swapped.conll", "-o", "c.json", "--columns", "label,word")
    assert right.exit_code == 0
    assert "different words" not in right.stderr


def test_the_constraint_is_written_and_said_in_words(folder):
    result = run("train.conll", "-o", "c.json", "-K", 3)
    assert result.exit_code == 0
    assert "Rules with evidence:\n- label 1 B cannot go with label 2 O  [" in result.stdout
    assert "learned from all 20 structures" in result.stdout
    assert "On held-out data (5 contiguous folds of train.conll, each held out once):" in result.stdout
    assert "forbids 0 of 20 valid structures, 0 of 44 of their parts\n  so on new data" in result.stdout
    assert "by chance, seen 0; rejects under " in result.stdout
    assert (
        "not forbidden (too rare to tell): 1, such as\n- label 1 I, label 2 B  [expected 2.2" in result.stdout
    )
    assert result.stdout.splitlines()[-1].startswith("Advice: use it as a soft constraint, and label more")
    assert "warning" not in result.stderr
    assert "reading CoNLL columns word=1,pos=2,label=-1" in result.stderr
    constraint = load("c.json")
    assert constraint.satisfied(["B", "I", "O"])
    assert not constraint.satisfied(["O", "I"])
    recorded = constraint.provenance["split"]
    assert Split.from_dict(recorded).learned_from_words == "all 20 structures"
    assert (recorded["folds"], recorded["held_out"]) == (5, [])
    assert constraint.provenance["bound"] == {"rejected": 0, "parts": 44, "share": 0.065819}
    assert constraint.provenance["evidence"][0]["bound"]["rejected"] == 0


def test_evidence_is_a_number_or_not_needed(folder):
    assert "2 invalid ones" in run("train.conll", "-o", "c.json", "-K", 3, "--no-held-out").stdout
    assert load("c.json").satisfied(["I", "B"])
    for options in (("--evidence", 1), ("--all-rules",)):
        result = run("train.conll", "-o", "c.json", "-K", 3, "--no-held-out", *options)
        assert "3 invalid ones" in result.stdout
        assert ("Rules with evidence:" in result.stdout) == ("--all-rules" not in options)
        assert not load("c.json").satisfied(["I", "B"])
    assert load("c.json").provenance["recipe"]["evidence"] is None
    result = run("train.conll", "-o", "c.json", "-K", 3, "--evidence", 99)
    assert "nothing is forbidden." in result.stdout
    assert "Advice: do not use it, because it forbids nothing; label more data, or lower --evidence." in (
        result.stdout
    )


def test_a_rare_label_of_the_end_is_in_the_constraint(folder):
    (folder / "late.conll").write_text("\n\n".join([*SENTENCES * 5, "Oh UH X\n! . O"]))
    result = run("late.conll", "-o", "c.json", "-K", 3)
    assert load("c.json").labels == ("B", "I", "O", "X")
    assert "not judged: 1 (structure 26: unknown label 'X')" in result.stdout


@pytest.mark.parametrize(
    ("options", "learned_from", "held_out"),
    [
        ((), [("train.conll", "all", 20, 20)], []),
        (("--no-held-out",), [("train.conll", "all", 20, 20)], []),
        (("--held-out-end",), [("train.conll", "first", 16, 20)], [("train.conll", "last", 4, 20)]),
        (("--refit",), [("train.conll", "all", 20, 20)], []),
        (("--dev", "odd.conll"), [("train.conll", "all", 20, 20)], [("odd.conll", "all", 25, 25)]),
        (
            ("--dev", "odd.conll", "--refit"),
            [("train.conll", "all", 20, 20), ("odd.conll", "all", 25, 25)],
            [],
        ),
    ],
)
def test_a_constraint_records_which_part_of_which_file_it_learned_from(
    folder, options, learned_from, held_out
):
    assert run(folder / "train.conll", "-o", "c.json", "-K", 2, "-q", *options).exit_code == 0
    provenance = load("c.json").provenance
    found = Split.from_dict(provenance["split"])
    shown = [
        [(p.file, p.which, p.count, p.of) for p in side] for side in (found.learned_from, found.held_out)
    ]
    assert shown == [learned_from, held_out]
    assert "learned_from" not in provenance


@pytest.mark.parametrize(
    "options", [("-K", 2), ("-K", "auto"), ("--feature", "pos", "-n", 1, "--caution", 3)]
)
def test_the_recipe_in_a_file_learns_the_same_again(folder, options):
    assert run("train.conll", "-o", "c.json", "-q", *options).exit_code == 0
    constraint = load("c.json")
    recipe = Recipe.from_dict(constraint.provenance["recipe"])
    train = read_data("train.conll", "conll")
    assert recipe.learn(train.instances).network == constraint.network


def test_what_is_forbidden_of_gold_is_said_loudly(folder):
    result = run("odd.conll", "-o", "c.json", "-K", 3, "-q", "--all-rules")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: the constraint forbids 5 of 25 gold structures in held-out folds,")
    assert "structure 21 (Oh/O Lee/I): label 1 O, label 2 I" in line
    assert "- 5 x label 1 O, label 2 I (first in 21: Oh/O Lee/I)" in result.stdout
    found = json.loads(run("odd.conll", "-o", "c.json", "-K", 3, "-q", "--json", "--all-rules").stdout)
    assert found["use"] == "soft"
    assert [f"warning: {text}" for text in found["warnings"]] == [line]
    assert found["held_out"]["forbidden_structures"] == 5
    assert found["constraint"] == "c.json"


def test_held_out_data_may_be_a_file_or_none(folder):
    result = run("train.conll", "-o", "c.json", "--dev", "odd.conll", "-K", 3)
    assert "learned from all 20 structures" in result.stdout
    assert "On held-out data (25 structures of odd.conll)" in result.stdout
    assert "warning: the constraint forbids 5 of 25 gold structures in held-out data" in result.stderr
    result = run("train.conll", "-o", "c.json", "--no-held-out", "-K", 3)
    assert "learned from all 20 structures" in result.stdout
    assert "On the data that it learned from (nothing was held out)" in result.stdout


def test_refit_saves_a_constraint_of_everything(folder):
    result = run("train.conll", "-o", "c.json", "-K", 3, "--dev", "odd.conll", "--refit")
    assert "learned from all 45 structures, held-out ones too" in result.stdout
    assert "forbids 5 of 25 valid structures" in result.stdout
    assert load("c.json").satisfied(["O", "I"])
    (warning,) = (line for line in result.stderr.splitlines() if line.startswith("warning"))
    assert warning.startswith(
        "warning: before it was learned again with held-out data, the constraint forbids"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("pairs.jsonl", "--names", "source,relation", "-K", 2),
            "source Location cannot go with relation Kill",
        ),
        (("psi.csv", "-K", 1), "k a needs m d"),
        (("words.csv", "-K", 1, "--valid", "feasible"), "k a needs m d"),
        (("words.csv", "-K", 1, "--valid", "infeasible"), "1 valid vectors and 2 invalid ones, given"),
        (("psi.npz", "-K", 1), "psi of 2 columns"),
        (("plain.txt", "--feature", "pos", "-n", 1, "-K", 2, "--context", "pos"), "constraint: pos, n = 1"),
        (("train.conll", "--feature", "existence", "-K", 2), "constraint: existence, n = 1"),
        (("train.conll", "--feature", "counts", "--spans", "-K", 2), "constraint: counts"),
        (("train.conll", "--feature", "shape", "--pad", "-K", 2), "shape, n = 2, padded"),
        (
            ("train.conll", "-K", 2, "--cv", "--folds", 2, "--all-rules"),
            "chosen from 9 settings by cross-validation",
        ),
        (
            ("train.conll", "-K", "1,2", "--folds", 2, "--all-rules"),
            "chosen from 2 settings by cross-validation",
        ),
        (("train.conll", "-K", "auto"), "chosen K = "),
        (("tabs.txt", "--tabs", "-K", 2), "constraint: ngram, n = 2, 3 labels"),
        (("train.conll", "--negatives", "relabel", "--many", "all"), "made by `relabel`"),
        (("train.conll", "--min-support", 5, "--caution", 4), "made by `unseen`"),
    ],
)
def test_formats_features_and_settings(folder, arguments, said):
    result = run(*arguments, "-o", "c.json")
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
    load("c.json")


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-file.conll",),
        ("no-such-file",),
        ("words.txt",),
        ("empty.conll",),
        ("empty.jsonl",),
        ("empty.csv",),
        ("words.txt", "--format", "npz"),
        ("train.conll", "--columns", "word,pos,label=7"),
        ("train.conll", "--columns", "pos"),
        ("train.conll", "--feature", "pos", "--columns", "word,_,label"),
        ("train.conll", "--feature", "pairs"),
        ("train.conll", "--feature", "counts", "-n", "2"),
        ("psi.csv", "--feature", "ngram"),
        ("psi.csv", "--columns", "a,b"),
        ("words.csv",),
        ("train.conll", "--valid", "O"),
        ("one.conll",),
        ("train.conll", "--dev", "psi.csv"),
        ("train.conll", "--dev", "nowhere.conll"),
        ("train.conll", "--cv", "--folds", "90"),
        ("train.conll", "--min-support", "nan"),
        ("train.conll", "--min-support", "1000000"),
        ("train.conll", "--dev", "other.conll"),
        ("constant.conll", "--feature", "pos"),
        ("train.conll", "--feature", "counts", "--evidence", "2"),
        ("psi.csv", "--evidence", "2"),
        ("short.conll",),
        ("tabs.txt", "--format", "conll"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(folder, arguments):
    (folder / "words.txt").write_text("Some words.\nAnd some more of them.\n")
    (folder / "one.conll").write_text("a O\nb O\n\n" * 9)
    (folder / "short.conll").write_text("a O\n\nb B\n\n" * 9)
    (folder / "other.conll").write_text("a N X\nb N Y\n\n" * 9)
    (folder / "constant.conll").write_text("a N O\nb N B\n\n" * 9)
    for name in ("empty.conll", "empty.jsonl", "empty.csv"):
        (folder / name).touch()
    before = sorted(folder.iterdir())
    result = run(*arguments, "-o", "c.json", "-q")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("output", ["nowhere/c.json", "train.conll/c.json", "."])
def test_an_output_that_cannot_be_written_is_told_before_the_work(folder, monkeypatch, output):
    monkeypatch.setattr(command, "read_labelled", None)
    result = run("train.conll", "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"lcons: error: cannot write '{output}'")
    assert result.stderr.count("\n") == 1


def test_data_are_not_replaced(folder):
    before = (folder / "train.conll").read_bytes()
    result = run("train.conll", "-o", "train.conll")
    assert result.exit_code == 2
    assert "would replace the input" in result.stderr
    assert (folder / "train.conll").read_bytes() == before


def test_an_interrupt_leaves_no_file(folder, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("lcons_tasks.own_data._learn.Recipe.learn_examples", interrupt)
    before = sorted(folder.iterdir())
    assert run("train.conll", "-o", "c.json").exit_code != 0
    assert sorted(folder.iterdir()) == before


def test_the_same_seed_writes_the_same_file(folder):
    for name in ("a.json", "b.json"):
        assert run("train.conll", "-o", name, "-K", 2, "--seed", 5).exit_code == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


def test_the_examples_of_the_help_run(folder):
    text = CliRunner().invoke(main, ["learn", "--help"]).stdout
    examples = re.findall(r"^ +lcons (learn .+)$", text, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        result = CliRunner().invoke(main, shlex.split(example))
        assert result.exit_code == 0, result.stderr
        load(shlex.split(example)[3])


def test_the_command_runs_by_itself(folder):
    code = "from lcons_cli.main import main; main()"
    given = [sys.executable, "-c", code, "learn", "train.conll", "-o", "c.json", "-K", "2", "-q"]
    done = subprocess.run(given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Rules with evidence:" in done.stdout


def test_a_doubtful_fit_to_a_table_is_a_warning_and_wrong_labels_are_set_aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    X = (np.arange(2**9)[:, None] >> np.arange(9) & 1)[draw.permutation(2**9)[:300]]
    header = ",".join(f"c{i}" for i in range(9)) + ",valid\n"
    for name, labels in (
        ("random.csv", draw.random(300) < 0.5),
        ("noisy.csv", (X[:, :3].sum(1) <= 1) ^ (draw.random(300) < 0.08)),
    ):
        rows = (f"{','.join(map(str, row))},{int(label)}" for row, label in zip(X, labels, strict=True))
        (tmp_path / name).write_text(header + "\n".join(rows) + "\n")
    random = run("random.csv", "-o", "c.json", "-K", 1, "--no-held-out")
    assert random.exit_code == 0
    assert "warning: the network is right on only" in random.stderr
    assert "% of held-out ones; increase --hidden, use other columns, or pass --robust if" in random.stderr
    noisy = run("noisy.csv", "-o", "c.json", "-K", 2, "--no-held-out", "--robust")
    assert noisy.exit_code == 0
    assert " vectors were set aside, because their labels disagree with the others" in noisy.stdout
    assert "warning: the network" not in noisy.stderr
    assert load("c.json").provenance["recipe"]["robust"] is True
