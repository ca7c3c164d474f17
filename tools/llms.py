"""Write llms.txt: what lcons is, its commands and its pages, one line each, from the help and the docs.

./tools/venv python tools/llms.py          write it
./tools/venv python tools/llms.py --check  exit with 1 if it is not up to date
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from lcons_cli.main import main as lcons

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "llms.txt"
OTHERS = {
    "AGENTS.md": "which command or function for which task, and what to check",
    "README.md": "what it is, set-up, all commands",
    "CONTRIBUTING.md": "how to add a feature, a decoder or a task",
    "SECURITY.md": "what a file from a stranger can do at worst",
}


def summary(text: str) -> tuple[str, str]:
    """The title of a page and its first sentence."""
    title, _, rest = text.partition("\n")
    paragraph = next(part for part in rest.split("\n\n") if re.match(r"\s*[A-Z`*]", part))
    sentence = re.split(r"(?<=\.)\s", " ".join(paragraph.split()))[0]
    return title.lstrip("# "), sentence.rstrip(":.") + "."


def contents() -> str:
    """The text of llms.txt."""
    pages = []
    for path in sorted((ROOT / "docs").rglob("*.md")):
        title, sentence = summary(path.read_text())
        # Results change with what they measure, so their titles are enough.
        sentence = "what was measured, and how." if path.parent.name == "results" else sentence
        pages.append(f"- [{title}]({path.relative_to(ROOT)}): {sentence}")
    context = click.Context(lcons)
    commands = []
    for name in lcons.list_commands(context):
        command = lcons.get_command(context, name)
        assert command is not None
        commands.append(f"- `lcons {name}`: {command.get_short_help_str(200)}")
    opening = (ROOT / "README.md").read_text().split("\n\n")[1]
    others = [f"- [{name}]({name}): {what}" for name, what in OTHERS.items()]
    parts = [
        "# lcons",
        "> " + " ".join(opening.split()),
        "## Pages",
        "\n".join(pages + others),
        "## Commands (each has `--help` with an example, and `--json`)",
        "\n".join(commands),
        "## Packages",
        "\n".join(
            f"- [{path.parent.name}](packages/{path.parent.name}/README.md): {summary(path.read_text())[1]}"
            for path in sorted(ROOT.glob("packages/*/README.md"))
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        return int(not TARGET.is_file() or TARGET.read_text() != contents())
    TARGET.write_text(contents())
    print(f"written to {TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
