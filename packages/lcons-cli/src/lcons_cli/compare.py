"""`lcons compare`: are two constraints, or a constraint and designed rules, the same set?

Only click is imported here; what the command needs is imported when it runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, shared
from lcons_cli.progress import about, waiting

if TYPE_CHECKING:
    from lcons_core import Comparison, LearnedConstraint, Rules

EXITS = {"equal": 0, "different": 1, "undecided": 3}

# Points times hidden units that are enumerated in a second.
_SPEED = 2e8


@click.command(short_help="Tell whether two constraints allow the same points.")
@click.argument("a", type=FILE, metavar="A")
@click.argument("b", type=FILE, metavar="B")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10**7,
    show_default=True,
    metavar="POINTS",
    help="Domains of more points are not enumerated, but searched, and decided by integer programs.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="For the integer programs.",
)
@click.option(
    "--solver",
    type=click.Choice(["cbc", "highs"]),
    default="cbc",
    show_default=True,
    help="Of the integer programs.",
)
@click.option(
    "--witnesses",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many points are shown that only one of the two allows, for each of them.",
)
@shared("Say how the answer was found.")
def compare(
    a: str,
    b: str,
    limit: int,
    time_limit: float,
    solver: str,
    witnesses: int,
    seed: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Tell whether A and B allow the same points: exit code 0 if equal, 1 if different, 3 if undecided.

    Each is a constraint file; one may be a text file of designed rules, which are read by the names of the
    other, a rule a line:

    \b
      # a comment
      relation Kill or LiveIn needs source Person
      source Location cannot go with relation Kill
      forbid: source Location, relation not NoRel
      allow only: source Person, relation Kill

    Conditions that hold together are joined by commas. Of several `allow only:` one must hold. A name in
    double quotes is read as it stands. Names of a binary block hold or not (`exists title, exists not
    author`), counts are compared (`count author >= 3`, `count author 0 or 2 to 4`).

    \b
    Example:
      lcons explain pairs.json --rules > rules.txt
      lcons compare pairs.json rules.txt
      lcons compare pairs.json pairs.json --json
    """
    from lcons_core._arithmetic import many
    from lcons_decode.ilp._compare import compare_by_ilp

    say: Say = say_nothing if quiet else say_on_stderr
    sets = _read(a, b)
    space = sets[0].space
    units = sum(_units(found) for found in sets)
    if space.size <= limit and space.size * units > 2 * _SPEED:
        say(f"{space.size:,} points to enumerate; {about(space.size * units / _SPEED)}")
    elif space.size > limit:
        say(
            f"{many(space.size)} points, more than the limit of {limit:,}, are not enumerated: a proof, a"
            f" witness or integer programs (for at most {time_limit:g} s) decide"
        )
    with waiting("comparing", say) as progress:
        found = compare_by_ilp(
            *sets,
            solver=solver,
            time_limit=time_limit,
            limit=limit,
            witnesses=witnesses,
            seed=seed,
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps({"a": a, "b": b, **found.to_dict()}, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_lines(found, a, b)))
    if verbose:
        say(found.how)
    raise click.exceptions.Exit(EXITS[found.outcome])


def _read(a: str, b: str) -> tuple[LearnedConstraint | Rules, LearnedConstraint | Rules]:
    """Both files; rules are read by the names of the other's space."""
    from lcons_core import load, load_rules
    from lcons_core._errors import InvalidInput

    read: dict[int, LearnedConstraint | Rules] = {}
    for i, path in enumerate((a, b)):
        if not _is_rules(path):
            read[i] = load(path)
    if not read:
        raise InvalidInput(
            f"rules are read by the names of a constraint file, found rules in both {a!r} and {b!r}; name a"
            " constraint file beside them."
        )
    for i, path in enumerate((a, b)):
        if i not in read:
            read[i] = load_rules(path, read[1 - i].space)
    return read[0], read[1]


def _is_rules(path: str) -> bool:
    """Whether a file is text that cannot be a constraint file, which is JSON; missing ones are not."""
    if Path(path).suffix.lower() == ".json":
        return False
    try:
        with Path(path).open("rb") as file:
            start = file.read(4096)
    except (OSError, ValueError):
        return False
    return not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _units(found: LearnedConstraint | Rules) -> int:
    """How much one point costs, in hidden units."""
    from lcons_core import Rules

    if isinstance(found, Rules):
        return 4 * (len(found.forbidden) + len(found.allowed or ()))
    return found.network.K


def _lines(found: Comparison, a: str, b: str) -> list[str]:
    """The outcome, and the witnesses a line each."""
    from lcons_core.reason._compare import in_words

    if found.outcome != "different":
        return [str(found)]
    looked = "" if found.complete else " looked at"
    lines = [f"different: {found.only_a + found.only_b:,} of {found.points:,} points{looked}"]
    sides = ((a, found.only_a, found.witnesses_a), (b, found.only_b, found.witnesses_b))
    for name, number, witnesses in sides:
        if number:
            lines.append(f"only {name} allows {number:,}:")
            lines += [f"  {in_words(witness)}" for witness in witnesses]
            lines += [f"  and {number - len(witnesses):,} more"] * (number > len(witnesses))
    return lines
