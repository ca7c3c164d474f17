"""lcons-decode can be imported, cheaply, and states the version that is installed."""

import subprocess
import sys
from importlib.metadata import version

import lcons_decode


def test_version_is_the_installed_one():
    assert lcons_decode.__version__ == version("lcons-decode")


def test_import_loads_nothing_heavy():
    code = "import lcons_decode, sys; sys.exit(bool({'torch', 'scipy', 'numba', 'mip'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
