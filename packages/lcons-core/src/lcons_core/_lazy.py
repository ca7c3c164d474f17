"""The names of a package that are imported at their first use.

They are listed once, as imports below `if TYPE_CHECKING:`, which type checkers read and Python does not run.
"""

from _ast import If, ImportFrom, Name, PyCF_ONLY_AST  # `ast` itself is slow to import


def names_to_import(filename: str) -> dict[str, str]:
    """The module of each name that a file imports below `if TYPE_CHECKING:`."""
    with open(filename, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is slow to import)
        tree = compile(file.read(), filename, "exec", PyCF_ONLY_AST)
    imports = [
        node
        for block in tree.body  # type: ignore[attr-defined]
        if isinstance(block, If) and isinstance(block.test, Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ImportFrom)
    ]
    return {alias.name: node.module or "" for node in imports for alias in node.names}
