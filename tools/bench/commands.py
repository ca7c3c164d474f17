"""Whole commands beside a small program that does the same, interpreter and imports included, on one core.

`lcons decode` labels sequences of 9 labels under hard IOB2 and writes them in columns; the program reads the
same arrays, calls `constrained_viterbi_batch` and prints the labels. `lcons fit` chooses parts on made-up
sentences beside `--plain`, `audit` beside one training by python-crfsuite, and `tag` labels them beside its
tagger, with the same attributes as lists. A row is a claim, a command, what it is compared with, the
largest ratio of their times, and how often both are run.
Run: .venv/bin/python tools/bench/commands.py [SEQUENCES [SENTENCES]]
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
READ = """
from lcons_tasks.models.phi._templates import attribute_rows
from lcons_tasks.own_data import read_data
import pycrfsuite
read = [(one.x["word"], one.y) for one in read_data("train.conll").instances]
"""
TRAIN = f"""{READ}
trainer = pycrfsuite.Trainer(verbose=False, params={{"c1": 0.02, "c2": 0.02, "max_iterations": 200}})
for words, labels in read:
    trainer.append(attribute_rows({{"word": words}}, "tokens"), labels)
trainer.train("model.crfsuite")"""
TAG = f"""{READ}
tagger = pycrfsuite.Tagger()
tagger.open("model.crfsuite")
for words, _ in read:
    for word, label in zip(words, tagger.tag(attribute_rows({{"word": words}}, "tokens"))):
        print(word, label)
    print()"""
FIT = [LCONS, "-q", "fit", "train.conll", "-o"]
COLUMNS = [LCONS, "tag", "--model", "plain", "--columns", "word", "train.conll"]
ROWS: tuple[tuple[str, list[str], str | list[str], float, int], ...] = (
    ("import lcons_core / import numpy", [sys.executable, "-c", "import lcons_core"], "import numpy", 1.5, 7),
    ("lcons --help / import click", [LCONS, "--help"], "import click", 2.5, 7),
    ("decode npz / the call", [LCONS, "decode", "scores.npz", "-c", "iob2.json"], CALL, 1.5, 3),
    ("decode JSON lines / the call", [LCONS, "decode", "scores.jsonl", "-c", "iob2.json"], CALL, 4.0, 3),
    ("fit / fit --plain", [*FIT, "fitted"], [*FIT, "plain", "--plain"], 3.0, 1),
    ("audit / a training by python-crfsuite", [LCONS, "audit", "train.conll"], TRAIN, 3.0, 1),
    ("tag / the tagger of python-crfsuite", COLUMNS, TAG, 1.25, 3),
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


def write_sentences(sentences: int) -> None:
    """Spans of four types, whose words are often those of their type, among other words."""
    rng = np.random.default_rng(0)
    with Path("train.conll").open("w") as file:
        for _ in range(sentences):
            for _ in range(rng.integers(2, 6)):
                kind = rng.choice(["O", "LOC", "MISC", "ORG", "PER"], p=[0.6, 0.1, 0.1, 0.1, 0.1])
                for i in range(rng.integers(1, 4)):
                    known = kind if rng.random() < 0.9 else "O"
                    label = "O" if kind == "O" else f"{'I' if i else 'B'}-{kind}"
                    print(f"{known.lower()}{int(rng.zipf(1.5)) % 5_000}", label, file=file)
            print(file=file)


def measure(claim: str, command: list[str], other: str | list[str], most: float, repeats: int) -> bool:
    words = [sys.executable, "-c", other] if isinstance(other, str) else other
    ours, theirs = median_seconds(partial(run, command), partial(run, words), repeats=repeats)
    return report(claim, ours / theirs, at_most=most)


def run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    if done.returncode not in ((0, 1) if "audit" in words else (0,)):  # 1: there are findings
        raise RuntimeError(done.stderr)


def main() -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users keep their byte code
    os.chdir(tempfile.mkdtemp())
    sizes = [int(argument) for argument in sys.argv[1:]]
    write_scores(*sizes[:1] or [100_000])
    write_sentences(*sizes[1:] or [10_000])
    return int(sum(not measure(*row) for row in ROWS) > 0)


if __name__ == "__main__":
    sys.exit(main())
