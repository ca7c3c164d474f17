"""`lcons repair`: a constraint that allows or forbids one more combination, and is otherwise unchanged.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import click

from lcons_cli.console import print_json, say
from lcons_cli.options import INPUT, OUTPUT, json_option


@click.command(short_help="Allow or forbid one more combination, and nothing else.")
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@click.option(
    "--allow/--forbid",
    "allow",
    default=None,
    help="Whether the combination is right but forbidden, or wrong but allowed. Its values are such as"
    " `Location Kill`, or `source=Location relation=Kill`.",
)
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    help="The file for the repaired constraint (JSON). Default: only print what would change.",
)
@json_option
def repair(
    constraint: str, values: tuple[str, ...], allow: bool | None, output: str | None, as_json: bool
) -> None:
    """Change the constraint in CONSTRAINT.json as little as possible, so that one combination is allowed or
    forbidden. What else changed is checked, and printed in words.

    The combination is kept in the file as an example: a later repair that would break it is an error.

    \b
    Example:
      lcons repair pairs.json --allow Location Kill -o fixed.json
      lcons repair pairs.json --forbid source=Person,relation=NoRel
    """
    from lcons_contrib.repair.edits import repair as repair_constraint
    from lcons_core import load, save
    from lcons_core.reason._rules_text import read_assignment

    if allow is None:
        raise click.UsageError("say whether the combination is right, --allow, or wrong, --forbid.")
    learned = load(constraint)
    assignment = read_assignment(learned.space, values)
    found = repair_constraint(learned, **{"allow" if allow else "forbid": assignment})
    if output is not None:
        save(found.constraint, output)
    if as_json:
        print_json({"constraint": output, **found.to_dict()})
    else:
        click.echo(str(found))
    if output is not None:
        say(f"written to {output}: the repaired constraint")
