"""The tutorial on data of one's own: its five commands, from learning to a page."""

import re
import shlex
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
    assert "I-PER never after O" in page
    assert "support and exceptions" in page
