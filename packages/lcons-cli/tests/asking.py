"""Commands in a process of their own: asked line by line."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

PATIENCE = 60
# Commands print their progress after two seconds, which pass on a busy machine: here they never do.
LCONS = [
    sys.executable,
    "-c",
    "from lcons_cli import main, progress; progress.PATIENCE = 3600.0; main.main()",
]


def ask(command: Sequence[Any], questions: Sequence[str], lines: int = 1) -> Iterator[str]:
    """The answer to each question, of so many lines; an error where none comes before the next is asked."""
    # Unbuffered output would hide that nobody passes it on.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*map(str, command)], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as asked:
        for question in questions:
            asked.stdin.write(question.encode())
            asked.stdin.flush()
            if not select.select([asked.stdout], [], [], PATIENCE)[0]:  # type: ignore[type-var]
                asked.kill()
                raise AssertionError(f"no answer to {question!r} in {PATIENCE} seconds")
            yield "".join(asked.stdout.readline().decode() for _ in range(lines))
        asked.stdin.close()
    assert asked.returncode == 0
