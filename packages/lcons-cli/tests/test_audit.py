"""`lcons audit` prints, writes and counts findings."""

import json

import pytest
from click.testing import CliRunner
from constraint_files import run_example

from lcons_cli.main import main


@pytest.fixture
def data(tmp_path):
    right = "give O\naspirin B-DRUG\nnow O\n\n" * 12
    path = tmp_path / "train.conll"
    path.write_text(right + "give O\naspirin O\nnow O\n\n")
    return str(path)


def test_findings_are_printed_and_the_exit_code_is_1(data, tmp_path):
    page = tmp_path / "audit.html"
    found = CliRunner().invoke(main, ["audit", data, "--page", str(page)])
    assert found.exit_code == 1
    assert "train.conll:50: sentence 13: give [aspirin] now\n  given O, proposed B-DRUG" in found.stdout
    assert "train.conll:50 sentence 13" in page.read_text()


def test_findings_as_json(data):
    found = CliRunner().invoke(main, ["audit", data, "--json"])
    assert json.loads(found.stdout)["rank"] == "rarity"
    [finding] = json.loads(found.stdout)["findings"]
    assert (finding["sentence"], finding["given"], finding["proposed"]) == (13, ["O"], ["B-DRUG"])


def test_without_a_finding_the_exit_code_is_0(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text("give O\naspirin B-DRUG\nnow O\n\n" * 12)
    found = CliRunner().invoke(main, ["audit", str(path)])
    assert (found.exit_code, found.stdout) == (0, "0 findings in 12 sentences.\n")


def test_the_examples_run(data, tmp_path):
    assert run_example("audit", tmp_path) == [1, 1]
