"""`lcons convert`: a constraint file in, inequalities out, in every form and format."""

import csv
import json

import pytest
from constraint_files import PAIRS, pairs, run, run_example, write_files

from lcons_core import LearnedConstraint, RectifierNetwork, iob2, load, to_inequalities
from lcons_core.features import Existence, NgramContext
from lcons_core.grammars import compare_grammar
from lcons_decode.ilp import read_program, solve


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    return tmp_path


def test_the_rows_are_printed_as_the_paper_lists_them(files):
    result = run("convert", files / "pairs.json")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1].split("|")[0].split() == list(PAIRS.blocks[0].values)
    assert lines[2].split() == ["1.00", "3.00", "1.00", "1.00", "|", "2.00", "-2.50", "-2.50", "|", "1.00"]
    assert len(lines) == 5
    assert result.stderr.startswith("lcons: 3 rows; psi is allowed iff")


def test_every_form_and_format_goes_to_stdout_or_a_file(files):
    endings = {"text": "txt", "json": "json", "csv": "csv", "lp": "lp", "mps": "mps"}
    for form in ("rows", "lifted", "simplified"):
        for target, ending in endings.items():
            printed = run("convert", files / "pairs.json", "--form", form, "--to", target, "-q")
            assert (printed.exit_code, printed.stderr) == (0, "")
            path = files / f"out.{ending}"
            written = run("convert", files / "pairs.json", "--form", form, "-o", path)
            assert (written.exit_code, written.stdout) == (0, "")
            assert f"written to {path}" in written.stderr
            assert path.read_text() == printed.stdout


def test_json_and_csv_are_exact(files):
    rows = to_inequalities(pairs().network)
    found = json.loads(run("convert", files / "pairs.json", "--json").stdout)
    assert found["coefficients"] == rows.coefficients.tolist()
    assert found["columns"][5] == ["relation", "Kill"]
    header, first, *_ = csv.reader(run("convert", files / "pairs.json", "--to", "csv").stdout.splitlines())
    assert header[5] == "relation=Kill"
    assert [float(x) for x in first[:7]] == rows.coefficients[0].tolist()


@pytest.mark.parametrize("form", [None, "rows", "lifted", "simplified"])
@pytest.mark.parametrize("ending", ["lp", "mps"])
def test_a_model_with_scores_is_solved_under_the_constraint(files, form, ending):
    scores = {"source": {"Location": 1.0}, "relation": {"Kill": 0.5, "LiveIn": 2.0}}
    (files / "scores.json").write_text(json.dumps(scores))
    chosen = [] if form is None else ["--form", form]
    path = files / f"model.{ending}"
    result = run("convert", files / "pairs.json", *chosen, "--scores", files / "scores.json", "-o", path)
    assert result.exit_code == 0
    found = solve(read_program(path))
    assert (found.labels, found.score) == ({"source": "Person", "relation": "LiveIn"}, 2.0)


def test_the_size_is_stated_first_and_refused_past_the_limit(files):
    for target in ("text", "lp"):
        result = run("convert", files / "wide.json", "--form", "rows", "--to", target, "-o", files / "out")
        assert (result.exit_code, result.stdout) == (2, "")
        said, error = result.stderr.splitlines()
        assert said.startswith("lcons: rows: K = 40 hidden units make 1,099,511,627,775 rows")
        assert "ask for the lifted form" in error
        assert error.endswith("raise the limit with --max-mib.")
    assert not (files / "out").exists()
    assert run("convert", files / "wide.json", "--form", "lifted").exit_code == 0
    assert run("convert", files / "pairs.json", "--max-mib", "1").exit_code == 0


