"""The loop of `tools/soak`: draws cases, checks them, appends to a log, and ends with a summary.

A case is drawn from the text "seed/family/number": `--seed S --family F --case K` draws it again, on any
machine; without a family, case K of each. Families take turns, each with its share of the cases. The log is
JSON lines: one object per batch of cases (family, cases, comparisons, processor time), one per case that is
wrong, with its sentences and all of its data, and one summary at the end. The exit code is 1 if
anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TextIO

from soaking.families import FAMILIES, Family
from soaking.tally import Tally

MOST_SENTENCES = 20


@dataclass
class Total:
    """What was done for one family."""

    cases: int = 0
    checks: int = 0
    wrong: int = 0
    seconds: float = 0.0


@dataclass
class Soak:
    """A run: the seed, what was done so far, and where it is written."""

    seed: int
    log: Callable[[dict[str, Any]], None]
    families: dict[str, Family] = field(default_factory=lambda: dict(FAMILIES))
    totals: dict[str, Total] = field(default_factory=dict)

    def one(self, name: str, number: int) -> Tally:
        """Draws and checks one case; an exception is wrong, too."""
        family, tally = self.families[name], Tally()
        case = family.draw(Random(f"{self.seed}/{name}/{number}"))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", module="lcons_")
                family.check(case, tally)
        except Exception as error:  # whatever lcons raises on a valid case is a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            tally.wrong.append(f"{type(error).__name__} in {where}: {error!s:.300}")
        if tally.wrong:
            repeat = f"tools/soak --seed {self.seed} --family {name!r} --case {number}"
            self.log(
                {
                    "event": "wrong",
                    "family": name,
                    "seed": self.seed,
                    "case": number,
                    "repeat": repeat,
                    "wrong": tally.wrong[:MOST_SENTENCES],
                    "data": case,
                }
            )
        return tally

    def batch(self, name: str, first: int, cases: int) -> int:
        """Checks some cases of a family, and logs them; returns how many are wrong."""
        start, checks, wrong = time.process_time(), 0, 0
        for number in range(first, first + cases):
            tally = self.one(name, number)
            checks += tally.checks
            wrong += bool(tally.wrong)
        seconds = time.process_time() - start
        total = self.totals.setdefault(name, Total())
        total.cases += cases
        total.checks += checks
        total.wrong += wrong
        total.seconds += seconds
        done = {"cases": cases, "checks": checks, "wrong": wrong, "seconds": round(seconds, 3)}
        self.log({"event": "batch", "family": name, "seed": self.seed, "first": first, **done})
        return wrong

    def run(self, cases: int | None, minutes: float | None, first: int = 0, rounds: int = 1) -> int:
        """Checks batches of all families in turn until a limit is reached; returns how many cases are wrong.

        `rounds` times the share of a family is a batch.
        """
        deadline = None if minutes is None else time.monotonic() + 60 * minutes
        done = wrong = turn = 0
        while True:
            for name, family in self.families.items():
                size = family.share * rounds
                number = first + turn * size
                if cases is not None:
                    size = min(size, cases - done)
                if size == 0 or (deadline is not None and time.monotonic() >= deadline):
                    return wrong
                wrong += self.batch(name, number, size)
                done += size
            turn += 1

    def summary(self) -> dict[str, Any]:
        """All totals, by family and together."""
        every = Total()
        for total in self.totals.values():
            for name, value in asdict(total).items():
                setattr(every, name, getattr(every, name) + value)
        families = {name: _rounded(total) for name, total in self.totals.items()}
        return {"event": "summary", "seed": self.seed, **_rounded(every), "families": families}


def _rounded(total: Total) -> dict[str, Any]:
    return {**asdict(total), "seconds": round(total.seconds, 1)}


def table(summary: dict[str, Any]) -> str:
    """The summary as text: one line per family, with its cases per second of processor time."""
    lines = [f"{'family':<18}{'cases':>9}{'compared':>11}{'wrong':>7}{'cases/s':>9}"]
    for name, row in [*summary["families"].items(), ("all", summary)]:
        rate = row["cases"] / row["seconds"] if row["seconds"] else 0.0
        lines.append(f"{name:<18}{row['cases']:>9,}{row['checks']:>11,}{row['wrong']:>7,}{rate:>9.1f}")
    return "\n".join(lines)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on stdout from below Python: CBC prints what it finds on programs without rows."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def arguments() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="tools/soak", description="Checks lcons against its definitions on drawn cases, without end."
    )
    parser.add_argument("--cases", type=int, help="stop after this number of cases")
    parser.add_argument("--minutes", type=float, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all cases (default: 0)")
    parser.add_argument(
        "--family", action="append", choices=list(FAMILIES), help="only this family; repeatable"
    )
    parser.add_argument("--case", type=int, help="check only this case of each family, and print it")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first case (default: 0)")
    parser.add_argument("--log", type=Path, default=Path("soak.jsonl"), help="append to this file")
    return parser


def main(argv: list[str] | None = None) -> int:
    """The command: 0 if nothing was wrong, 1 otherwise."""
    given = arguments().parse_args(argv)
    chosen = {name: family for name, family in FAMILIES.items() if not given.family or name in given.family}
    if given.case is not None:
        return max([_repeat(given.seed, name, given.case) for name in chosen])
    with given.log.open("a", encoding="utf-8") as file:
        soak = Soak(given.seed, lambda entry: _write(file, entry), chosen)
        try:
            with quiet():
                soak.run(given.cases, given.minutes, given.first, rounds=4)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        summary = soak.summary()
        _write(file, summary)
    print(table(summary))
    if summary["wrong"]:
        print(f"{summary['wrong']} cases are wrong; {given.log} says which, and how to repeat them.")
    return int(bool(summary["wrong"]))


def _repeat(seed: int, name: str, number: int) -> int:
    """Checks one case and prints its data and what is wrong."""
    print(f"{name}:")
    print(json.dumps(FAMILIES[name].draw(Random(f"{seed}/{name}/{number}")), indent=1))
    with quiet():
        tally = Soak(seed, lambda entry: None).one(name, number)
    print("\n".join(tally.wrong) or f"nothing is wrong ({tally.checks} comparisons)")
    return int(bool(tally.wrong))


def _write(file: TextIO, entry: dict[str, Any]) -> None:
    file.write(json.dumps(entry) + "\n")
    file.flush()
