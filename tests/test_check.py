"""`tools/check.py` runs all stages, also beside each other, and fails if one fails."""

import importlib.util
import tomllib
from pathlib import Path

spec = importlib.util.spec_from_file_location(
    "check", Path(__file__).resolve().parent.parent / "tools/check.py"
)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

ROOT = Path(__file__).resolve().parent.parent
GOOD, BAD = ["python", "-c", "print('fine')"], ["python", "-c", "import sys; sys.exit('broken')"]


def test_every_stage_is_run_and_one_that_fails_is_seen(capfd):
    assert check.run_stages({"last": GOOD}, {"one": BAD, "two": GOOD}, {"three": GOOD}) == 1
    printed = capfd.readouterr().out
    assert "broken" in printed
    verdicts = {
        line.split()[0]: line.split()[1] for line in printed.partition("== summary")[2].splitlines() if line
    }
    assert verdicts == {"one": "FAILED", "two": "passed", "three": "passed", "last": "passed"}


def test_stages_that_all_pass(capfd):
    assert check.run_stages({"last": GOOD}) == 0
    assert "fine" in capfd.readouterr().out


def test_output_beside_live_output_comes_after_it(capfd):
    live = ["python", "-c", "import time; print('begun', flush=True); time.sleep(2); print('ended')"]
    aside = ["python", "-c", "import time; time.sleep(1); print('fine')"]
    assert check.run_stages({"live": live}, beside={"aside": aside, "failing": BAD}) == 1
    printed = capfd.readouterr().out
    places = [printed.index(word) for word in ("begun", "ended", "fine", "broken", "== summary")]
    assert places == sorted(places)


def test_coverage_leaves_out_exactly_the_kernels_that_numba_compiles():
    omitted = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["run"]["omit"]
    folder = "packages/lcons-decode/src/lcons_decode/kernels/_compiled"
    modules = {path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py", "jit.py"}
    assert modules == {Path(name).name for name in omitted if "/_compiled/" in name}
