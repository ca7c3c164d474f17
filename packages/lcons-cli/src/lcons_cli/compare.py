"""`lcons compare`: are two constraints, or a constraint and designed rules, the same set?

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_json, say
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint, Rules
    from lcons_core.features import NgramLabels
    from lcons_core.reason._compare import Comparison

EXITS = {"equal": 0, "different": 1, "undecided": 3}


@click.command(short_help="Check whether two constraints allow the same points.")
@click.argument("a", type=INPUT, metavar="A")
@click.argument("b", type=INPUT, metavar="B")
@json_option
def compare(a: str, b: str, as_json: bool) -> None:
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

    A domain of more than ten million points is not enumerated, but searched for a witness.

    \b
    Example:
      lcons explain pairs.json --rules > rules.txt
      lcons compare pairs.json rules.txt
      lcons compare pairs.json pairs.json --json
    """
    from lcons_core import compare as compare_sets

    sets = _read(a, b)
    with progress("comparing") as report:
        comparison = compare_sets(*sets, progress=report)
    if as_json:
        print_json({"a": a, "b": b, **comparison.to_dict()})
    else:
        click.echo("\n".join(_lines(comparison, a, b)))
    say(comparison.how)
    raise click.exceptions.Exit(EXITS[comparison.outcome])


def _read(a: str, b: str) -> tuple[LearnedConstraint | Rules, LearnedConstraint | Rules]:
    """Both files; rules use the names of the other file's space."""
    from lcons_core import InvalidInput, load
    from lcons_core.reason._rules_text import load_rules

    rules = (is_rules(a), is_rules(b))
    if all(rules):
        raise InvalidInput(
            f"expected a constraint file whose names the rules use, got rules in {a!r} and {b!r}."
        )
    if rules[0]:
        constraint = load(b)
        return load_rules(a, constraint.space), constraint
    constraint = load(a)
    if rules[1]:
        return constraint, load_rules(b, constraint.space)
    return _on_common_windows(constraint, load(b))


def _on_common_windows(
    a: LearnedConstraint, b: LearnedConstraint
) -> tuple[LearnedConstraint, LearnedConstraint]:
    """Two constraints on n-grams of the same labels, on windows without (start) and (stop) unless both read
    these, with the labels in one order; other constraints as they are."""
    from lcons_core.features import NgramLabels

    one, other = a.feature, b.feature
    if not (isinstance(one, NgramLabels) and isinstance(other, NgramLabels)) or a.space == b.space:
        return a, b
    if one.n != other.n or {*one.labels} != {*other.labels}:
        return a, b
    if one.pad != other.pad:
        say("one of them is about (start) and (stop) too: compared on windows inside a sequence")
    feature = NgramLabels(one.labels, one.n, pad=one.pad and other.pad)
    return _restricted(a, feature), _restricted(b, feature)


def _restricted(constraint: LearnedConstraint, feature: NgramLabels) -> LearnedConstraint:
    """The constraint on the columns of another feature's space."""
    from lcons_core import LearnedConstraint, RectifierNetwork
    from lcons_core._network import Conjunction

    columns = [constraint.space.column(block, value) for block, value in feature.space.columns]
    parts = tuple(RectifierNetwork(part.W[:, columns], part.b) for part in constraint.network.parts)
    return LearnedConstraint(Conjunction(parts), feature.space, feature)


def is_rules(path: str) -> bool:
    """Whether a file is text that cannot be a constraint file, which is JSON."""
    if Path(path).suffix.lower() == ".json":
        return False
    with Path(path).open("rb") as file:
        return not file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


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
