"""Run every check of the project and say how long each took; with arguments, pytest alone.

`--integrations [ARGUMENT ...]` instead runs the tests of the folders `integrations`, by pytest with those.
`--coverage [PACKAGE ...]` instead measures which lines and branches of each package its own tests run, and
fails below the floors. Code that numba compiles is left out ([tool.coverage.run] in pyproject.toml).
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STAGES = {
    "lint": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "types": ["mypy"],
    "types of tests": ["python", "tools/test_types.py"],
    "import layers": ["lint-imports", "--no-logo"],
    # The tests of a file share fixtures that take seconds to make, so one process runs them all.
    "tests": ["pytest", "--numprocesses=2", "--dist=loadfile"],
}

# Without paths among the arguments, the folders are `testpaths`. What a folder holds is run, marked or not.
INTEGRATIONS = ["pytest", "--override-ini=testpaths=tests/integrations packages/*/tests/integrations"]
# OR-Tools and highspy each bring a HiGHS of their own, and a process can load only one of them.
INTEGRATION_STAGES = {
    "integrations": [*INTEGRATIONS, "-m=not ortools"],
    "OR-Tools": [*INTEGRATIONS, "-m=ortools"],
}
# Least percentages of lines and branches; the other packages are measured, too.
FLOORS = {"lcons-core": 95, "lcons-decode": 95, "lcons-tasks": 0, "lcons-cli": 0}
NO_TESTS = 5  # the exit code of pytest where it finds none


def run(command: list[str], **variables: str) -> int:
    """The exit code of a command of the environment, run at the top of the workspace."""
    program = Path(sys.executable).with_name(command[0])
    # The tests share the cores between processes, so each keeps to one thread.
    environment = {"OMP_NUM_THREADS": "1", **os.environ, **variables}
    return subprocess.run([program, *command[1:]], cwd=ROOT, env=environment).returncode


def run_stages(stages: dict[str, list[str]]) -> list[int]:
    """The exit code of each stage; prints how long each took."""
    codes, report = [], []
    for stage, command in stages.items():
        print(f"\n== {stage}: {' '.join(command)}", flush=True)
        start = time.perf_counter()
        codes.append(run(command))
        verdict = "FAILED" if codes[-1] else "passed"
        report.append(f"{stage:<15} {verdict} {time.perf_counter() - start:6.1f} s")
    print("\n== summary", *report, sep="\n", flush=True)
    return codes


def measure(packages: list[str]) -> int:
    """1 if the tests of a package fail or run less than its floor; prints what they run of each file."""
    report = []
    for package in packages:
        print(f"\n== coverage of {package}", flush=True)
        folder = ROOT / "dist" / "coverage" / package
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        here = {"COVERAGE_FILE": str(folder / "data")}
        tests = ["-m", *STAGES["tests"], f"packages/{package}/tests"]
        failed = run(["coverage", "run", f"--source={package.replace('-', '_')}", *tests], **here)
        run(["coverage", "combine", "--quiet"], **here)
        below = run(["coverage", "report", "--skip-covered", f"--fail-under={FLOORS[package]}"], **here)
        run(["coverage", "json", "--quiet", "-o", str(folder / "coverage.json")], **here)
        totals = json.loads((folder / "coverage.json").read_text())["totals"]
        total, branches = totals["percent_covered"], totals["percent_branches_covered"]
        verdict = "FAILED: tests" if failed else "FAILED: floor" if below else "passed"
        measured = f"{total:6.2f} % of at least {FLOORS[package]:2} %, branches alone {branches:6.2f} %"
        report.append(f"{package:<14} {measured}  {verdict}")
    print("\n== summary: lines and branches that the tests of a package run", *report, sep="\n", flush=True)
    return int(any("FAILED" in line for line in report))


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            return int(any(run_stages(STAGES)))
        case ["--integrations"]:
            return int(any(run_stages(INTEGRATION_STAGES)))
        case ["--integrations", *chosen]:
            codes = [run([*command, *chosen]) for command in INTEGRATION_STAGES.values()]
            # What is chosen may all be of one stage.
            return max((code for code in codes if code != NO_TESTS), default=NO_TESTS)
        case ["--coverage", *packages]:
            if unknown := [package for package in packages if package not in FLOORS]:
                print(f"--coverage takes {', '.join(FLOORS)}, found {', '.join(unknown)}", file=sys.stderr)
                return 2
            return measure(packages or list(FLOORS))
        case _:
            return run(["pytest", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
