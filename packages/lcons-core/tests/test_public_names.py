"""The public names of lcons_core: each is found where the package says, and none is found too early."""

import ast
import subprocess
import sys
from pathlib import Path

import lcons_core


def test_type_checkers_and_run_time_see_the_same_names():
    tree = ast.parse(Path(lcons_core.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name: node.module.removeprefix("lcons_core.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == lcons_core._HOMES
    assert {*imported, "__version__"} == set(lcons_core.__all__)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(lcons_core, "no_such_name")


def test_functions_are_not_hidden_by_modules_of_their_name():
    code = (
        "import lcons_core.reason._explanation.words, lcons_core.reason._compare\n"
        "from lcons_core import compare, explain, simplify, verify\n"
        "assert all(map(callable, (compare, explain, simplify, verify)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_imports_nothing_heavy():
    code = "import lcons_core, sys; sys.exit(bool({'numpy', 'torch', 'hypothesis'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
