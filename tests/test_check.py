"""`tools/check.py` runs all stages, also beside each other, and fails if one fails."""

import importlib.util
from pathlib import Path

spec = importlib.util.spec_from_file_location(
    "check", Path(__file__).resolve().parent.parent / "tools/check.py"
)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

GOOD, BAD = ["python", "-c", "print('fine')"], ["python", "-c", "import sys; sys.exit('broken')"]


def test_every_stage_is_run_and_one_that_fails_is_seen(capfd):
    assert check.run_stages({"last": GOOD}, ({"one": BAD, "two": GOOD}, {"three": GOOD})) == 1
    printed = capfd.readouterr().out
    assert "broken" in printed
    verdicts = {
        line.split()[0]: line.split()[1] for line in printed.partition("== summary")[2].splitlines() if line
    }
    assert verdicts == {"one": "FAILED", "two": "passed", "three": "passed", "last": "passed"}


def test_stages_that_all_pass(capfd):
    assert check.run_stages({"last": GOOD}) == 0
    assert "fine" in capfd.readouterr().out
