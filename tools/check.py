"""Run every check of the project and say how long each took; with arguments, pytest alone.

The types are checked beside everything else: that uses one core for a minute where nothing is cached.
`--integrations [ARGUMENT ...]` instead runs the tests of the folders `integrations`, by pytest with those.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

Stages = dict[str, list[str]]

# The tests of a file share fixtures that take seconds to make, so one process runs them all; conftest.py has
# the order of the files.
STAGES: Stages = {
    "lint": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "import layers": ["lint-imports", "--no-logo"],
    "budget": ["python", "tools/budget.py"],
    "tests": ["pytest", "--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder"],
}
# Without paths among the arguments, the folders are `testpaths`. What a folder holds is run, marked or not.
INTEGRATIONS = ["pytest", "--override-ini=testpaths=tests/integrations packages/*/tests/integrations"]
# OR-Tools and highspy each bring a HiGHS of their own, and a process can load only one of them.
INTEGRATION_STAGES = {
    "integrations": [*INTEGRATIONS, "-m=not ortools"],
    "OR-Tools": [*INTEGRATIONS, "-m=ortools"],
}
NO_TESTS = 5  # the exit code of pytest where it finds none


def start(command: list[str], output: int | None = None) -> subprocess.Popen[bytes]:
    """A command of the environment, at the top of the workspace; the checks share the cores, so each process
    keeps to one thread."""
    program = [str(Path(sys.executable).with_name(command[0])), *command[1:]]
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.Popen(program, cwd=ROOT, env=environment, stdout=output, stderr=output)


def run(stages: Stages) -> list[int]:
    """The exit codes of stages, one after another; prints the seconds of each at the end."""
    codes, lines = [], []
    for stage, command in stages.items():
        print(f"\n== {stage}: {' '.join(command)}", flush=True)
        begin = time.perf_counter()
        codes.append(start(command).wait())
        verdict = "FAILED" if codes[-1] else "passed"
        lines.append(f"{stage:<15} {verdict} {time.perf_counter() - begin:6.1f} s")
    print("\n== summary", *lines, sep="\n", flush=True)
    return codes


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            with tempfile.TemporaryFile() as output:
                types = start(["mypy"], output.fileno())
                codes = [*run(STAGES), types.wait()]
                output.seek(0)
                print(f"types           {output.read().decode().rstrip()}")
            return int(any(codes))
        case ["--integrations"]:
            return int(any(run(INTEGRATION_STAGES)))
        case ["--integrations", *chosen]:
            codes = [start([*command, *chosen]).wait() for command in INTEGRATION_STAGES.values()]
            # What is chosen may all be of one stage.
            return max((code for code in codes if code != NO_TESTS), default=NO_TESTS)
        case _:
            return start(["pytest", *arguments]).wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
