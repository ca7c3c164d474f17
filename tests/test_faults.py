"""`tools/faults.py`: it notices a file that is half-written, and a selection of its points."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")

# Plans of this test: an old file and an old folder are replaced, once with and once without care.
REPLACE = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from faults import Plan, attempt
from lcons_core.storage import replacing, replacing_folder

def prepare(folder):
    (folder / "made").mkdir()
    (folder / "made/old").write_text("old")
    (folder / "file").write_text("old")

def with_care():
    with replacing("file") as file, replacing_folder(Path("made")) as made:
        file.write(b"new")
        for name in "ab":
            (made / name).write_text("new")

def without_care():
    Path("file").write_text("new")

def answer(run):
    try:
        run()
    except OSError as error:
        print(f"lcons: error: {error}", file=sys.stderr)
        sys.exit(2)

run = {"with care": with_care, "without care": without_care}[sys.argv[2]]
plan = Plan("replace", lambda: answer(run), prepare, ("made",))
print(*attempt([plan], ["full", "stays", "short", "kill"], 1, print))
"""


def lines_of(*command: str | Path) -> list[str]:
    """What a command prints."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.stdout.splitlines()


def test_a_folder_and_a_file_that_are_replaced_survive_every_fault():
    *found, last = lines_of("-c", REPLACE, ROOT / "tools", "with care")
    tried, wrong = map(int, last.split())
    assert (wrong, found[:-1]) == (0, [])
    assert tried > 60


def test_a_file_that_is_written_without_care_is_noticed():
    found = lines_of("-c", REPLACE, ROOT / "tools", "without care")
    for point in ("kill 2", "short 2"):
        assert f"  replace, {point}: file is half-written (1 bytes)" in found


def test_a_command_survives_every_fault():
    plan = ("--plan", "scheme", "--fault", "full", "--fault", "short", "--fault", "kill", "--fault", "size")
    *found, last = lines_of(ROOT / "tools/faults.py", *plan)
    assert last == "all: 20 points, 0 wrong", found
