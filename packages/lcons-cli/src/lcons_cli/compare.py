"""`lcons compare`: are two constraints, or a constraint and designed rules, the same set?

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_answer, say
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint, Rules
    from lcons_core.reason._compare import Comparison

EXITS = {"equal": 0, "different": 1, "undecided": 3}


@click.command()
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

    first, second = _read(a, b)
    with progress("comparing") as report:
        comparison = compare_sets(first, second, progress=report)
    print_answer(as_json, {"a": a, "b": b, **comparison.to_dict()}, "\n".join(_lines(comparison, a, b)))
    say(comparison.how)
    raise click.exceptions.Exit(EXITS[comparison.outcome])


def _read(a: str, b: str) -> Sequence[LearnedConstraint | Rules]:
    """Both files; rules use the names of the other file's space."""
    from lcons_core import InvalidInput, load
    from lcons_core.reason._rules_text import load_rules

    if is_rules(a) and is_rules(b):
        raise InvalidInput(
            f"expected a constraint file whose names the rules use, got rules in {a!r} and {b!r}."
        )
    if is_rules(a):
        constraint = load(b)
        return load_rules(a, constraint.space), constraint
    constraint = load(a)
    if is_rules(b):
        return constraint, load_rules(b, constraint.space)
    return _on_common_windows(constraint, load(b))


def _on_common_windows(a: LearnedConstraint, b: LearnedConstraint) -> list[LearnedConstraint]:
    """Two constraints on n-grams of the same labels, on windows without (start) and (stop) unless both read
    these, with the labels in one order; other constraints as they are."""
    from lcons_core import LearnedConstraint, RectifierNetwork
    from lcons_core._network import Conjunction
    from lcons_core.features import NgramLabels

    features = [each.feature for each in (a, b) if isinstance(each.feature, NgramLabels)]
    if a.space == b.space or len(features) < 2 or len({(one.n, *sorted(one.labels)) for one in features}) > 1:
        return [a, b]
    if features[0].pad != features[-1].pad:
        say("one of them is about (start) and (stop) too: compared on windows inside a sequence")
    feature = NgramLabels(features[0].labels, features[0].n, pad=features[0].pad and features[-1].pad)
    restricted = []
    for constraint in (a, b):
        columns = [constraint.space.column(block, value) for block, value in feature.space.columns]
        parts = tuple(RectifierNetwork(part.W[:, columns], part.b) for part in constraint.network.parts)
        restricted.append(LearnedConstraint(Conjunction(parts), feature.space, feature))
    return restricted


def is_rules(path: str) -> bool:
    """Whether a file is text that cannot be a constraint file, which is JSON."""
    if Path(path).suffix.lower() == ".json":
        return False
    with Path(path).open("rb") as file:
        return not file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _lines(comparison: Comparison, a: str, b: str) -> list[str]:
    """The outcome, and one line per witness."""
    from lcons_core._arithmetic import many
    from lcons_core.reason._compare import in_words

    if comparison.outcome != "different":
        return [str(comparison)]
    points = f"{many(comparison.points)} points{'' if comparison.complete else ' looked at'}"
    lines = [f"different: {many(comparison.only_a + comparison.only_b)} of {points}"]
    sides = (
        (a, comparison.only_a, comparison.witnesses_a),
        (b, comparison.only_b, comparison.witnesses_b),
    )
    for name, number, witnesses in sides:
        if number:
            lines.append(f"only {name} allows {many(number)}:")
            lines += [f"  {in_words(witness)}" for witness in witnesses]
            lines += [f"  and {many(number - len(witnesses))} more"] * (number > len(witnesses))
    return lines
