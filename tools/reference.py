"""Write docs/reference/commands.md: every command with its text, examples and options, as `--help` has them.

./tools/venv python tools/reference.py          write it
./tools/venv python tools/reference.py --check  exit with 1 if it is not up to date
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from lcons_cli.main import main as lcons

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/reference/commands.md"
COMMON = {"--json", "--seed", "--help"}
OPENING = """# Commands

Made from `--help` by `./tools/docs write`. From a clone, `./tools/lcons COMMAND` sets everything up the first
time and runs; where the packages are installed, it is `lcons COMMAND`.

- Results go to stdout, everything else to stderr.
- Exit codes: 0 done, 1 the answer is no, 2 an error, 3 undecided, 130 interrupted.
- Where a command has them, `--json` prints results for programs, and `--seed` is the seed of the random
  numbers. `lcons -q COMMAND` prints only results, warnings and errors.
- Completion: `eval "$(_LCONS_COMPLETE=bash_source lcons)"` in `~/.bashrc`; `zsh_source` in `~/.zshrc`; for
  fish, `_LCONS_COMPLETE=fish_source lcons | source`.
"""


def commands(group: click.Group = lcons, above: str = "lcons") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above} {name}")
        else:
            yield f"{above} {name}", command


def section(name: str, command: click.Command) -> str:
    """The part of one command."""
    context = click.Context(command, info_name=name, show_default=True)
    parts = [f"## {name}", f"```text\n{' '.join([name, *command.collect_usage_pieces(context)])}\n```"]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\nExample"):
            lines = paragraph.splitlines()[2:]
            parts.append("\n".join(["```sh", *(line.strip() for line in lines), "```"]))
        elif paragraph.startswith("\b\n"):
            parts.append("\n".join(["```text", *paragraph.splitlines()[1:], "```"]))
        else:
            parts.append(plain(paragraph))
    rows = [
        f"| `{names.replace('|', ', ')}` | {plain(text).replace('|', '/')} |"
        for parameter in command.params
        if isinstance(parameter, click.Option) and not COMMON & set(parameter.opts)
        for names, text in [parameter.get_help_record(context) or ("", "")]
        if names
    ]
    if rows:
        parts.append("\n".join(["| option | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def plain(text: str) -> str:
    """A text as one line of Markdown: outside code, brackets are no links."""
    parts = " ".join(text.split()).split("`")
    parts[::2] = [part.replace("[", "\\[").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def contents() -> str:
    """The text of the page."""
    found = list(commands())
    table = [
        f"| [`{name}`](#{name.replace(' ', '-')}) | {one.get_short_help_str(200)} |" for name, one in found
    ]
    listing = "\n".join(["| command | what it does |", "|---|---|", *table])
    return "\n\n".join([OPENING.strip(), listing, *(section(*one) for one in found)]) + "\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        return int(not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != contents())
    TARGET.write_text(contents(), encoding="utf-8")
    print(f"written to {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
