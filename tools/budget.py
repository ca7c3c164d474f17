"""Print the size of the workspace beside the limits of budget.toml; exit 1 above a limit.

A code line holds a token that is no comment and not in a docstring. Limits in [lines] are named by folders.
"""

import ast
import sys
import tomllib
from functools import cache
from pathlib import Path
from tokenize import COMMENT, DEDENT, ENCODING, ENDMARKER, INDENT, NEWLINE, NL, tokenize
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LAYOUT = (ENCODING, COMMENT, NL, NEWLINE, INDENT, DEDENT, ENDMARKER)


@cache
def code_lines(path: Path) -> int:
    """How many lines of a file hold code."""
    scopes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, SCOPES)]
    docstrings = [scope.body[0] for scope in scopes if ast.get_docstring(scope) is not None]
    prose = {line for node in docstrings for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    with path.open("rb") as file:
        tokens = [token for token in tokenize(file.readline) if token.type not in LAYOUT]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)} - prose)


def lines_below(folders: str) -> int:
    return sum(code_lines(path) for folder in folders.split() for path in ROOT.glob(f"{folder}/**/*.py"))


def parameters(command: Any, parent: Any = None) -> list[list[str]]:
    """The kinds of the parameters of each command below a group of click, `--help` among them."""
    context = command.make_context(command.name, ["-"], parent=parent, resilient_parsing=True)
    if not hasattr(command, "list_commands"):
        return [[parameter.param_type_name for parameter in command.get_params(context)]]
    members = [command.get_command(context, name) for name in command.list_commands(context)]
    return [kinds for member in members for kinds in parameters(member, context)]


def main() -> int:
    from lcons_cli.main import main as lcons

    budget, commands = tomllib.loads((ROOT / "budget.toml").read_text()), parameters(lcons)
    limits = budget["lines"] | budget["counts"]
    sizes = {folders: lines_below(folders) for folders in budget["lines"]}
    sizes["public names"] = len((ROOT / "tests/golden/expected/public_names.txt").read_text().split())
    sizes |= {"commands": len(commands), "options": sum(kinds.count("option") for kinds in commands)}
    for folder in sorted(path.relative_to(ROOT) for path in ROOT.glob("packages/*/src/*/*/")):
        print(f"{lines_below(str(folder)):7,} {'':7} {folder}")
    for name, limit in limits.items():
        print(f"{sizes[name]:7,} {limit:7,} {name}{'  ABOVE ITS LIMIT' if sizes[name] > limit else ''}")
    return int(any(sizes[name] > limit for name, limit in limits.items()))


if __name__ == "__main__":
    sys.exit(main())
