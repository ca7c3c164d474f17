"""lcons-tasks can be imported, cheaply, and states the version that is installed."""

import subprocess
import sys
from importlib.metadata import version

import lcons_tasks


def test_version_is_the_installed_one():
    assert lcons_tasks.__version__ == version("lcons-tasks")


def test_import_loads_neither_torch_nor_scipy():
    code = "import lcons_tasks, sys; sys.exit(bool({'torch', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
