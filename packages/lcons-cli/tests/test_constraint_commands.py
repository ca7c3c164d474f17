"""explain, scheme, convert, compare and verify: what each makes of constraint files."""

import json
from dataclasses import replace

import highspy
import numpy as np
import pytest
from constraint_files import BITS, PAIRS, pairs, run, run_example, write_files

from lcons_core import (
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    bilou,
    bioes,
    compare,
    iob2,
    load,
    parse_rules,
    save,
)
from lcons_core.features import NgramLabels
from lcons_core.reason import _verify as verifying

ENDINGS = {"text": "txt", "json": "json", "csv": "csv", "lp": "lp", "mps": "mps"}
EXAMPLES = {"explain": [0] * 4, "scheme": [0] * 4, "convert": [0] * 3, "compare": [0] * 3, "verify": [0] * 2}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    write_files(tmp_path)
    (tmp_path / "designed.txt").write_text("relation Kill or LiveIn needs source Person\n")
    (tmp_path / "train.conll").write_text("The DT B-NP\ndog NN I-NP\nbarks VB O\n\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_example_runs(command, folder):
    assert run_example(command, folder) == EXAMPLES[command]


def test_rules_are_printed_for_compare_and_scheme_to_read(folder):
    (folder / "rules.txt").write_text(text := run("explain", "pairs.json", "--rules").stdout)
    assert compare(pairs(), parse_rules(text, PAIRS)).equal
    assert run("scheme", "rules.txt", "pairs.json", "-o", "same.json").exit_code == 0
    assert run("compare", "pairs.json", "same.json").exit_code == 0
    (folder / "rules.txt").write_text("relation Kill needs source Person\n")
    assert run("scheme", "rules.txt", "pairs.json", "-o", "edited.json").exit_code == 0
    assert run("compare", "edited.json", "rules.txt").exit_code == 0
    assert run("compare", "pairs.json", "edited.json").exit_code == 1


@pytest.mark.parametrize("words", ["Location Kill", "Kill Location", "source=Location,relation=Kill"])
def test_a_forbidden_combination_has_an_inequality_its_terms_and_their_sum(words):
    result = run("explain", "pairs.json", "--forbidden", *words.split())
    numbers = [line.split()[-1] for line in result.stdout.splitlines()[6:]]
    assert (result.exit_code, numbers) == (0, ["1.0000", "-2.5000", "1.0000", "-0.5000"])


def test_what_is_not_named_stays_open():
    result = run("explain", "pairs.json", "--forbidden", "Location", "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["verdict"], answer["completions"]["allowed"]) == (1, "allowed", 1)
    assert run("explain", "bits.json", "--forbidden", *[f"bit {i}=1" for i in range(3)]).exit_code == 0


@pytest.mark.parametrize(("make", "letters"), [(iob2, "BI"), (bioes, "BIES"), (bilou, "BILU")])
def test_labels_in_any_form_make_the_constraint_of_the_library(folder, make, letters):
    labels = sorted([*(f"{letter}-X" for letter in letters), "O"])
    (folder / "lines.txt").write_text("".join(f"{label}\n" for label in labels))
    (folder / "list.json").write_text(json.dumps(labels))
    (folder / "data.conll").write_text("".join(f"word {label}\n" for label in labels))
    (folder / "data.jsonl").write_text(json.dumps({"labels": labels, "words": labels}) + "\n")
    for source in (",".join(labels), "lines.txt", "list.json", "data.conll", "data.jsonl"):
        assert run("scheme", make.__name__, source, "-o", "c.json").exit_code == 0
        assert load("c.json").feature == make(labels).feature
        assert compare(load("c.json"), make(labels)).equal


def test_rules_on_labels_accept_exactly_what_they_say(folder):
    (folder / "rules.txt").write_text(
        "label 2 I-X needs label 1 B-X or I-X  # IOB2\nlabel 1 (start) cannot go with label 2 O\n"
    )
    done = run("scheme", "rules.txt", "B-X,I-X,O", "-o", "c.json", "--json")
    assert json.loads(done.stdout)["hidden"] == 2
    sequences = (["B-X", "I-X", "O"], ["O", "B-X"], ["B-X", "O", "I-X"])
    assert [load("c.json").satisfied(y) for y in sequences] == [True, False, False]


@pytest.mark.parametrize("form", ["rows", "lifted", "simplified"])
def test_every_form_and_format_goes_to_stdout_or_a_file(folder, form):
    for target, ending in ENDINGS.items():
        printed = run("convert", "pairs.json", "--form", form, "--to", target)
        assert (printed.exit_code, printed.stderr) == (0, "")
        written = run("convert", "pairs.json", "--form", form, "-o", f"out.{ending}")
        assert (written.exit_code, written.stdout) == (0, "")
        assert (folder / f"out.{ending}").read_text() == printed.stdout


@pytest.mark.parametrize("form", ["rows", "lifted", "simplified"])
@pytest.mark.parametrize("ending", ["lp", "mps"])
def test_a_model_with_scores_is_solved_under_the_constraint(folder, form, ending):
    scores = {"source": {"Location": 1.0}, "relation": {"Kill": 0.5, "LiveIn": 2.0}}
    (folder / "scores.json").write_text(json.dumps(scores))
    options = ["--form", form, "--scores", "scores.json", "-o", f"model.{ending}"]
    assert run("convert", "pairs.json", *options).exit_code == 0
    model = highspy.Highs()
    model.silent()
    model.readModel(f"model.{ending}")
    model.run()
    assert abs(model.getObjectiveValue()) == 2.0


def test_a_size_past_the_limit_is_refused(folder):
    for target in ("text", "lp"):
        assert run("convert", "wide.json", "--form", "rows", "--to", target, "-o", "out").exit_code == 2
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("W", "b", "code"),
    [(np.zeros((1, 40)), [0.0], 1), (np.ones((2, 40)) / 2, [-0.75, -0.75], 3)],
)
def test_large_domains_are_different_by_a_witness_or_undecided(W, b, code):
    save(LearnedConstraint(RectifierNetwork(W, b), BITS), "other.json")
    assert run("compare", "bits.json", "other.json").exit_code == code


def test_a_scheme_and_learned_rules_of_the_same_labels_are_compared():
    feature = NgramLabels(("O", "I-X", "B-X"), 2)
    save(iob2(["B-X", "I-X", "O"]), "scheme.json")
    for forbidden, code in (([{"label 1": "O", "label 2": "I-X"}], 0), ([], 1)):
        network = Rules(feature.space, forbidden).network()
        save(LearnedConstraint(network, feature.space, feature), "learned.json")
        assert run("compare", "learned.json", "scheme.json").exit_code == code


def test_of_a_large_domain_points_are_drawn_with_the_seed():
    result = run("verify", "bits.json", "--seed", "7", "--json")
    verdict = json.loads(result.stdout)
    assert (verdict["ok"], verdict["exhausted"], verdict["seed"]) == (True, False, 7)
    assert min(verdict["accepted"], verdict["rejected"]) > 20
    assert run("verify", "bits.json", "--seed", "7", "--json").stdout == result.stdout


def test_a_witness_has_exit_code_1(monkeypatch):
    lift = verifying.lift  # type: ignore[attr-defined]
    monkeypatch.setattr(verifying, "lift", lambda net: replace(lift(net), rhs=lift(net).rhs + 0.75))
    result = run("verify", "pairs.json", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["witness"]["form"] == "the lifted rows"
