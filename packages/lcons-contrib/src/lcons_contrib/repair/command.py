"""`lcons repair`: a constraint that allows or forbids one more combination, and is otherwise unchanged.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.explain import ManyWords
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target

ALLOW, FORBID = "--allow", "--forbid"


class AllowOrForbid(ManyWords):
    """A command whose options `--allow` and `--forbid` read all words up to the next option."""

    spread_options = (ALLOW, FORBID)


@click.command(cls=AllowOrForbid, short_help="Allow or forbid one more combination, and nothing else.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json", required=False)
@click.option(
    ALLOW,
    "allowed",
    multiple=True,
    metavar="VALUE...",
    help="A combination that is right, but forbidden: values such as `Location Kill`, or"
    " `source=Location,relation=Kill`.",
)
@click.option(
    FORBID, "forbidden", multiple=True, metavar="VALUE...", help="A combination that is wrong, but allowed."
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="The file for the repaired constraint (JSON). Default: only print what would change.",
)
@common_options("Print the proof as well.", seed="unused")
def repair(
    constraint: str | None,
    allowed: tuple[str, ...],
    forbidden: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
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

    words = allowed or forbidden
    if constraint is None and len(words) > 1:
        *before, constraint = words
        words = tuple(before)
    if constraint is None:
        raise click.UsageError("Missing argument 'CONSTRAINT.json'.")
    if bool(allowed) == bool(forbidden):
        raise click.UsageError("Name one combination, with --allow or with --forbid.")
    say: Say = say_nothing if quiet else say_on_stderr
    if output is not None:
        check_target(output)
    learned = load(constraint)
    assignment = read_assignment(learned.space, words)
    found = repair_constraint(learned, **{"allow" if allowed else "forbid": assignment})
    if output is not None:
        save(found.constraint, output)
    if as_json:
        click.echo(json.dumps({"constraint": output, **found.to_dict()}, ensure_ascii=False, indent=2))
    else:
        click.echo(str(found))
    if verbose:
        say(f"compared on {found.compared:,} combinations")
    if output is not None:
        say(f"written to {output}: the repaired constraint")
