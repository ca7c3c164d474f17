"""`lcons learn`: labelled data in, a constraint file and what it says out."""

import json
import re
import shlex

import pytest
from click.testing import CliRunner

import lcons_cli.learn as command
from lcons_cli.main import main
from lcons_core import Recipe, load
from lcons_tasks.own_data import read_data
from lcons_tasks.own_data._data import Split, recorded_split

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
    for name in ("train.conll", "dev.conll"):
        (tmp_path / name).write_text(text)
    (tmp_path / "odd.conll").write_text("\n\n".join(SENTENCES * 4) + "\n\nOh UH O\nLee NNP I\n" * 5)
    (tmp_path / "pairs.jsonl").write_text((json.dumps({"tuples": PAIRS}) + "\n") * 10)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["learn", *map(str, arguments)])


@pytest.mark.parametrize(
    ("options", "count", "share"),
    [
        ((), 20, 0.0),
        (("--no-held-out",), 20, 0.0),
        (("--held-out-end",), 16, 0.2),
        (("--dev", "odd.conll"), 20, 0.0),
    ],
)
def test_a_constraint_records_which_part_of_which_file_it_learned_from(folder, options, count, share):
    assert run(folder / "train.conll", "-o", "c.json", "-K", 2, *options).exit_code == 0
    recorded = recorded_split(load("c.json").provenance)
    assert recorded == Split("train.conll", "structures", count, 20, share)


@pytest.mark.parametrize("options", [("-K", 2), ("-K", "auto"), ("--feature", "pos", "-n", 1)])
def test_the_recipe_in_a_file_learns_the_same_again(folder, options):
    assert run("train.conll", "-o", "c.json", *options).exit_code == 0
    constraint = load("c.json")
    recipe = Recipe.from_dict(constraint.provenance["recipe"])
    train = read_data("train.conll", "conll")
    assert recipe.learn(train.instances).network == constraint.network


@pytest.mark.parametrize("output", ["nowhere/c.json", "train.conll/c.json", "."])
def test_an_output_that_cannot_be_written_is_told_before_the_work(folder, monkeypatch, output):
    monkeypatch.setattr(command, "read_labelled", None)
    result = run("train.conll", "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")


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
