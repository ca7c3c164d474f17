"""Run every check of the project and say how long each took; with arguments, pytest alone."""

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
    "tests": ["pytest", "--numprocesses=2", "--dist=loadgroup"],
}


def run(command: list[str]) -> int:
    """The exit code of a command of the environment, run at the top of the workspace."""
    program = Path(sys.executable).with_name(command[0])
    # The tests share the cores between processes, so each keeps to one thread.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.run([program, *command[1:]], cwd=ROOT, env=environment).returncode


def main(arguments: list[str]) -> int:
    if arguments:
        return run(["pytest", *arguments])
    report = []
    failed = False
    for stage, command in STAGES.items():
        print(f"\n== {stage}: {' '.join(command)}", flush=True)
        start = time.perf_counter()
        code = run(command)
        failed |= code != 0
        verdict = "FAILED" if code else "passed"
        report.append(f"{stage:<14} {verdict} {time.perf_counter() - start:6.1f} s")
    print("\n== summary", *report, sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
