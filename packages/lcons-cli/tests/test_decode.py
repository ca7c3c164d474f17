"""`lcons decode`: scores of one's own in, labels out, under constraint files."""

import io
import json
import re
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest
from asking import LCONS, ask, leave
from click.testing import CliRunner

import lcons_decode._stream
from lcons_cli.main import main
from lcons_core import LearnedConstraint, RectifierNetwork, iob2, learn_constraints, load
from lcons_core.features import Counts, Existence
from lcons_decode import ChainScores, Hard, Scored, Soft, constrained_viterbi, forbidden_ngrams
from lcons_decode._constraints import COSTS
from lcons_tasks import choose

LABELS = ["B-NP", "I-NP", "O"]
EMISSIONS = [[[0, 0, 1], [0, 3, 1]], [[1, 0, 0]], [[0, 1, 0], [0, 0, 2], [0, 1, 0]]]
WORDS = [["New", "York"], ["Rome"], ["in", ",", "by"]]
TAGS = [["NN", "NN"], ["NN"], ["IN", ",", "IN"]]
CONLL = "New B-NP\nYork I-NP\n\nRome B-NP\n\nin B-NP\n, O\nby B-NP\n\n"
SUMMARY = "lcons: sequences: 3 (6 tokens), changed by the constraints: 2 (3 labels), relaxed: 0\n"


def packed(lists):
    return [item for one in lists for item in one]


def json_lines(words=True, pos=True, head=True):
    lines = [{"labels": LABELS}] if head else []
    for i, emission in enumerate(EMISSIONS):
        lines.append({"emission": emission})  # type: ignore[dict-item]
        lines[-1].update({"words": WORDS[i]} if words else {})
        lines[-1].update({"pos": TAGS[i]} if pos else {})
    return "".join(json.dumps(line) + "\n" for line in lines)


