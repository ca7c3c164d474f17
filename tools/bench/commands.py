"""Whole commands beside a small program that does the same, interpreter and imports included, on one core.

`lcons decode` labels sequences of 9 labels under hard IOB2 and writes them in columns; the program reads the
same arrays, calls `constrained_viterbi_batch` and prints the labels. `lcons fit` chooses parts on made-up
sentences beside `--plain`, `audit` beside one training by python-crfsuite, and `tag` labels them beside its
tagger, with the same attributes as lists. A row is a claim, a command, what it is compared with, the
largest ratio of their times, and how often both are run.
Run: .venv/bin/python tools/bench/commands.py [SEQUENCES SENTENCES]
"""

import json
import os
import subprocess
import sys
import tempfile
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
import pycrfsuite
from lcons_tasks.models.phi._templates import attribute_rows
from lcons_tasks.own_data import read_data
"""
TRAIN = f"""{READ}
trainer = pycrfsuite.Trainer(verbose=False, params={{"c1": 0.02, "c2": 0.02, "max_iterations": 200}})
for one in read_data("train.conll").instances:
    trainer.append(attribute_rows(one.x, "tokens"), one.y)
trainer.train("model.crfsuite")"""
TAG = f"""{READ}
tagger = pycrfsuite.Tagger()
tagger.open("model.crfsuite")
for one in read_data("train.conll").instances:
    labels = tagger.tag(attribute_rows(one.x, "tokens"))
    print(*map(" ".join, zip(one.x["word"], labels)), sep="\\n", end="\\n\\n")"""
FIT = [LCONS, "-q", "fit", "train.conll", "-o"]
COLUMNS = [LCONS, "tag", "--model", "plain", "--columns", "word", "train.conll"]
ROWS: tuple[tuple[str, list[str], str | list[str], float, int], ...] = (
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
    lines = [{"labels": LABELS}, *({"emission": rows.tolist()} for rows in np.split(emission, offsets[1:-1]))]
    Path("scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    iob2(LABELS).save("iob2.json")


def write_sentences(sentences: int) -> None:
    """Spans of four types, whose words are often those of their type, among other words."""
    rng = np.random.default_rng(0)
    with Path("train.conll").open("w") as file:
        for _ in range(sentences):
            for _ in range(rng.integers(2, 6)):
                kind = rng.choice(["O", "LOC", "MISC", "ORG", "PER"], p=[0.6, 0.1, 0.1, 0.1, 0.1])
                for i in range(rng.integers(1, 4)):
                    word = f"{kind if rng.random() < 0.9 else 'O'}{int(rng.zipf(1.5)) % 5_000}"
                    print(word, "O" if kind == "O" else f"{'BI'[i > 0]}-{kind}", file=file)
            print(file=file)


def measure(claim: str, command: list[str], other: str | list[str], most: float, repeats: int) -> bool:
    words = [sys.executable, "-c", other] if isinstance(other, str) else other
    ours, theirs = median_seconds(lambda: run(command), lambda: run(words), repeats=repeats)
    return report(claim, ours / theirs, at_most=most)


def run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode in (0, int("audit" in words)), done.stderr  # 1: there are findings


def main() -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users keep their byte code
    os.chdir(tempfile.mkdtemp())
    sequences, sentences = map(int, sys.argv[1:] or (100_000, 10_000))
    write_scores(sequences)
    write_sentences(sentences)
    return int(sum(not measure(*row) for row in ROWS) > 0)


if __name__ == "__main__":
    sys.exit(main())
