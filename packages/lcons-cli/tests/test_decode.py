"""`lcons decode`: scores of one's own in, labels out, under constraint files."""

import io
import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from asking import LCONS, ask
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import LearnedConstraint, RectifierNetwork, iob2, learn_constraints, load
from lcons_core.features import Counts
from lcons_decode import ChainScores, Hard, Scored, forbidden_ngrams
from lcons_tasks import choose

LABELS = ["B-NP", "I-NP", "O"]
EMISSIONS = [[[0, 0, 1], [0, 3, 1]], [[1, 0, 0]], [[0, 1, 0], [0, 0, 2], [0, 1, 0]]]
WORDS = [["New", "York"], ["Rome"], ["in", ",", "by"]]
TAGS = [["NN", "NN"], ["NN"], ["IN", ",", "IN"]]
CONLL = "New B-NP\nYork I-NP\n\nRome B-NP\n\nin B-NP\n, O\nby B-NP\n\n"
SUMMARY = "lcons: sequences: 3 (6 tokens), changed by the constraints: 2, relaxed: 0\n"


def packed(lists):
    return [item for one in lists for item in one]


def json_lines(pos=True, head=True):
    columns = {"emission": EMISSIONS, "words": WORDS, **({"pos": TAGS} if pos else {})}
    lines = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(line) + "\n" for line in [{"labels": LABELS}][: int(head)] + lines)


def npz(**more):
    content = io.BytesIO()
    arrays = {"emission": packed(EMISSIONS), "offsets": [0, 2, 3, 6], "labels": LABELS}
    np.savez(content, words=packed(WORDS), **arrays, **more)
    return content.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decode")
    iob2(LABELS).save(folder / "iob2.json")
    pairs = [(first, second) for first in LABELS for second in LABELS]
    forbidden_ngrams(LABELS, pairs).save(folder / "nothing.json")
    train = [({"pos": ["NN", "NN", ","]}, ["B-NP", "I-NP", "O"]), ({"pos": ["IN", "NN"]}, ["O", "B-NP"])]
    learned = learn_constraints(train, "pos", n=1, hidden=2, negatives="relabel", many="all", evidence=None)
    learned.save(folder / "pos.json")
    feature = Counts(tuple(LABELS))
    one = LearnedConstraint(RectifierNetwork([[1.0, 0.0, 0.0]], [0.0]), feature.space, feature)
    one.save(folder / "one.json")
    (folder / "labels.txt").write_text("\n".join(LABELS))
    return folder


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def decode(*arguments, given=None):
        given = json_lines(pos=False) if given is None else given
        return CliRunner().invoke(main, ["decode", *map(str, arguments)], input=given)

    return decode


@pytest.mark.parametrize("given", [json_lines(pos=False), npz(), json_lines(pos=False, head=False)])
def test_scores_of_either_kind_come_out_as_columns(given, run):
    labels = ["--labels", "labels.txt"] if given == json_lines(pos=False, head=False) else []
    result = run("-c", "iob2.json", *labels, given=given)
    assert (result.exit_code, result.stdout, result.stderr) == (0, CONLL, SUMMARY)


GOLD = [["B-NP", "I-NP"], ["B-NP"], ["B-NP", "O", "B-NP"]]


def gold_lines(times=1):
    lines = [json.loads(line) for line in json_lines().splitlines()]
    for line, gold in zip(lines[1:], GOLD, strict=True):
        line["gold"] = gold
    return "".join(json.dumps(line) + "\n" for line in [lines[0], *lines[1:] * times])


def test_what_to_do_with_constraints_is_chosen_on_gold_labels(run):
    options = ("-c", "nothing.json", "-c", "iob2.json", "--choose")
    result = run(*options, given=gold_lines(5))
    assert result.stderr.splitlines()[-1] == "lcons: Next: lcons decode test.npz -c iob2.json:1"
    hard = [Hard(load(f"{name}.json"), name) for name in ("nothing", "iob2")]
    choice = choose([Scored(ChainScores(one, labels=LABELS)) for one in EMISSIONS * 5], hard, GOLD * 5)
    assert result.stdout == f"{choice}\n"
    assert json.loads(run(*options, "--json", given=gold_lines(5)).stdout) == choice.to_dict()


def test_hard_and_soft_constraints_and_columns_that_they_read_go_together(run):
    for given in (json_lines(), npz(pos=packed(TAGS))):
        result = run("-c", "pos.json:5", "-c", "iob2.json", given=given)
        assert result.stdout == "New NN B-NP\nYork NN I-NP\n\nRome NN B-NP\n\nin IN O\n, , O\nby IN O\n\n"
    assert run("-c", "iob2.json:100").stdout == CONLL != run("-c", "iob2.json:0.001").stdout


def test_global_constraints_are_exact_under_a_budget(run):
    statuses = run("-c", "one.json", "-c", "iob2.json", "--budget", "1", "--json").stdout.splitlines()
    assert [json.loads(line)["status"] for line in statuses] == ["optimal", "optimal", "out of budget"]


def test_the_examples_of_the_help_run(folder):
    text = CliRunner().invoke(main, ["decode", "--help"]).stdout
    example = re.search(r"  Example:\n((?:    .*\n)+)", text)[1].replace("\n    ", "\n").strip()
    assert example.startswith("lcons decode")
    (folder / "scores.npz").write_bytes(npz(pos=packed(TAGS)))
    (folder / "dev.jsonl").write_text(gold_lines(5))
    script = f'lcons() {{ {shlex.join(LCONS)} "$@"; }}\nset -e\n{example}\n'
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("New B-NP\nYork I-NP\n\nchosen by 5 folds")
    assert len((folder / "labels.jsonl").read_text().splitlines()) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
def test_each_sequence_is_answered_before_the_next_comes(folder):
    head, *sequences = json_lines().splitlines(keepends=True)
    command = [*LCONS, "-q", "decode", "--json", "-c", folder / "iob2.json", "-c", folder / "one.json"]
    answers = list(ask(command, [head + sequences[0], *sequences[1:]]))
    assert len(answers) == len(sequences)
    assert all(json.loads(answer)["labels"] for answer in answers)