def test_errors_are_one_line_and_leave_no_file(files):
    (files / "scores.json").write_text('{"sauce": {"Person": 1}}')
    (files / "list.json").write_text("[1]")
    (files / "folder").mkdir()
    before = {path.name for path in files.iterdir()}
    cases = [
        (("missing.json",), "cannot read"),
        (("damaged.json", "-o", files / "x.lp"), "is no constraint file that lcons can read"),
        (("pairs.json", "-o", files / "pairs.json"), "would replace the input"),
        (("pairs.json", "-o", files / "folder"), "it is a directory"),
        (("pairs.json", "-o", files / "nowhere" / "x.lp"), "does not exist"),
        (("pairs.json", "-o", files / "x.lp", "--scores", files / "scores.json"), "unknown block 'sauce'"),
        (("pairs.json", "-o", files / "x.lp", "--scores", files / "list.json"), "found list"),
        (
            ("pairs.json", "-o", files / "x.lp", "--scores", files / "damaged.json"),
            "is not a JSON file of scores",
        ),
        (("pairs.json", "-o", files / "x.lp", "--scores", files / "none.json"), "No such file"),
        (("pairs.json", "--scores", files / "scores.json"), "--scores needs an LP or MPS model"),
    ]
    for (name, *arguments), message in cases:
        result = run("convert", files / name, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.count("\n") == 1
        assert message in result.stderr
    assert {path.name for path in files.iterdir()} == before


def test_a_grammar_is_written_by_the_ending_or_to_stdout_after_a_check(files):
    iob2(["B", "I", "O"]).save(files / "iob2.json")
    exists = Existence(("B", "I", "O"))
    some_b = LearnedConstraint(RectifierNetwork([[-2.0, 0.0, 0.0]], [2.0]), exists.space, exists)
    some_b.save(files / "exists.json")
    options = [
        "--also",
        files / "exists.json",
        "--separator",
        "/",
        "--shortest",
        "1",
        "--longest",
        "3",
        "--end",
        "\\n",
    ]
    for form in ("lark", "ebnf", "regex"):
        printed = run("convert", files / "iob2.json", "--to", form, *options)
        assert printed.exit_code == 0
        assert "checked" in printed.stderr
        assert "exactly the constraint's set" in printed.stderr
        written = run("convert", files / "iob2.json", "-o", files / f"out.{form}", *options)
        assert f"written to {files / f'out.{form}'}" in written.stderr
        text = (files / f"out.{form}").read_text()
        assert text == printed.stdout
        both = [load(files / "iob2.json"), load(files / "exists.json")]
        assert compare_grammar(text, both, form, separator="/", end="\n", shortest=1, longest=3).equal
    found = json.loads(run("convert", files / "pairs.json", "-o", files / "x.schema").stdout or "null")
    assert found is None
    schema = json.loads((files / "x.schema").read_text())
    assert len(schema["anyOf"]) == 2


def test_the_bound_of_a_grammar_is_stated_first_and_what_it_cannot_express_is_refused(files):
    labels = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    exists = Existence(labels)
    LearnedConstraint(RectifierNetwork([[1.0] * 26], [-9.0]), exists.space, exists).save(files / "many.json")
    result = run("convert", files / "many.json", "--to", "regex", "--max-states", "1000")
    assert (result.exit_code, result.stdout) == (2, "")
    said, error = result.stderr.splitlines()
    assert said == "lcons: regex: at most 67,108,864 states to look at"
    assert "alone can have 67,108,864; raise --max-states, use fewer labels" in error
    context = NgramContext(("A", "B"), ("DT", "NN"))
    network = RectifierNetwork([[0.0] * context.space.d], [0.0])
    LearnedConstraint(network, context.space, context).save(files / "pos.json")
    cases = [
        (("pos.json", "--to", "lark"), "reads 'pos' of the input"),
        (("bits.json", "--to", "json-schema"), "above the limit of 4,194,304"),
        (("pairs.json", "--to", "lark", "--form", "rows"), "--to lark has no --form"),
        (("pairs.json", "--longest", "3"), "--longest needs a grammar, found --to text"),
        (
            ("pairs.json", "--to", "lark", "--also", files / "bits.json"),
            "only constraints on label sequences",
        ),
    ]
    for (name, *arguments), message in cases:
        result = run("convert", files / name, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


def test_the_example_runs(files):
    assert run_example("convert", files) == [0, 0, 0, 0]
    assert (files / "pairs.lp").exists()
