"""`lcons learn`, `explain` and `verify` on large inputs: at least twice as fast as version 0.1.0.

- learn: bigrams of labels from 10^6 tokens, sentences of CoNLL-2000 (or of the bundled corpus) drawn with
  replacement; nothing is held out, because 0.1.0 judges by fewer folds.
- explain and verify: a constraint of K = 10 on 10^3 columns, learned from 10^4 vectors of 0 and 1 that a
  planted network divides in half.

Each command runs as users run it, in a process of its own, its start included. The two versions run in turn,
and the medians of their CPU times are compared.

Run: .venv/bin/python tools/bench/commands.py [--repeats 3] [learn explain verify]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from released import compare, run_lcons
from timing import report

from lcons_tasks.bundled import bundled
from lcons_tasks.data import find

TOKENS, VECTORS, COLUMNS = 10**6, 10**4, 10**3
LEAST = 2.0
COMMANDS = ("learn", "explain", "verify")


def write_corpus(path: Path) -> None:
    """A file of columns with `TOKENS` tokens."""
    found = find("conll2000")
    source = found[0] if found else bundled("chunking", "train.txt")
    sentences = source.read_text(encoding="utf-8").strip().split("\n\n")
    draw = np.random.default_rng(0)
    left = TOKENS
    with path.open("w", encoding="utf-8") as file:
        while left > 0:
            sentence = sentences[draw.integers(len(sentences))]
            file.write(f"{sentence}\n\n")
            left -= sentence.count("\n") + 1


def write_table(path: Path) -> None:
    """A table of sparse vectors, half of them valid."""
    draw = np.random.default_rng(0)
    X = (draw.random((VECTORS, COLUMNS)) < 0.02).astype(float)
    W, b = 2 * draw.normal(size=(4, COLUMNS)), -draw.uniform(0, 1, 4)
    load = np.maximum(X @ W.T + b, 0).sum(1)
    np.savez(path, X=X, y=load <= np.median(load), names=np.array([f"c{j}" for j in range(COLUMNS)]))


def arguments_of(command: str, folder: Path) -> Sequence[str]:
    """The arguments of a command; its input is written first."""
    if command == "learn":
        corpus = folder / "tokens.conll"
        write_corpus(corpus)
        learned = str(folder / "bigrams.json")
        return ["learn", str(corpus), "-o", learned, "--columns", "word,pos,label", "--no-held-out", "-q"]
    constraint = folder / "wide.json"
    if not constraint.exists():
        table = folder / "wide.npz"
        write_table(table)
        run_lcons(["learn", str(table), "-o", str(constraint), "--no-held-out", "-q"])
    return [command, str(constraint), "-q"]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--repeats", type=int, default=3, help="how often each version runs")
    options.add_argument("commands", nargs="*", default=list(COMMANDS), help=", ".join(COMMANDS))
    given = options.parse_args()
    met = []
    with tempfile.TemporaryDirectory() as folder:
        for command in given.commands:
            arguments = arguments_of(command, Path(folder))
            old, new = compare(lambda released, own=arguments: run_lcons(own, released), given.repeats)  # type: ignore[misc]
            print(f"   lcons {command}: {old.cpu:.1f} CPU s with 0.1.0, {new.cpu:.1f} now")
            met.append(report(f"lcons {command}, speed over 0.1.0", old.cpu / new.cpu, at_least=LEAST))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
