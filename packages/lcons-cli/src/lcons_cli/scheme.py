"""`lcons scheme`: a designed constraint, from a span scheme or from rules written by hand, as a file.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, sizes

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint

SCHEMES = ("iob2", "bioes", "bilou")

# The bytes that decide whether a file has one cell per line.
_BEGINNING = 2**16


@click.command(short_help="Write a span scheme or your own rules as a constraint.")
@click.argument("scheme", type=FILE, metavar="SCHEME|RULES.txt")
@click.argument("labels", type=FILE, metavar="LABELS")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The file for the constraint (JSON).",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    help="For rules on labels: how many labels in a row they are about. Default: 2.",
)
@labelled_options
@common_options("Print the size of the constraint in every form.", seed="unused")
def scheme(
    scheme: str,
    labels: str,
    output: str,
    n: int | None,
    form: str | None,
    columns: str | None,
    tabs: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
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
    from lcons_core import save

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(output, labels, *([] if scheme in SCHEMES else [scheme]))
    if scheme in SCHEMES:
        made = _scheme(scheme, _labels(labels, form, columns, tabs, say), n)
    else:
        made = _rules(scheme, labels, n, form, columns, tabs, say)
    save(made, output)
    for line in sizes(made) if verbose else ():
        say(line)
    designed, K = made.provenance["designed"], made.network.K
    if as_json:
        content = {"constraint": output, "designed": designed, "labels": list(made.labels), "hidden": K}
        click.echo(json.dumps(content, ensure_ascii=False, indent=2))
    names = f" on {len(made.labels):,} labels" if made.labels else ""
    say(f"written to {output}: {designed}{names}, K = {K}")


def _scheme(name: str, labels: tuple[str, ...], n: int | None) -> LearnedConstraint:
    from lcons_core import InvalidInput, bilou, bioes, iob2

    if n is not None:
        raise InvalidInput(f"-n is for rules, found the scheme {name}, which is about pairs; leave it out.")
    return {"iob2": iob2, "bioes": bioes, "bilou": bilou}[name](labels)


def _rules(
    path: str, labels: str, n: int | None, form: str | None, columns: str | None, tabs: bool, say: Say
) -> LearnedConstraint:
    """The constraint of a file of rules, which use the names of a constraint or of windows of labels."""
    from lcons_core import InvalidInput, LearnedConstraint, load
    from lcons_core.features import ConstraintFeature, NgramLabels
    from lcons_core.reason._rules_text import load_rules

    feature: ConstraintFeature | None
    if not Path(path).exists():
        raise InvalidInput(
            f"expected {', '.join(SCHEMES)} or a file of rules, found {path!r}, which does not exist; name"
            " one of them."
        )
    if Path(labels).suffix.lower() == ".json" and form is None:
        if n is not None:
            raise InvalidInput("-n is for rules on labels, found a constraint file; leave one of them out.")
        like = load(labels)
        space, feature = like.space, like.feature
    else:
        known = _labels(labels, form, columns, tabs, say)
        length = 2 if n is None else n
        feature = NgramLabels(known, n=length, pad=length > 1)
        space = feature.space
    network = load_rules(path, space).network()
    return LearnedConstraint(network, space, feature, {"designed": f"rules of {Path(path).name}"})


def _labels(given: str, form: str | None, columns: str | None, tabs: bool, say: Say) -> tuple[str, ...]:
    """The labels of a list, of a file with one label per line, or of labelled data, sorted."""
    from lcons_core import InvalidInput
    from lcons_decode.files._scores import read_labels
    from lcons_tasks.own_data import Structures

    if not Path(given).exists():
        labels = [label.strip() for label in given.split(",")]
        if "," not in given or not all(labels):
            raise InvalidInput(
                f"expected labels such as B-NP,I-NP,O, or a file, found {given!r}, which does not exist; name"
                " one of them."
            )
        return tuple(dict.fromkeys(labels))
    if form is None and columns is None and not tabs and _one_cell_per_line(given):
        return read_labels(given)
    data = read_labelled(given, form, columns, tabs, say)
    if not isinstance(data, Structures) or data.tuples:
        raise InvalidInput(
            f"expected label sequences or one label per line in {given!r}, found tuples or psi vectors; name"
            " another file, or list the labels."
        )
    return tuple(sorted({label for instance in data.instances for label in instance.y}))


def _one_cell_per_line(path: str) -> bool:
    """Whether the file begins with lines of one cell each, or is a JSON list."""
    from lcons_core import LconsError

    try:
        with Path(path).open("rb") as file:
            start = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise LconsError(f"cannot read {path!r}: {error.strerror or error}; name a file of labels.") from None
    if start.startswith((b"[", b"{")):
        return start.startswith(b"[")
    lines = [line for line in start.splitlines() if line.strip()]
    return bool(lines) and b"\0" not in start and all(len(line.split()) == 1 for line in lines)
