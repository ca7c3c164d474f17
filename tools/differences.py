"""Collect what the modules say of the paper: where they part from it, and what is not in it.

Writes DIFFERENCES.md: `./tools/venv python tools/differences.py`. A test keeps it up to date.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "DIFFERENCES.md"
MARKERS = ("Differs from the paper", "Not in the paper")
# A remark goes on to the end of its paragraph, or to where the next one or `Paper:` begins. Without a colon
# it is about all of the module.
REMARK = re.compile(rf"({'|'.join(MARKERS)})(?:: (.*?)|[.,].*?)(?= (?:{'|'.join(MARKERS)}|Paper): |$)")


def remarks(path: Path) -> Iterator[tuple[str, str]]:
    """(marker, what it says) of a module's docstring."""
    paragraphs = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")
    for paragraph in paragraphs:
        for marker, said in REMARK.findall(" ".join(paragraph.split())):
            yield marker, said or f"all of it. {' '.join(paragraphs[0].split())}"


def collected() -> str:
    """The whole page."""
    lines = [
        "# Beside the paper",
        "",
        "What the modules say of the paper, collected from their docstrings by `tools/differences.py`.",
    ]
    modules = sorted(ROOT.glob("packages/*/src/**/*.py"))
    for marker in MARKERS:
        lines += ["", f"## {marker}", "", "| module | |", "|---|---|"]
        for path in modules:
            name = path.relative_to(ROOT)
            module = ".".join(name.with_suffix("").parts[3:]).removesuffix(".__init__")
            said = [text.replace("|", "\\|") for kind, text in remarks(path) if kind == marker]
            lines += [f"| [{module}]({name.as_posix()}) | {text} |" for text in said]
    return "\n".join(lines) + "\n"


def main() -> int:
    TARGET.write_text(collected(), encoding="utf-8")
    print(f"written to {TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
