"""`lcons card`: a constraint file as one page of Markdown, to keep or to publish beside it.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, sizes, write_lines
from lcons_cli.progress import working


@click.command(short_help="Write the card of a constraint file in Markdown.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="The file to write. Default: stdout.")
@click.option(
    "--rules", type=click.IntRange(min=1), default=20, show_default=True, help="How many rules to show."
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10**7),
    default=10_000,
    show_default=True,
    metavar="N",
    help="How many points to check if the domain is too large to check all of it.",
)
@common_options("Print the size of the constraint in every form, and its origin.")
def card(
    constraint: str,
    output: str | None,
    rules: int,
    samples: int,
    seed: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write one page of Markdown on the constraint in CONSTRAINT.json.

    The page states what the constraint reads, its rules in words, and how many combinations it forbids; the
    data that it was learned from, and how often it rejects valid structures; whether its forms are the same
    set (`lcons verify`); how to use it, and its limits.

    The exit code is 1 if its forms differ.

    \b
    Example:
      lcons card pairs.json
      lcons card pairs.json -o pairs.md
    """
    from lcons_tasks.report import card_document, read_card, to_markdown

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(output, constraint)
    with working("finding rules and checking every form", say):
        found = read_card(Path(constraint), rules=rules, samples=samples, seed=seed)
    for line in sizes(found.constraint) if verbose else ():
        say(line)
    if as_json:
        text = json.dumps(found.to_dict(), ensure_ascii=False, indent=2)
    else:
        text = to_markdown(card_document(found)).rstrip("\n")
    written = write_lines([text], output)
    if written and output is not None:
        say(f"written to {output}: the card")
    if not found.ok:
        raise click.exceptions.Exit(1)
