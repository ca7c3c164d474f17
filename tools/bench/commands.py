"""Whole commands beside a small program that does the same, interpreter and imports included, on one core.

`lcons decode` labels sequences (100,000, or the number given) of 9 labels under hard IOB2 and writes them in
columns; the program reads the same arrays, calls `constrained_viterbi_batch` and prints the labels. A row of
ROWS is a claim, the command, its program and the largest ratio of their times.
Run: .venv/bin/python tools/bench/commands.py [SEQUENCES]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from timing import median_seconds, report

from lcons_core import iob2

LCONS = str(Path(sys.executable).with_name("lcons"))
LABELS = ["O", *(f"{letter}-{kind}" for kind in ("LOC", "MISC", "ORG", "PER") for letter in "BI")]
CALL = """
import numpy, lcons_core, lcons_decode as d
arrays = numpy.load("scores.npz")
batch = d.ChainBatch.packed(arrays["emission"], arrays["offsets"], labels=arrays["labels"].tolist())
for answer in d.constrained_viterbi_batch(batch, [lcons_core.load("iob2.json")], threads=1):
    print(*answer.y, sep="\\n", end="\\n\\n")
"""
ROWS = (
    ("import lcons_core / import numpy", [sys.executable, "-c", "import lcons_core"], "import numpy", 1.5),
    ("lcons --help / import click", [LCONS, "--help"], "import click", 2.0),
    ("decode npz / the call", [LCONS, "decode", "scores.npz", "-c", "iob2.json"], CALL, 1.5),
    ("decode JSON lines / the call", [LCONS, "decode", "scores.jsonl", "-c", "iob2.json"], CALL, 4.0),
)


def write_scores(sequences: int) -> None:
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, *rng.integers(5, 26, sequences)])
    emission = rng.normal(0, 2, (offsets[-1], len(LABELS))).round(3)
    np.savez("scores.npz", emission=emission, offsets=offsets, labels=np.array(LABELS))
    with Path("scores.jsonl").open("w") as file:
        print(json.dumps({"labels": LABELS}), file=file)
        for rows in np.split(emission, offsets[1:-1]):
            print(json.dumps({"emission": rows.tolist()}), file=file)
    iob2(LABELS).save("iob2.json")


def measure(claim: str, command: list[str], program: str, most: float) -> bool:
    run = partial(subprocess.run, check=True, capture_output=True)
    ours, theirs = median_seconds(partial(run, command), partial(run, [sys.executable, "-c", program]))
    return report(claim, ours / theirs, at_most=most)


def main() -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users keep their byte code
    os.chdir(tempfile.mkdtemp())
    write_scores(int([*sys.argv, "100000"][1]))
    return int(sum(not measure(*row) for row in ROWS) > 0)


if __name__ == "__main__":
    sys.exit(main())
