"""`lcons verify`: Theorem 1 on one constraint, in exact arithmetic.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import sizes
from lcons_cli.progress import working


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

    A domain of at most 100,000 points is checked at every point; a larger one at random points and some near
    the boundary. All checks are in exact arithmetic. The output notes if all points are on one side. If
    two forms differ, the output has a witness and the exit code is 1. Rows that float64 cannot hold exactly
    are rounded; points whose verdict changes by this are counted, but are not a failure.

    \b
    Example:
      lcons verify pairs.json
      lcons verify pairs.json --json
    """
    from lcons_core import load
    from lcons_core import verify as verify_constraint
    from lcons_core._arithmetic import many
    from lcons_core._theorem import estimate_rows
    from lcons_core.reason._compare import in_words
    from lcons_core.reason._verify import exhausts

    say: Say = say_nothing if quiet else say_on_stderr
    learned = load(constraint)
    for line in sizes(learned) if verbose else ():
        say(line)
    space, network = learned.space, learned.network
    every = exhausts(network, space)
    say(
        f"K = {network.K}, {many(estimate_rows(network).rows)} rows by Theorem 1;"
        f" {space.extent} of {', '.join(block.name for block in space.blocks[:6])},"
        f" {'all checked' if every else f'{samples:,} drawn with seed {seed}'}"
    )
    where = "every point" if every else f"{samples:,} drawn points and some near the boundary"
    with working(f"checking every form at {where}", say):
        found = verify_constraint(learned, samples=samples, seed=seed)
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if as_json else str(found))
    if found.witness is not None and found.witness.point is not None:
        say(f"the witness: {in_words(found.witness.point)}")
    if found.witness is not None:
        raise click.exceptions.Exit(1)
