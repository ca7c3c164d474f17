"""Why a program has no solution: constraints that cannot hold together.

A deletion filter: drop one constraint after the other; what is still infeasible without it does not need
it, what becomes feasible does. What is left is irreducible: each of its constraints is needed for the
clash. Two orders are tried and the smaller set is given; it need not be the smallest there is.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lcons_decode.ilp.ground import Grounded
from lcons_decode.ilp.program import Program

Feasible = Callable[[Program, Sequence[Grounded]], bool | None]


def find_clash(
    program: Program, constraints: Sequence[Grounded], feasible: Feasible
) -> tuple[str, ...] | None:
    """The names of hard constraints and of row groups that clash; () where the program alone has no solution.

    None where `feasible` could not tell (time).
    """
    groups = dict.fromkeys(row.group for row in program.rows if row.group is not None)
    names = [*groups, *(grounded.name for grounded in constraints)]

    def without(dropped: set[str]) -> bool | None:
        rows = tuple(row for row in program.rows if row.group not in dropped)
        kept = [grounded for grounded in constraints if grounded.name not in dropped]
        return feasible(replace(program, rows=rows), kept)

    if without(set(names)) is False:
        return ()
    found = [_irreducible(order, without) for order in (names, names[::-1])]
    known = [clash for clash in found if clash is not None]
    return min(known, key=len) if known else None


def _irreducible(names: Sequence[str], without: Callable[[set[str]], bool | None]) -> tuple[str, ...] | None:
    dropped: set[str] = set()
    for name in names:
        verdict = without({*dropped, name})
        if verdict is None:
            return None
        if not verdict:
            dropped.add(name)
    return tuple(name for name in names if name not in dropped)
