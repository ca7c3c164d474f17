"""Run every check of the project and say how long each took; with arguments, pytest alone.

The types are checked beside everything else: that uses one core for minutes where nothing is cached.

`--integrations [ARGUMENT ...]` instead runs the tests of the folders `integrations`, by pytest with those.
`--coverage [PACKAGE ...]` instead measures which lines and branches of each package its own tests run, and
fails below the floors. Code that numba compiles is left out ([tool.coverage.run] in pyproject.toml).
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

Stages = dict[str, list[str]]

FIRST: Stages = {
    "lint": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "import layers": ["lint-imports", "--no-logo"],
    "budget": ["python", "tools/budget.py"],
}
BESIDE: Stages = {"types": ["mypy"]}
# The tests of a file share fixtures that take seconds to make, so one process runs them all; conftest.py has
# the order of the files.
TESTS = ["pytest", "--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"]

# Without paths among the arguments, the folders are `testpaths`. What a folder holds is run, marked or not.
INTEGRATIONS = ["pytest", "--override-ini=testpaths=tests/integrations packages/*/tests/integrations"]
# OR-Tools and highspy each bring a HiGHS of their own, and a process can load only one of them.
INTEGRATION_STAGES = {
    "integrations": [*INTEGRATIONS, "-m=not ortools"],
    "OR-Tools": [*INTEGRATIONS, "-m=ortools"],
}
# Least percentages of lines and branches; the other packages are measured, too.
FLOORS = {"lcons-core": 95, "lcons-decode": 95, "lcons-tasks": 0, "lcons-cli": 0, "lcons-contrib": 0}
NO_TESTS = 5  # the exit code of pytest where it finds none


def run(command: list[str], **variables: str) -> int:
    """The exit code of a command of the environment, run at the top of the workspace."""
    return subprocess.run(_program(command), cwd=ROOT, env=_environment(**variables)).returncode


def _program(command: list[str]) -> list[str]:
    return [str(Path(sys.executable).with_name(command[0])), *command[1:]]


def _environment(**variables: str) -> dict[str, str]:
    # The checks share the cores, so each process keeps to one thread.
    return {"OMP_NUM_THREADS": "1", **os.environ, **variables}


class Report:
    """The outcomes of stages; each is printed when it ends, and all of them in a table at the end."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self._lines: list[str] = []
        self._one_at_a_time = threading.Lock()
        # What ended while the output of another stage was printed; None if there is no such stage.
        self._later: list[str] | None = None

    def live(self, stages: Stages) -> None:
        """Runs stages in turn, whose output is printed while they run."""
        for stage, command in stages.items():
            with self._one_at_a_time:
                print(f"\n== {stage}: {' '.join(command)}", flush=True)
                self._later = []
            start = time.perf_counter()
            code = run(command)
            with self._one_at_a_time:
                self._add(stage, code, start)
                print(*self._later, sep="\n", flush=True)
                self._later = None

    def in_turn(self, stages: Stages) -> None:
        """Runs stages in turn; the output of each is printed when it has ended."""
        for stage, command in stages.items():
            start = time.perf_counter()
            done = subprocess.run(
                _program(command),
                cwd=ROOT,
                env=_environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            text = f"\n== {stage}: {' '.join(command)}\n{done.stdout.decode().rstrip()}"
            with self._one_at_a_time:
                self._add(stage, done.returncode, start)
                if self._later is None:
                    print(text, flush=True)
                else:
                    self._later.append(text)

    def _add(self, stage: str, code: int, start: float) -> None:
        self.codes.append(code)
        verdict = "FAILED" if code else "passed"
        self._lines.append(f"{stage:<15} {verdict} {time.perf_counter() - start:6.1f} s")

    def end(self) -> int:
        """1 if a stage failed; prints the table."""
        print("\n== summary", *self._lines, sep="\n", flush=True)
        return int(any(self.codes))


def run_stages(stages: Stages, first: Stages | None = None, beside: Stages | None = None) -> int:
    """1 if a stage fails: those to run first, then the others, and beside all of them those of another
    lane."""
    report = Report()
    with ThreadPoolExecutor(1) as pool:
        lane = pool.submit(report.in_turn, beside or {})
        report.in_turn(first or {})
        report.live(stages)
        lane.result()
    return report.end()


def measure(packages: list[str]) -> int:
    """1 if the tests of a package fail or run less than its floor; prints what they run of each file."""
    report = []
    for package in packages:
        print(f"\n== coverage of {package}", flush=True)
        folder = ROOT / "dist" / "coverage" / package
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        here = {"COVERAGE_FILE": str(folder / "data")}
        tests = ["-m", *TESTS, f"packages/{package}/tests"]
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
            return run_stages({"tests": TESTS}, FIRST, BESIDE)
        case ["--integrations"]:
            return run_stages(INTEGRATION_STAGES)
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