def npz(words=True, **more):
    content = io.BytesIO()
    given = {"words": packed(WORDS)} if words else {}
    arrays = {"emission": packed(EMISSIONS), "offsets": [0, 2, 3, 6], "labels": LABELS, **given, **more}
    np.savez(content, **{key: value for key, value in arrays.items() if value is not None})
    return content.getvalue()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """The first decoding compiles, which may take long enough to be told."""
    monkeypatch.setattr("lcons_cli.progress.PATIENCE", 3600.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decode")
    iob2(LABELS).save(folder / "iob2.json")
    iob2(["B-X", "I-X"]).save(folder / "other.json")
    pairs = [(first, second) for first in LABELS for second in LABELS]
    forbidden_ngrams(LABELS, pairs).save(folder / "nothing.json")
    train = [({"pos": ["NN", "NN", ","]}, ["B-NP", "I-NP", "O"]), ({"pos": ["IN", "NN"]}, ["O", "B-NP"])]
    learned = learn_constraints(train, "pos", n=1, hidden=2, negatives="relabel", many="all", evidence=None)
    learned.save(folder / "pos.json")
    feature = Counts(tuple(LABELS))
    one = LearnedConstraint(RectifierNetwork([[1.0, 0.0, 0.0]], [0.0]), feature.space, feature)
    one.save(folder / "one.json")
    many = Counts(tuple(LABELS), high=500)
    LearnedConstraint(RectifierNetwork([[1.0, 0.0, 0.0]], [0.0]), many.space, many).save(folder / "many.json")
    (folder / "damaged.json").write_text("{")
    (folder / "labels.txt").write_text("\n".join(LABELS))
    (folder / "scores.npz").write_bytes(npz())
    (folder / "scores.jsonl").write_text(json_lines())
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


def test_a_file_is_read_like_stdin(run, folder):
    (folder / "plain.jsonl").write_text("\ufeff" + json_lines(pos=False), encoding="utf-8")
    assert run("scores.npz", "-c", "iob2.json").stdout == CONLL
    assert run("plain.jsonl", "-c", "iob2.json").stdout == run("-", "-c", "iob2.json").stdout == CONLL


def test_without_constraints_or_words_there_are_labels_alone(run):
    result = run(given=json_lines(words=False, pos=False))
    assert result.stdout == "O\nI-NP\n\nB-NP\n\nI-NP\nO\nI-NP\n\n"
    assert result.stderr == "lcons: sequences: 3 (6 tokens)\n"


@pytest.mark.parametrize("option", ["--json", "--format=json"])
def test_json_has_an_object_a_sequence(option, run):
    result = run("-c", "iob2.json", option, given=json_lines())
    first, second, _ = map(json.loads, result.stdout.splitlines())
    assert first == {
        "words": ["New", "York"],
        "pos": ["NN", "NN"],
        "labels": ["B-NP", "I-NP"],
        "without": ["O", "I-NP"],
        "score": 3.0,
        "status": "optimal",
        "changed": 1,
        "violations": [],
    }
    assert second["changed"] == 0


def test_a_weight_makes_a_constraint_soft(run):
    scores = [ChainScores(emission, labels=LABELS) for emission in EMISSIONS]
    for weight, options in ((0.5, ["-c", "iob2.json:0.5"]), (0.5, ["-c", "iob2.json", "--soft", "0.5"])):
        found = [json.loads(line) for line in run(*options, "--json").stdout.splitlines()]
        expected = [constrained_viterbi(one, [Soft(iob2(LABELS), weight, cost="hinge")]) for one in scores]
        assert [(tuple(o["labels"]), o["score"]) for o in found] == [(a.y, a.score) for a in expected]
    hard = run("-c", "iob2.json:100", given=npz()).stdout
    assert hard == CONLL != run("-c", "iob2.json:0.001").stdout


@pytest.mark.parametrize("cost", COSTS)
def test_the_cost_of_soft_constraints_is_an_option(cost, run):
    result = run("-c", "iob2.json:0.5", "--soft-cost", cost, "--json")
    scores = [ChainScores(emission, labels=LABELS) for emission in EMISSIONS]
    expected = [constrained_viterbi(one, [Soft(iob2(LABELS), 0.5, cost=cost)]).score for one in scores]
    assert [json.loads(line)["score"] for line in result.stdout.splitlines()] == expected


GOLD = [["B-NP", "I-NP"], ["B-NP"], ["B-NP", "O", "B-NP"]]


def gold_lines(times=1):
    lines = [json.loads(line) for line in json_lines().splitlines()]
    for line, gold in zip(lines[1:], GOLD, strict=True):
        line["gold"] = gold
    return "".join(json.dumps(line) + "\n" for line in [lines[0], *lines[1:] * times])


def test_what_to_do_with_constraints_is_chosen_on_gold_labels(run):
    options = ("-c", "nothing.json", "-c", "iob2.json", "--choose")
    result = run(*options, given=gold_lines(5))
    assert result.exit_code == 0
    chosen, *others = result.stderr.splitlines()
    assert chosen == (
        "lcons: chosen by 5 folds of 15 sequences: iob2: soft, weight 1, cost hinge; expected gain in span"
        " F1: +25.00 [+8.33, +50.00] points"
    )
    assert others[0].startswith("lcons: sequences: 15 (30 tokens), changed by the constraints: 10")
    assert others[-1] == "lcons: Next: lcons decode test.npz -c iob2.json:1"
    by_hand = run("-c", "iob2.json:2", given=gold_lines(5))
    assert result.stdout == by_hand.stdout
    choice = choose(
        [Scored(ChainScores(one, labels=LABELS)) for one in EMISSIONS * 5],
        [Hard(load("nothing.json"), "nothing"), Hard(load("iob2.json"), "iob2")],
        GOLD * 5,
    )
    assert chosen == f"lcons: {choice}"
    first, *rest = map(json.loads, run(*options, "--json", given=gold_lines(5)).stdout.splitlines())
    assert first["choice"] == choice.to_dict()
    assert not any("choice" in one for one in rest)


def test_nothing_is_a_choice(run):
    result = run("-c", "nothing.json", "--choose", given=gold_lines(5))
    assert result.stdout == run(given=gold_lines(5)).stdout
    assert "Next" not in result.stderr
    assert "15 sequences: nothing; expected gain in span F1: +0.00 [+0.00, +0.00] points" in result.stderr


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ([], gold_lines(5), "--choose chooses among constraints, found none; add one with `-c FILE`."),
        (
            ["-c", "iob2.json:1"],
            gold_lines(5),
            "also chooses the weights, found a weight of 'iob2'; leave it",
        ),
        (
            ["-c", "iob2.json", "--soft", "1"],
            gold_lines(5),
            "also chooses the weights, found --soft 1; leave",
        ),
        (["-c", "iob2.json"], json_lines(), "needs the gold labels of at least 5 sequences, found 0; add a"),
        (["-c", "iob2.json"], gold_lines(1), "needs the gold labels of at least 5 sequences, found 3; add a"),
    ],
)
def test_a_choice_needs_constraints_and_gold_labels(options, given, message, run):
    result = run(*options, "--choose", given=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_hard_and_soft_constraints_and_columns_that_they_read_go_together(run):
    result = run("-c", "pos.json:5", "-c", "iob2.json", given=json_lines())
    assert result.stdout == ("New NN B-NP\nYork NN I-NP\n\nRome NN B-NP\n\nin IN O\n, , O\nby IN O\n\n")
    columns = npz(pos=packed(TAGS))
    assert run("-c", "pos.json:5", "-c", "iob2.json", given=columns).stdout == result.stdout


def test_a_beam_searches_as_the_paper_does(run):
    wide, narrow = (run("-c", "iob2.json", "--beam", width, "--json") for width in (10, 1))
    assert json.loads(wide.stdout.splitlines()[0])["labels"] == ["B-NP", "I-NP"]
    first = json.loads(narrow.stdout.splitlines()[0])
    assert (first["labels"], first["status"]) == (["O", "O"], "heuristic")


def test_global_constraints_are_exact_under_a_budget(run):
    result = run("-c", "one.json", "-c", "iob2.json", "--json")
    assert json.loads(result.stdout.splitlines()[2])["labels"] == ["B-NP", "O", "O"]
    short = run("-c", "one.json", "-c", "iob2.json", "--budget", "1")
    assert "relaxed: 0, out of budget: 1 (raise --budget)\n" in short.stderr
    statuses = run("-c", "one.json", "-c", "iob2.json", "--budget", "1", "--json").stdout.splitlines()
    assert [json.loads(line)["status"] for line in statuses] == ["optimal", "optimal", "out of budget"]


def test_transitions_count(run):
    head = {"labels": LABELS, "transition": [[0, 9, 0], [0, 0, 0], [0, 0, 0]], "start": [1, 0, 0]}
    line = {"emission": [[0, 0, 0], [0, 0, 5]]}
    given = json.dumps(head) + "\n" + json.dumps(line)
    assert run(given=given).stdout == "B-NP\nI-NP\n\n"
    arrays = {**head, "emission": line["emission"], "offsets": [0, 2]}
    assert run(given=npz(words=False, **arrays)).stdout == "B-NP\nI-NP\n\n"


def test_sequences_that_cannot_satisfy_the_constraints_are_counted_and_told(run):
    result = run("-c", "nothing.json", "--json")
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == [
        "relaxed",
        "optimal",
        "relaxed",
    ]
    assert json.loads(result.stdout.splitlines()[0])["violations"] == [
        {"constraint": "nothing", "position": 1}
    ]
    assert result.stderr.endswith("relaxed: 2\n")
    impossible = run("-c", "iob2.json", given='{"labels": ["O"]}\n{"emission": [[-Infinity]]}\n')
    assert (impossible.stdout, impossible.exit_code) == ("_\n\n", 0)
    assert "infeasible: 1" in impossible.stderr


def test_verbose_says_what_each_constraint_is_for_and_quiet_nothing(run):
    result = run("-v", "-c", "iob2.json", "-c", "nothing.json:0")
    assert result.stderr == SUMMARY + (
        "lcons: iob2 (hard): broken in 2 sequences by the scores alone, in 0 now\n"
        "lcons: nothing (soft, weight 0): broken in 2 sequences by the scores alone, in 2 now\n"
    )
    assert run("-q", "-c", "iob2.json").stderr == ""


def test_words_of_any_kind_are_kept(run):
    words = ["語\u2028", "half \ud83d", "\x00 "]
    head, line = {"labels": ["A"]}, {"emission": [[0]] * 3, "words": words, "id": [1, "x"]}
    result = run("--json", given=json.dumps(head) + "\n" + json.dumps(line))
    found = json.loads(result.stdout)
    assert (found["words"], found["id"], result.stdout.count("\n")) == (words, [1, "x"], 1)


def test_between_tabs_words_may_hold_blanks(run):
    given = '{"labels": ["A"]}\n{"emission": [[0], [0]], "words": ["Hà Nội", "đẹp"], "pos": ["N p", "A"]}\n'
    result = run("--tabs", given=given)
    assert (result.exit_code, result.stdout) == (0, "Hà Nội\tN p\tA\nđẹp\tA\tA\n\n")
    assert run("--tabs", "-c", "iob2.json").stdout == CONLL.replace(" ", "\t")


def test_scores_that_allow_nothing_are_told_in_the_help(run):
    given = '{"labels": ["A", "B"]}\n{"emission": [[0, 1], [-Infinity, -Infinity]]}\n'
    assert run(given=given).stdout == "_\n_\n\n"
    (found,) = map(json.loads, run("--json", given=given).stdout.splitlines())
    assert (found["labels"], found["status"]) == (None, "infeasible")
    text = " ".join(run("--help").stdout.split())
    assert "the score -Infinity" in text
    assert "are `_`, or null in JSON, and it is counted as infeasible" in text


NO_LABELS = json_lines(head=False)


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["none.npz"], "", "cannot read 'none.npz': No such file or directory"),
        (["."], "", "a folder needs the labels of its scores, `--labels FILE`"),
        (["a\0b"], "", "cannot read 'a\\x00b'"),
        (["-c", "none.json"], None, "cannot read 'none.json'"),
        (["-c", "damaged.json"], None, "'damaged.json' is no constraint file"),
        (
            ["-c", "other.json"],
            None,
            "expected scores of the labels of the constraint 'other' (B-X, I-X), found none of them",
        ),
        (["-c", "pos.json"], None, "standard input:2: expected 'pos' next to the scores"),
        (["-c", "pos.json"], npz(), "standard input: sequence 1: expected 'pos' next to the scores"),
        (["-c", "iob2.json", "-c", "iob2.json"], None, "each constraint file once"),
        (["-c", "iob2.json:-1"], None, "a soft weight must be finite and at least 0"),
        (["-c", "iob2.json:x"], None, "a weight after the colon of 'iob2.json:x', as for a soft"),
        (["--soft", "1"], None, "--soft is the weight of constraints"),
        (["--tabs", "--json"], None, "--tabs is for columns, found --json"),
        (["--tabs"], '{"labels": ["A"]}\n{"emission": [[1]], "words": ["a\\tb"]}', "write --json"),
        (["--labels", "none.txt"], NO_LABELS, "cannot read 'none.txt'"),
        ([], NO_LABELS, "standard input:1: expected the names of the labels, found none"),
        ([], NO_LABELS, "before the first sequence, or pass --labels FILE."),
        ([], "", "expected the scores of at least one sequence, found none"),
        ([], '{"labels": ["A"]}\n', "expected the scores of at least one sequence, found none"),
        ([], npz(words=False, emission=np.zeros((0, 3)), offsets=[0]), "at least one sequence, found none"),
        ([], "The dog barked.", "standard input:1: expected a JSON object (or an npz file)"),
        ([], b"\xff\xfe", "standard input:1: expected a JSON object"),
        ([], b"\xff\xfe", "save the file as UTF-8"),
        ([], b"\x93NUMPY\x01\0", "write npz with numpy.savez"),
        ([], npz()[:-40], "standard input is not an npz file that lcons can read"),
        ([], npz(offsets=[0, 2]), "expected offsets that rise from 0 to 6"),
        ([], npz(labels=["A", "B"]), "found (6, 3)"),
        ([], '{"labels": ["A"]}\n{"emission": [[1, 2]]}', "standard input:2: expected emission of shape"),
        ([], '{"labels": ["A"]}\n{"emission": [[1]], "words": ["a b"]}', "found 'a b', which CoNLL"),
        ([], '{"labels": ["A"]}\n{"emission": [[1]], "words": ["a b"]}', "; pass --tabs for one"),
        ([], '{"labels": ["A"]}\n{"emission": [[1]], "words": ["a b"]}', "or write --json."),
        (
            [],
            '{"labels": ["A"]}\n{"emission": [[1]], "words": ["a"]}\n{"emission": [[1]]}',
            "standard input:3: expected the columns of the first sequence (word), found none",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, given, message, run):
    result = run(*arguments, given=given)
    assert result.exit_code == 2
    assert result.stderr.startswith("lcons: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_long_work_says_how_long_it_will_take(run, monkeypatch):
    decode = lcons_decode.decode_scored

    def slow(*arguments, **options):
        for found in decode(*arguments, **options):
            yield found
            time.sleep(0.2)

    monkeypatch.setattr(lcons_decode, "decode_scored", slow)
    monkeypatch.setattr(lcons_decode._stream, "CHUNK_SEQUENCES", 1)
    monkeypatch.setattr("lcons_cli.progress.PATIENCE", 0.1)
    result = run("-c", "iob2.json", given=json_lines(pos=False) * 2)
    *signs, summary = result.stderr.splitlines()
    # After 0.1 s and each time as long has passed again, not all the time.
    assert 1 <= len(signs) <= 8
    expected = r"lcons: \d sequences \(\d+%\) so far; (about \d+ s|less than a second) to go"
    assert any(re.fullmatch(expected, sign) for sign in signs)
    assert summary.startswith("lcons: sequences: 6 (12 tokens)")
    assert run("-q", "-c", "iob2.json").stderr == ""


def test_one_long_sequence_gives_a_sign_of_life(run, monkeypatch):
    monkeypatch.setattr("lcons_cli.progress.PATIENCE", 0.05)
    emission = np.random.default_rng(0).normal([3, 0, 0], size=(400, 3))
    given = f"{json.dumps({'labels': LABELS})}\n{json.dumps({'emission': emission.tolist()})}\n"
    result = run("-c", "many.json", "--budget", "3000", given=given)
    *signs, summary = result.stderr.splitlines()
    assert summary.endswith("out of budget: 1 (raise --budget)")
    expected = r"lcons: standard input:2 \(400 tokens\): [\d,]+ of at most 3,000 labellings tried"
    assert any(re.fullmatch(expected, sign) for sign in signs)


# In a process of its own.


def test_the_examples_of_the_help_run(folder):
    text = CliRunner().invoke(main, ["decode", "--help"]).stdout
    example = re.search(r"  Example:\n((?:    .*\n)+)", text)[1].replace("\n    ", "\n").strip()
    assert example.startswith("lcons decode")
    (folder / "scores.npz").write_bytes(npz(pos=packed(TAGS)))
    (folder / "dev.jsonl").write_text(gold_lines(5))
    script = f'lcons() {{ {shlex.join(LCONS)} "$@"; }}\nset -e\n{example}\n'
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "New B-NP\nYork I-NP\n\n"), done.stderr
    assert len((folder / "labels.jsonl").read_text().splitlines()) == 3
    assert len((folder / "chosen.conll").read_text().split("\n\n")) == 16


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
@pytest.mark.parametrize("kind", ["local", "global"])
def test_each_sequence_is_answered_before_the_next_comes(kind, folder):
    head, *sequences = json_lines().splitlines(keepends=True)
    constraint = folder / "iob2.json"
    if kind == "global":
        constraint = folder / "existence.json"
        feature = Existence(("B-NP", "I-NP", "O"), n=1)
        LearnedConstraint(RectifierNetwork([[0.0, 0.0, 2.0]], [-1.0]), feature.space, feature).save(
            constraint
        )
    command = [*LCONS, "decode", "-q", "--json", "-c", constraint]
    answers = list(ask(command, [head + sequences[0], *sequences[1:]]))
    assert len(answers) == len(sequences)
    assert all(json.loads(answer)["labels"] for answer in answers)


