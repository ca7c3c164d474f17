"""`lcons verify`: Theorem 1 on one constraint, in exact arithmetic, and the examples that repairs kept in it.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import sizes
from lcons_cli.progress import about, working

if TYPE_CHECKING:
    from lcons_core import KeptExample, LearnedConstraint


@click.command(short_help="Check Theorem 1 on a constraint, exactly.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
@click.option(
    "--samples",
    type=click.IntRange(1, 10**7),
    default=10_000,
    show_default=True,
    metavar="N",
    help="How many points to draw if the domain is too large to check all of it.",
)
@common_options("Print the size of the constraint in every form, and its origin.")
def verify(constraint: str, samples: int, seed: int, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Check that network, rows, lifted form and cuts of the constraint in CONSTRAINT.json are the same set.

    If it takes at most about five seconds, every point of the domain is checked; else random points and some
    near the boundary. All checks are in exact arithmetic. The output notes if all points are on one side. If
    two forms differ, the output has a witness and the exit code is 1. Rows that float64 cannot hold exactly
    are checked as rationals; points whose verdict changes by rounding are counted, but are not a failure.

    Examples that `lcons repair` kept in the file are checked, too: if one has another verdict now, it is
    printed in words and the exit code is 1.

    \b
    Example:
      lcons verify pairs.json
      lcons verify pairs.json --json
    """
    from lcons_core import broken_examples, estimate_rows, kept_examples, load, many
    from lcons_core.reason import exhausts, in_words
    from lcons_core.reason import verify as verify_constraint

    say: Say = say_nothing if quiet else say_on_stderr
    learned = load(constraint)
    for line in sizes(learned) if verbose else ():
        say(line)
    space, network = learned.space, learned.network
    every = exhausts(network, space)
    seconds = _seconds(learned, space.size if every else samples, every)
    say(
        f"K = {network.K}, {many(estimate_rows(network).rows)} rows by Theorem 1;"
        f" {space.extent} of {', '.join(block.name for block in space.blocks[:6])},"
        f" {'all checked' if every else f'{samples:,} drawn with seed {seed}'}"
        f"{f'; {about(seconds)}' if seconds > 2 else ''}"
    )
    where = "every point" if every else f"{samples:,} drawn points and some near the boundary"
    with working(f"checking every form at {where}", say):
        found = verify_constraint(learned, samples=samples, seed=seed)
    kept, broken = kept_examples(learned), broken_examples(learned)
    if as_json:
        examples = {"kept": len(kept), "broken": [one.to_dict() for one in broken]}
        data = {**found.to_dict(), "ok": found.ok and not broken, "examples": examples}
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join([str(found), *_examples(len(kept), broken)]))
    if found.witness is not None and found.witness.point is not None:
        say(f"the witness: {in_words(found.witness.point)}")
    if found.witness is not None or broken:
        raise click.exceptions.Exit(1)


def _examples(kept: int, broken: Sequence[KeptExample]) -> Iterator[str]:
    """The examples that repairs kept, as lines; no line if there are none."""
    if kept:
        of = "1 kept example has its" if kept == 1 else f"all {kept:,} kept examples have their"
        yield f"false: {len(broken):,} of {kept:,} kept examples broken" if broken else f"{of} verdict"
    for one in broken:
        now = "rejects" if one.valid else "accepts"
        yield f"- the constraint {now} an example that was kept as {one}"


def _seconds(constraint: LearnedConstraint, points: int, every: bool) -> float:
    """The estimated time for checking every form at the points, and for the climb to the boundary."""
    from lcons_core.reason import seconds

    space, K = constraint.space, constraint.network.K
    moves = 0
    if space.integral and not every:
        moves = 4 * len(space.axes) * sum(len(axis) for axis in space.axes)
    return seconds(constraint.network, space, points) + moves * (8e-6 + 5e-7 * K)
