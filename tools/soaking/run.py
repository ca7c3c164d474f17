"""The command `tools/soak`: hypothesis draws numbers, and a family draws and checks the case of each number.

Families take turns, each with its share of the cases, until a limit is reached; every turn has a seed of its
own. The first wrong case of a turn ends it: what is wrong, the data and the number of the case are printed,
and `--family F --case NUMBER` draws it again, on any machine. The exit code is 1 if a case was wrong.
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
from functools import partial
from itertools import count
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from soaking.families import FAMILIES
from soaking.tally import Tally

ROUNDS = 4  # of all shares in a turn
# A smaller number is no smaller case, so nothing is shrunk.
PROFILE = settings(
    database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


def check(name: str, number: int, tally: Tally) -> None:
    """Draws and checks one case; an exception says what is wrong, and has the case as notes."""
    case = FAMILIES[name].draw(Random(number))
    tally.cases += 1
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", module="lcons_")
            FAMILIES[name].check(case, tally)
    except Exception as error:  # whatever lcons raises on a valid case is a finding
        error.add_note(f"tools/soak --family {name!r} --case {number}\n{json.dumps(case)}")
        raise


def turn(name: str, cases: int, seed: int, tally: Tally) -> bool:
    """Whether these cases of a family are right."""

    @hypothesis.seed(seed)
    @settings(PROFILE, max_examples=cases)
    @given(st.integers(0, 2**64))
    def property_(number: int) -> None:
        check(name, number, tally)

    return is_right(property_)


def is_right(run: Callable[[], None]) -> bool:
    """Whether a run raises nothing; prints what it raises."""
    try:
        with quiet():
            run()
    except Exception as error:
        traceback.print_exception(error, limit=-3)
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on stdout from below Python: CBC prints what it finds on programs without rows."""
    sys.stdout.flush()
    stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(nowhere)


def soak(names: list[str], cases: float, seconds: float, seed: int) -> bool:
    """Whether all cases are right that are drawn until a limit is reached; prints how many there were."""
    deadline, tallies, right = time.monotonic() + seconds, {name: Tally() for name in names}, True
    for round_, name in ((round_, name) for round_ in count() for name in names):
        size = int(min(ROUNDS * FAMILIES[name].share, cases))
        if size <= 0 or time.monotonic() >= deadline:
            break
        right &= turn(name, size, hash((seed, round_)), tallies[name])
        cases -= size
    for name, tally in tallies.items():
        print(f"{name:<18}{tally.cases:>9,} cases{tally.checks:>11,} comparisons")
    return right


def main(argv: list[str] | None = None) -> int:
    """The command: 0 if nothing was wrong, 1 otherwise."""
    parser = argparse.ArgumentParser(
        prog="tools/soak", description="Checks lcons against its definitions on drawn cases, without end."
    )
    parser.add_argument("--cases", type=int, default=float("inf"), help="stop after this number of cases")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all cases (default: 0)")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="only this one; repeatable")
    parser.add_argument("--case", type=int, help="check only the case of this number, of each family")
    options = parser.parse_args(argv)
    names = options.family or list(FAMILIES)
    if options.case is not None:
        right = [is_right(partial(check, name, options.case, Tally())) for name in names]
        return int(not all(right))
    return int(not soak(names, options.cases, 60 * options.minutes, options.seed))
