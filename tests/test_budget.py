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


@pytest.mark.parametrize(("limit", "code"), [(6, 0), (5, 1)])
def test_a_folder_above_its_limit_fails(budget, tmp_path: Path, monkeypatch, capsys, limit: int, code: int):
    names = tmp_path / "tests/golden/expected/public_names.txt"
    names.parent.mkdir(parents=True)
    names.write_text("lcons.a\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/module.py").write_text(SOURCE)
    (tmp_path / "budget.toml").write_text(f"[lines]\ntools = {limit}\n[counts]\n'public names' = 1\n")
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    assert budget.main() == code
    assert ("ABOVE ITS LIMIT" in capsys.readouterr().out) == bool(code)
