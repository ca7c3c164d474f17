"""`lcons convert`: a constraint file in, inequalities out, in every form and format."""

import csv
import json

import highspy
import pytest
from constraint_files import pairs, run, run_example, write_files

from lcons_core import to_inequalities


@pytest.fixture
def files(tmp_path):
    write_files(tmp_path)
    return tmp_path


def test_every_form_and_format_goes_to_stdout_or_a_file(files):
    endings = {"text": "txt", "json": "json", "csv": "csv", "lp": "lp", "mps": "mps"}
    for form in ("rows", "lifted", "simplified"):
        for target, ending in endings.items():
            printed = run("convert", files / "pairs.json", "--form", form, "--to", target)
            assert (printed.exit_code, printed.stderr) == (0, "")
            path = files / f"out.{ending}"
            written = run("convert", files / "pairs.json", "--form", form, "-o", path)
            assert (written.exit_code, written.stdout) == (0, "")
            assert path.read_text() == printed.stdout


def test_json_and_csv_are_exact(files):
    rows = to_inequalities(pairs().network)
    written = json.loads(run("convert", files / "pairs.json", "--json").stdout)
    assert written["coefficients"] == rows.coefficients.tolist()
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
    model = highspy.Highs()
    model.silent()
    model.readModel(str(path))
    model.run()
    assert abs(model.getObjectiveValue()) == 2.0


def test_a_size_past_the_limit_is_refused(files):
    for target in ("text", "lp"):
        result = run("convert", files / "wide.json", "--form", "rows", "--to", target, "-o", files / "out")
        assert (result.exit_code, result.stdout) == (2, "")
    assert not (files / "out").exists()
    assert run("convert", files / "wide.json", "--form", "lifted").exit_code == 0


def test_the_example_runs(files):
    assert run_example("convert", files) == [0, 0, 0]
    assert (files / "pairs.lp").exists()
