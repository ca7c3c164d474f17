"""`lcons compare`: are two constraints, or a constraint and designed rules, the same set?

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.progress import about, waiting

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint, Rules
    from lcons_core.reason._compare import Comparison

EXITS = {"equal": 0, "different": 1, "undecided": 3}

# Points times hidden units that are enumerated per second.
_SPEED = 2e8


@click.command(short_help="Check whether two constraints allow the same points.")
@click.argument("a", type=FILE, metavar="A")
@click.argument("b", type=FILE, metavar="B")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10**7,
    show_default=True,
    metavar="POINTS",
    help="A domain of more points is not enumerated, but searched for a witness.",
)
@click.option(
    "--witnesses",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many points to show that only A allows, and how many that only B allows.",
)
@common_options("Print how the answer was found.")
def compare(
    a: str,
    b: str,
    limit: int,
    witnesses: int,
    seed: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Check whether A and B allow the same points: exit code 0 if equal, 1 if different, 3 if undecided.

    Each is a constraint file. One of them may be a text file of designed rules, which use the names of the
    other, one line per rule:

    \b
      # a comment
      relation Kill or LiveIn needs source Person
      source Location cannot go with relation Kill
      forbid: source Location, relation not NoRel
      allow only: source Person, relation Kill

    Conditions that must hold together are separated by commas. If there are several `allow only:` lines, one
    of them must hold. A name in double quotes is read literally. A name of a binary block is true or not
    (`exists title, exists not author`), and counts are compared (`count author >= 3`, `count author 0 or 2
    to 4`).

    \b
    Example:
      lcons explain pairs.json --rules > rules.txt
      lcons compare pairs.json rules.txt
      lcons compare pairs.json pairs.json --json
    """
    from lcons_core import compare as compare_sets
    from lcons_core._arithmetic import many

    say: Say = say_nothing if quiet else say_on_stderr
    sets = _read(a, b)
    space = sets[0].space
    units = sum(points.width for points in sets)
    if not space.integral:
        say(f"{space.extent}: a closed form or sampled points decide")
    elif space.size <= limit and space.size * units > 2 * _SPEED:
        say(f"{space.size:,} points to enumerate; {about(space.size * units / _SPEED)}")
    elif space.size > limit:
        say(f"{many(space.size)} points, above the limit of {limit:,}: a proof or a witness decides")
    with waiting("comparing", say) as progress:
        found = compare_sets(*sets, limit=limit, witnesses=witnesses, seed=seed, progress=progress)
    if as_json:
        click.echo(json.dumps({"a": a, "b": b, **found.to_dict()}, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_lines(found, a, b)))
    if verbose:
        say(found.how)
    raise click.exceptions.Exit(EXITS[found.outcome])


def _read(a: str, b: str) -> tuple[LearnedConstraint | Rules, LearnedConstraint | Rules]:
    """Both files; rules use the names of the other file's space."""
    from lcons_core import InvalidInput, load
    from lcons_core.reason._rules_text import load_rules

    read: dict[int, LearnedConstraint | Rules] = {}
    for i, path in enumerate((a, b)):
        if not is_rules(path):
            read[i] = load(path)
    if not read:
        raise InvalidInput(
            f"rules need a constraint file whose names they use, found rules in both {a!r} and {b!r}; name a"
            " constraint file and a file of rules."
        )
    for i, path in enumerate((a, b)):
        if i not in read:
            read[i] = load_rules(path, read[1 - i].space)
    return read[0], read[1]


def is_rules(path: str) -> bool:
    """Whether a file is text that cannot be a constraint file, which is JSON; False if it is missing."""
    if Path(path).suffix.lower() == ".json":
        return False
    from lcons_core._files import open_regular

    try:
        with open_regular(path) as file:
            start = file.read(4096)
    except (OSError, ValueError):
        return False
    return not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _lines(found: Comparison, a: str, b: str) -> list[str]:
    """The outcome, and one line per witness."""
    from lcons_core._arithmetic import many
    from lcons_core.reason._compare import in_words

    if found.outcome != "different":
        return [str(found)]
    looked = "" if found.complete else " looked at"
    lines = [f"different: {many(found.only_a + found.only_b)} of {many(found.points)} points{looked}"]
    sides = ((a, found.only_a, found.witnesses_a), (b, found.only_b, found.witnesses_b))
    for name, number, witnesses in sides:
        if number:
            lines.append(f"only {name} allows {many(number)}:")
            lines += [f"  {in_words(witness)}" for witness in witnesses]
            lines += [f"  and {many(number - len(witnesses))} more"] * (number > len(witnesses))
    return lines
