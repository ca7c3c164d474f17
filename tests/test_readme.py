"""The READMEs and docs are true: their Python runs and prints what they say, their commands exist.

A Python block is a doctest where it has `>>>`. Elsewhere comments `# -> output`, beside a statement
or below it, state what it prints or, where it is an expression, its value. A console block has commands after
`$ `, each with what it prints; `...` stands for lines that are left out.
"""

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lcons_cli.main import main
from lcons_cli.options import InputPath, OutputPath

ROOT = Path(__file__).resolve().parent.parent
READMES = [
    ROOT / "README.md",
    ROOT / "AGENTS.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
OUTPUT = re.compile(r"# -> ?(.*)")


def blocks(language: str) -> list:
    """The fenced blocks of a language in every README, each named by its file and line."""
    fence = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [
        pytest.param(
            match[1],
            id=f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}",
        )
        for path in READMES
        for text in [path.read_text()]
        for match in fence.finditer(text)
    ]


def check_doctest(source: str) -> None:
    test = doctest.DocTestParser().get_doctest(source, {"__name__": "readme"}, "readme", None, 0)
    said = io.StringIO()
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.write)
    assert result.failed == 0, said.getvalue()


def check_script(source: str) -> None:
    lines = source.splitlines()
    statements = ast.parse(source).body
    ends = [statement.lineno - 1 for statement in statements[1:]] + [len(lines)]
    namespace = {"__name__": "readme"}
    for statement, end in zip(statements, ends, strict=True):
        wanted = [m[1] for line in lines[statement.lineno - 1 : end] if (m := OUTPUT.search(line))]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Interactive([statement]), "readme", "single"), namespace)
        if wanted:
            want, got = "\n".join(wanted) + "\n", printed.getvalue()
            assert doctest.OutputChecker().check_output(want, got, FLAGS), f"{want!r} != {got!r}"


@pytest.mark.parametrize("source", blocks("python"))
def test_python_in_the_readmes_runs_as_stated(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (check_doctest if ">>>" in source else check_script)(source)


def check_console(source: str, folder: Path) -> None:
    """The commands run one after the other in a folder that looks like a clone."""
    (folder / "packages").symlink_to(ROOT / "packages")
    commands, wanted = [], []
    for line in source.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:].replace("./tools/lcons", str(Path(sys.executable).with_name("lcons"))))
            wanted.append("")
        else:
            wanted[-1] += f"{line}\n"
    script = "".join(f"{command}\necho '<end>'\n" for command in commands)
    done = subprocess.run(["bash"], input=script, cwd=folder, stdout=subprocess.PIPE, text=True)
    for command, want, got in zip(commands, wanted, done.stdout.split("<end>\n"), strict=False):
        assert doctest.OutputChecker().check_output(want, got, FLAGS), f"{command}: {want!r} != {got!r}"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/ten-minutes.md", "docs/how-to/annotation.md"])
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    check_console(
        "".join(block.values[0] for block in blocks("console") if block.id.startswith(page)), tmp_path
    )


@pytest.fixture(autouse=True)
def files_exist(monkeypatch):
    """Commands on the pages name files of the reader."""
    for kind in (click.Path, InputPath, OutputPath):
        monkeypatch.setattr(kind, "convert", lambda _, value, *context: value)


@pytest.mark.parametrize("source", blocks("sh"))
def test_commands_in_the_readmes_exist(source):
    for tool in re.findall(r"^(?:\$ )?\./(tools/\S+)", source, re.MULTILINE):
        assert os.access(ROOT / tool, os.X_OK), tool
    for words in re.findall(r"(?:^|\| )(?:\./tools/)?lcons (.*?)(?= [>#|] |  #|$)", source, re.MULTILINE):
        understood(main, "lcons", shlex.split(words, comments=True))


def understood(command: click.Command, name: str, words: list[str]) -> None:
    """Fails where a command would not take these words; nothing is run."""
    if words in (["--help"], ["--version"]):
        return
    if isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), words[0])
        assert inner is not None, words
        understood(inner, f"{name} {words[0]}", words[1:])
    elif words != ["--help"]:
        # click keeps the first help option that it makes, for all later calls.
        command.make_context(name, words, help_option_names=main.context_settings["help_option_names"])
