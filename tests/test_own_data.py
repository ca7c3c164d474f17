"""The tutorials: the five commands for data of one's own, from learning to a page, and the first rule."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_tasks.bundled import bundled
from lcons_tasks.data import Columns, Sentence, read_columns, write_columns
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

ROOT = Path(__file__).resolve().parent.parent
LAYOUT = Columns(("word", "label"), "word", "label")


def persons(part: str) -> list[Sentence]:
    """Sentences of the bundled corpus, with noun phrases as if they were names of persons."""
    label = {"B-NP": "B-PER", "I-NP": "I-PER"}
    found = read_columns(bundled("chunking", f"{part}.txt"))
    return [Sentence(s.words, tuple(label.get(y, "O") for y in s.labels)) for s in found]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Labelled data, and what a tagger of one's own scores."""
    monkeypatch.chdir(tmp_path)
    model = train_linear(persons("train")[:40], LinearSettings(iterations=10))
    for part in ("train", "dev", "test"):
        sentences = persons(part)
        write_columns(tmp_path / f"{part}.conll", sentences, LAYOUT)
        scores = model.scores([s.x for s in sentences])
        np.savez(
            tmp_path / f"{part}.npz",
            emission=scores.emission,
            offsets=scores.offsets,
            labels=np.array(model.labels),
            words=np.array([word for s in sentences for word in s.words]),
            gold=np.array([label for s in sentences for label in s.labels]),
        )
    return tmp_path


def commands() -> list[str]:
    """The lines of the tutorial's block that begins with `lcons learn`."""
    text = (ROOT / "docs/tutorial/own-data.md").read_text()
    (block,) = re.findall(r"^```sh\n(lcons learn .*?)^```", text, re.M | re.S)
    return block.splitlines()


def test_the_five_commands_of_the_tutorial_run(folder):
    assert len(commands()) == 5
    for line in commands():
        words, _, target = line.partition("#")[0].partition(" > ")
        done = CliRunner().invoke(main, shlex.split(words)[1:])
        assert done.exit_code == 0, done.output
        if target:
            (folder / target.strip()).write_bytes(done.stdout_bytes)
    page = (folder / "report.html").read_text()
    assert "label 1 O cannot go with label 2 I-PER" in page
    assert "support and exceptions" in page


def test_the_forbidden_combination_is_told_by_its_inequality(folder):
    learn, explain, *_ = (shlex.split(line.partition("#")[0])[1:] for line in commands())
    assert CliRunner().invoke(main, learn).exit_code == 0
    shown = CliRunner().invoke(main, explain).stdout
    assert "so it is forbidden" in shown
    assert "its terms here:" in shown


def test_the_rule_in_the_first_tutorial_is_what_learning_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/tutorial/ten-minutes.md").read_text()
    data, shown = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
    for part in ("train", "dev"):
        shutil.copy(bundled("chunking", f"{part}.txt"), tmp_path)
    assert (tmp_path / "train.txt").read_text().startswith(data)
    (line,) = re.findall(r"^\./tools/lcons (learn .*)$", text, re.M)
    done = CliRunner().invoke(main, shlex.split(line))
    assert shown in done.stdout
    assert "forbids 0 of 60 valid structures" in done.stdout
    (line,) = re.findall(r"^\./tools/lcons (convert .*)$", text, re.M)
    assert len(CliRunner().invoke(main, shlex.split(line)).stdout.splitlines()) == 2 + 7
