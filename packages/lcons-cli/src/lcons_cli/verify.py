"""`lcons verify`: Theorem 1 on one constraint, in exact arithmetic.

Only click is imported here; other modules are imported when the command runs.
"""

import click

from lcons_cli.console import print_answer, say
from lcons_cli.options import INPUT, json_option, seed_option
from lcons_cli.progress import progress

SAMPLES = 10_000  # drawn of a domain that is too large to check all of it


@click.command()
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@seed_option
@json_option
def verify(constraint: str, seed: int, as_json: bool) -> None:
    """Check that network, rows, lifted form and cuts of the constraint in CONSTRAINT.json are the same set.

    A domain of at most 100,000 points is checked at every point; a larger one at 10,000 random points and
    some near the boundary. All checks are in exact arithmetic. The output notes if all points are on one
    side. If two forms differ, the output has a witness and the exit code is 1. Rows that float64 cannot hold
    exactly are rounded; points whose verdict changes by this are counted, but are not a failure.

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

    learned = load(constraint)
    space, network = learned.space, learned.network
    checked = "all checked" if exhausts(network, space) else f"{SAMPLES:,} drawn with seed {seed}"
    blocks = ", ".join(block.name for block in space.blocks[:6])
    rows = many(estimate_rows(network).rows)
    say(f"K = {network.K}, {rows} rows by Theorem 1; {space.extent} of {blocks}, {checked}")
    with progress("checking every form"):
        verdict = verify_constraint(learned, samples=SAMPLES, seed=seed)
    print_answer(as_json, verdict.to_dict(), str(verdict))
    if verdict.witness is not None:
        if verdict.witness.point is not None:
            say(f"the witness: {in_words(verdict.witness.point)}")
        raise click.exceptions.Exit(1)
