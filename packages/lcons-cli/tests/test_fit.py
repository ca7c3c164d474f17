"""`lcons fit`: labelled sentences and unlabelled text in, a tagger for `lcons tag` and its report out."""

import json
import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from texts import run_and_list_modules

from lcons_cli.main import main
from lcons_core import LconsError

DRUGS = ("aspirin", "codeine", "morphine", "ibuprofen", "heparin", "insulin", "quinine", "warfarin")
WORDS = ("rest", "water", "soup", "bread", "sleep", "light", "heat", "air")
BEFORE = ("give {} now", "she took {} at night", "{} helped him", "no {} was found")


def sentences(drugs=DRUGS, words=WORDS):
    """Made-up sentences: drugs are B-DRUG, and `forte` after one is I-DRUG."""
    for i, pattern in enumerate(BEFORE):
        for j, (drug, word) in enumerate(zip(drugs, words, strict=True)):
            if (i + j) % 2:
                yield [(w, "O") for w in pattern.format(word).split()]
            else:
                filled = pattern.format(drug + " forte" * (j % 4 == 0)).split()
                yield [(w, "B-DRUG" if w == drug else "I-DRUG" if w == "forte" else "O") for w in filled]


def conll(found):
    return "\n".join("".join(f"{w} {y}\n" for w, y in sentence) for sentence in found)


TRAIN = list(sentences())
TEXT = [
    [w for w, _ in sentence]
    for n in range(4)
    for sentence in sentences(tuple(f"drug{n}{d}" for d in DRUGS), tuple(f"word{n}{w}" for w in WORDS))
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conll").write_text(conll(TRAIN))
    (tmp_path / "more.txt").write_text("\n".join(" ".join(words) + ".\n" for words in TEXT))
    (tmp_path / "dev.conll").write_text(conll(TRAIN))
    write_scores(tmp_path / "scores.npz")
    (tmp_path / "text.txt").write_text("Give quinine now. No soup was found.\n")
    return tmp_path


def write_scores(path, wrong=0.4):
    """Scores of `TRAIN`: right, but a share of the spans begin with I-DRUG, as no scheme allows."""
    rng = np.random.default_rng(0)
    labels = ("B-DRUG", "I-DRUG", "O")
    rows, offsets = [], [0]
    for sentence in TRAIN:
        for _, label in sentence:
            row = [0.5 * (label != "O"), 0.0, 0.0]
            row[labels.index("I-DRUG" if label != "O" and rng.random() < wrong else label)] += 1.0
            rows.append(row)
        offsets.append(len(rows))
    words = [word for sentence in TRAIN for word, _ in sentence]
    np.savez(path, emission=rows, offsets=offsets, labels=labels, words=words)


def lcons(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_the_examples_of_the_help_run(folder):
    shown = CliRunner().invoke(main, ["fit", "--help"], terminal_width=200).stdout
    lines = re.findall(r"^ +lcons (.*)", shown.partition("Example:")[2], re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        done = lcons(*shlex.split(line))
        assert done.exit_code == 0, done.output
        assert done.stdout.strip()


def test_a_folder_that_is_no_tagger_is_refused_before_any_work(folder, monkeypatch):
    monkeypatch.setattr("lcons_tasks.fit", lambda *_, **__: pytest.fail("it worked"))
    (folder / "mine").mkdir()
    (folder / "mine/notes.txt").write_text("keep")
    for name in ("mine", "train.conll", "train.conll/tagger"):
        done = lcons("fit", "train.conll", "-o", name)
        assert done.exit_code == 2, name
    assert (folder / "mine/notes.txt").read_text() == "keep"


def test_a_tagger_is_replaced_whole_or_stays(folder, monkeypatch):
    assert lcons("fit", "train.conll", "-o", "tagger", "--plain").exit_code == 0
    before = (folder / "tagger/model.npz").read_bytes()
    (folder / "few.conll").write_text(conll(TRAIN[:10]))

    def fail(*_):
        raise LconsError("the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("lcons_tasks.fitted._report.to_html", fail)
        assert lcons("fit", "few.conll", "-o", "tagger", "--plain").exit_code == 2
    assert (folder / "tagger/model.npz").read_bytes() == before
    assert lcons("fit", "few.conll", "-o", "tagger", "--plain").exit_code == 0
    assert (folder / "tagger/model.npz").read_bytes() != before


def test_constraints_for_scores_of_ones_own_are_those_that_decode_uses(folder):
    done = lcons("fit", "dev.conll", "--scores", "scores.npz", "-o", "chosen")
    assert done.exit_code == 0, done.output
    command = done.stdout.splitlines()[-1].removeprefix("Next: lcons ")
    assert command.startswith("decode scores.npz -c chosen/constraints/iob2.json")
    decoded = lcons(*shlex.split(command)).stdout
    assert [line.split()[1] for line in decoded.splitlines() if line] == [y for s in TRAIN for _, y in s]
    listed = json.loads((folder / "chosen/decoding.json").read_text())
    assert listed["constraints"][0] == {"name": "iob2", "file": "constraints/iob2.json", "weight": None}


def test_a_fitted_tagger_reads_columns_without_libraries_that_are_slow_to_load(folder):
    assert lcons("fit", "train.conll", "--unlabelled", "more.txt", "-o", "tagger").exit_code == 0
    printed, modules = run_and_list_modules("tag", "--model", "tagger", "--columns", "word", "dev.conll")
    assert printed.splitlines()[1].split() == ["aspirin", "B-DRUG"]
    assert {"spacy", "torch", "mip"} & modules == set()
