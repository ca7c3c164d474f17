"""`tools/budget.py` counts code lines and refuses a workspace above a limit."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools/budget.py"


@pytest.fixture
def budget():
    spec = importlib.util.spec_from_file_location("budget", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = '''"""A docstring.

More of it."""

# A comment.
TEXT = """two
lines"""


def double(x):
    """The double of x."""
    return (
        2 * x  # a code line with a comment
    )
'''


def test_docstrings_comments_and_blank_lines_are_free(budget, tmp_path: Path):
    (tmp_path / "module.py").write_text(SOURCE)
    assert budget.code_lines(tmp_path / "module.py") == 6
