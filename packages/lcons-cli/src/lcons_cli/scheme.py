"""`lcons scheme`: a designed constraint, from a span scheme or from rules written by hand, as a file.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_json, say
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import COUNT, INPUT, OUTPUT, check_output, json_option

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint

SCHEMES = ("iob2", "bioes", "bilou")

# The bytes that decide whether a file has one cell per line.
_BEGINNING = 2**16


@click.command()
@click.argument("scheme", metavar="SCHEME|RULES.txt")
@click.argument("labels", metavar="LABELS")
@click.option("-o", "--output", required=True, type=OUTPUT, help="The file for the constraint (JSON).")
@click.option("-n", "n", type=COUNT, help="For rules on labels: on how many in a row. Default: 2.")
@labelled_options
@json_option
def scheme(
    scheme: str, labels: str, output: str, n: int | None, form: str | None, columns: str | None, as_json: bool
) -> None:
    """Write a constraint that is designed, not learned, for `lcons decode` and the other commands.

    SCHEME is iob2, bioes or bilou. LABELS is a list such as B-NP,I-NP,O, a file with one label per line, or
    labelled data, as for `lcons learn`.

    RULES.txt has one rule per line, as in `lcons compare`. Rules on labels are about two labels in a row,
    `label 1` and `label 2`, or about n (`-n`); the label before the first is (start), the one after the last
    is (stop). For all other rules, LABELS is a constraint file whose names the rules use.

    \b
    Example:
      lcons scheme iob2 train.conll -o iob2.json
      lcons scheme bioes B-NP,I-NP,E-NP,S-NP,O -o bioes.json
      lcons explain pairs.json --rules > rules.txt
      lcons scheme rules.txt pairs.json -o edited.json
    """
    import lcons_core

    check_output(output, labels, scheme)
    if scheme in SCHEMES:
        if n is not None:
            raise click.UsageError(f"-n is for rules; the scheme {scheme} is about pairs.")
        constraint = getattr(lcons_core, scheme)(_labels(labels, form, columns))
    else:
        constraint = _rules(INPUT.convert(scheme, None, None), labels, n, form, columns)
    lcons_core.save(constraint, output)
    designed, K = constraint.provenance["designed"], constraint.network.K
    if as_json:
        labels_of = list(constraint.labels)
        print_json({"constraint": output, "designed": designed, "labels": labels_of, "hidden": K})
    names = f" on {len(constraint.labels):,} labels" if constraint.labels else ""
    say(f"written to {output}: {designed}{names}, K = {K}")


def _rules(path: str, labels: str, n: int | None, form: str | None, columns: str | None) -> LearnedConstraint:
    """The constraint of a file of rules, which use the names of a constraint or of windows of labels."""
    from lcons_core import LearnedConstraint, load
    from lcons_core.features import ConstraintFeature, NgramLabels
    from lcons_core.reason._rules_text import load_rules

    feature: ConstraintFeature | None
    if Path(labels).suffix.lower() == ".json" and form is None:
        if n is not None:
            raise click.UsageError("-n is for rules on labels, not for those on a constraint file.")
        like = load(labels)
        space, feature = like.space, like.feature
    else:
        length = 2 if n is None else n
        feature = NgramLabels(_labels(labels, form, columns), n=length, pad=length > 1)
        space = feature.space
    network = load_rules(path, space).network()
    return LearnedConstraint(network, space, feature, {"designed": f"rules of {Path(path).name}"})


def _labels(text: str, form: str | None, columns: str | None) -> tuple[str, ...]:
    """The labels of a list, of a file with one label per line, or of labelled data, sorted."""
    from lcons_core import InvalidInput
    from lcons_decode.files._scores import read_labels
    from lcons_tasks.own_data import Structures

    if "," in text:
        labels = tuple(dict.fromkeys(label.strip() for label in text.split(",")))
        if not all(labels):
            raise InvalidInput(f"expected labels such as B-NP,I-NP,O, got {text!r:.80}.")
        return labels
    path = INPUT.convert(text, None, None)
    if form is None and columns is None and _one_cell_per_line(path):
        return read_labels(path)
    data = read_labelled(path, form, columns)
    if not isinstance(data, Structures) or data.tuples:
        raise InvalidInput(f"expected label sequences or one label per line in {path!r}.")
    return tuple(sorted({label for instance in data.instances for label in instance.y}))


def _one_cell_per_line(path: str) -> bool:
    """Whether the file begins with lines of one cell each, or is a JSON list."""
    with Path(path).open("rb") as file:
        start = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"[", b"{")):
        return start.startswith(b"[")
    lines = [line for line in start.splitlines() if line.strip()]
    return bool(lines) and b"\0" not in start and all(len(line.split()) == 1 for line in lines)
