"""Every command shows an example in its help, and the example runs.

The commands that read constraints or labelled data run theirs in their own tests. The others run here, as
stated, in a folder with small models where `lcons run` would have left large ones. Experiments take minutes
and downloads need a network, so of these the example is run up to where they begin.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_core import iob2, learn_constraints
from lcons_decode import Hard
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_columns
from lcons_tasks.experiments.citation._corpus import load_corpus as citation_corpus
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus as er_corpus
from lcons_tasks.models._linear_crf import LinearSettings, train_linear
from lcons_tasks.models._relation_model import rules_of
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.models._structured_svm import SvmSettings

ROOT = Path(__file__).resolve().parent.parent
# The tests of these commands run their examples.
OF_RULES = ("ask", "calibrate", "compare", "convert", "explain", "grammar", "learn", "repair", "scheme")
ELSEWHERE = (*OF_RULES, "verify", "audit", "decode", "fit", "report")
EXPERIMENTS = ("chunking", "citation", "er", "synthetic", "suite")

# `echo "text" | lcons ...`, `lcons ... > file`, `head $(lcons ...)`, or just `lcons ...`.
LINE = re.compile(r'(?:echo "(?P<text>.*)" \| |head \$\()?lcons (?P<words>[^>)]+?)(?: > (?P<file>\S+)|\))?')


def commands(group: click.Group = main, above: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by its full name, groups among them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield above + name, command
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")


COMMANDS = dict(commands())


WITH_THEIR_TESTS = (*ELSEWHERE, "run", "data", "data fetch", *(f"run {task}" for task in EXPERIMENTS))
RUN_HERE = [name for name in COMMANDS if name not in WITH_THEIR_TESTS]


def example(name: str) -> list[str]:
    """The lines of the example in a command's help, as a user sees them."""
    shown = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=200).stdout
    found = re.search(r"^ +Example:\n((?: +\S.*\n)+)", shown, re.MULTILINE)
    return [line.strip() for line in found[1].splitlines()] if found else []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_itself(name):
    assert any(f"lcons {name}" in line for line in example(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The files that the examples name, with models in the places where `lcons run` leaves them."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("train.txt", "dev.txt", "test.txt"):
        lines = bundled("chunking", name).read_text().split("\n\n")[:40]
        for ending in (".txt", ".conll"):
            (folder / name).with_suffix(ending).write_text("\n\n".join(lines) + "\n\n")
    sentences = list(read_columns(folder / "train.txt"))
    chunker = train_linear(sentences, LinearSettings(iterations=5))
    chunker.save(folder / "model.npz")
    tagger = ConstrainedTagger(chunker, (Hard(iob2(chunker.labels), "iob2"),))
    for place in ("runs/chunking/tagger", "tagger", "plain-tagger"):
        tagger.save(folder / place)
    learn_constraints([s.instance for s in sentences], "pos", n=3, hidden=2).save(folder / "pos-3.json")

    references = citation_corpus("bundled", Stages(folder / "stages")).references[:40]
    ConstrainedTagger(train_linear(references, LinearSettings(iterations=5))).save(
        folder / "runs/citation/parser"
    )
    (folder / "references.txt").write_text("A. Stone. On hedges. Journal of Fields, 12(3):45-67, 1999.\n")

    passages = er_corpus("bundled").passages[:24]
    model, _ = train_relations(passages, rules_of(designed()), SvmSettings(C=1.0, passes=5))
    Extractor(model, designed()).save(folder / "runs/er/extractor")
    (folder / "news.txt").write_text("Ann Hill lives in Oslo.\n")

    (folder / "downloads").mkdir()
    for name in ("train.txt", "test.txt"):
        (folder / "downloads" / name).write_bytes((folder / name).read_bytes())
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch) -> None:
    """One cache for all tests, which is not the user's."""
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "lcons-examples-cache"))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)


@pytest.fixture
def language(monkeypatch) -> None:
    """Few sentences to train a POS tagger on, and a spaCy pipeline that finds entities by a rule."""
    import spacy

    tagged = [(s.words, s.columns["pos"]) for s in list(read_columns(bundled("chunking", "dev.txt")))[:12]]
    monkeypatch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    monkeypatch.setattr("lcons_tasks.data.text._pos.tagged_corpus", lambda: ("a few sentences", tagged))
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(  # type: ignore[attr-defined]
        [{"label": "X", "pattern": name} for name in ("Oslo", "Ann Hill")]
    )
    monkeypatch.setattr("lcons_tasks.apps._extraction.load_recogniser", lambda name: nlp)


@pytest.mark.parametrize(
    "name",
    RUN_HERE,
)
def test_the_example_runs(name, folder, language, monkeypatch):
    monkeypatch.chdir(folder)
    for line in example(name):
        found = LINE.fullmatch(line)
        assert found, line
        done = CliRunner().invoke(main, shlex.split(found["words"]), input=found["text"])
        assert done.exit_code == 0, done.output
        assert done.stdout.strip()


class Reached(Exception):
    """The example's words were understood, and the experiment would begin."""


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_the_example_of_an_experiment_reaches_it(task, tmp_path, monkeypatch):
    def begin(experiment: object, options: object, *rest: object) -> None:
        raise Reached(experiment, options)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lcons_tasks.experiments.engine._run.run", begin)
    (line,) = example(f"run {task}")
    done = CliRunner().invoke(main, shlex.split(line)[1:])
    assert isinstance(done.exception, Reached), done.output
    experiment, options = done.exception.args
    assert experiment.name == task
    assert options != experiment.options.start(False, "bundled")
