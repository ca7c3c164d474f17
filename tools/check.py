"""Run every check of the project and say how long each took; with arguments, pytest alone.

`--integrations [ARGUMENT ...]` instead runs the tests of the folders `integrations`, by pytest with those.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STAGES = {
    "lint": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "types": ["mypy"],
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
NO_TESTS = 5  # the exit code of pytest where it finds none


def run(command: list[str]) -> int:
    """The exit code of a command of the environment, run at the top of the workspace."""
    program = Path(sys.executable).with_name(command[0])
    # The tests share the cores between processes, so each keeps to one thread.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.run([program, *command[1:]], cwd=ROOT, env=environment).returncode


def run_stages(stages: dict[str, list[str]]) -> list[int]:
    """The exit code of each stage; prints how long each took."""
    codes, report = [], []
    for stage, command in stages.items():
        print(f"\n== {stage}: {' '.join(command)}", flush=True)
        start = time.perf_counter()
        codes.append(run(command))
        verdict = "FAILED" if codes[-1] else "passed"
        report.append(f"{stage:<14} {verdict} {time.perf_counter() - start:6.1f} s")
    print("\n== summary", *report, sep="\n", flush=True)
    return codes


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
        case _:
            return run(["pytest", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