def test_gold_labels_tell_what_the_constraints_did(folder):
    lines = [json.loads(line) for line in json_lines().splitlines()]
    for line, gold in zip(lines[1:], (["B-NP", "I-NP"], ["O"], ["B-NP", "O", "O"]), strict=True):
        line["gold"] = gold
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = CliRunner().invoke(main, ["decode", "-c", str(folder / "iob2.json")], input=text)
    assert done.exit_code == 0
    spans, accuracy = done.stderr.splitlines()[-2:]
    right = "by the column `gold`: 33.33% by the scores alone, 66.67% now: +33.33 ["
    assert spans.startswith(f"lcons: span F1 {right}")
    assert accuracy.startswith(f"lcons: token accuracy {right}")
    assert accuracy.endswith("] points")


def test_labels_that_are_no_spans_have_an_accuracy_alone(folder):
    text = '{"labels": ["NN", "VB"]}\n{"emission": [[1, 0]], "gold": ["NN"]}\n'
    done = CliRunner().invoke(main, ["decode"], input=text)
    assert done.stderr.endswith(
        "token accuracy by the column `gold`: 100.00% by the scores alone, 100.00% now\n"
    )
    assert "F1" not in done.stderr


def test_an_npz_file_is_read_from_a_pipe(folder):
    command = [*LCONS, "decode", "-c", folder / "iob2.json"]
    done = subprocess.run(command, input=npz(), capture_output=True)
    assert (done.returncode, done.stdout.decode()) == (0, CONLL)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes them")
@pytest.mark.parametrize(
    ("closed", "sentence"),
    [("<&-", "cannot read standard input: it is closed"), (">&-", "cannot write to standard output: it is")],
)
def test_a_closed_stdin_or_stdout_is_one_line(closed, sentence, folder):
    command = ["sh", "-c", f'"$@" {closed}', "sh", *LCONS, "decode", "-c", folder / "iob2.json"]
    done = subprocess.run(command, input=json_lines(), capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lcons: error: {sentence}")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_is_no_error(folder, tmp_path):
    (tmp_path / "long.jsonl").write_text(json_lines(pos=False) * 3_000)
    command = [*LCONS, "decode", tmp_path / "long.jsonl", "-c", folder / "iob2.json"]
    assert leave(command) == b"New B-NP\n"
