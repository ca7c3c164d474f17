"""The public names of lcons_core: each is found where the package says, and none is found too early."""

import subprocess
import sys
from importlib import import_module

import pytest

import lcons_core

PACKAGES = ["", ".features", ".torch", ".testing"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there(package):
    module = import_module(f"lcons_core{package}")
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(lcons_core, "no_such_name")


def test_functions_are_not_hidden_by_modules_of_their_name():
    code = (
        "import lcons_core.reason._explain, lcons_core.reason._compare\n"
        "from lcons_core import compare, explain, simplify, verify\n"
        "assert all(map(callable, (compare, explain, simplify, verify)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_imports_nothing_heavy():
    code = "import lcons_core, sys; sys.exit(bool({'numpy', 'torch', 'hypothesis'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
