"""`lcons calibrate`: a constraint with a guarantee on how many valid structures it rejects.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, sizes
from lcons_cli.progress import working

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_tasks.own_data import Data


@click.command(short_help="Bound how many valid structures a constraint rejects.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The file for the calibrated constraint (JSON).",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The share of valid structures that may be rejected. At least 1/alpha - 1 structures are needed.",
)
@labelled_options
@common_options("Print the size of the constraint in every form, and its origin.", seed="unused")
def calibrate(
    constraint: str,
    data: str,
    output: str,
    alpha: float,
    form: str | None,
    columns: str | None,
    tabs: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write the constraint in CONSTRAINT.json with a guarantee: it rejects valid structures at most ALPHA of
    the time.

    DATA has valid structures (sentences, lists of tuples, or the valid rows of a table) that the constraint
    was not learned from, as for `lcons learn`. If it was learned from the first part of DATA (`lcons learn
    --held-out-end`), only the other part is used. If more than ALPHA of them are rejected, the threshold of
    the constraint is lowered; all its forms stay exact.

    Two figures are printed, and stay in the file: ALPHA is a limit on average over data such as DATA; the
    bound holds for this constraint, with a confidence of 95 %. Both are about new structures like DATA.

    \b
    Example:
      lcons calibrate rules.json dev.conll -o safe.json --alpha 0.1
      lcons explain safe.json
    """
    from lcons_contrib.calibrate.thresholds import calibrate as calibrated
    from lcons_core import load, save

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(output, constraint, data)
    learned = load(constraint)
    with working(f"reading {Path(data).name}", say):
        positives, doubts = _positives(learned, read_labelled(data, form, columns, tabs, say), data, say)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, known = calibrated(learned, positives, alpha)
    save(found, output)
    for line in sizes(found) if verbose else ():
        say(line)
    if as_json:
        click.echo(json.dumps({"constraint": output, **known.to_dict()}, indent=2))
    else:
        before = "the old margin" if known.factor != 1 else "the margin, as before"
        click.echo(f"threshold: {known.threshold:.4g} of {before}\n{known}")
    for text in doubts or [str(one.message) for one in caught]:
        click.echo(f"warning: {' '.join(text.split())}", err=True)
    say(f"written to {output}: the calibrated constraint")


def _positives(learned: LearnedConstraint, data: Data, path: str, say: Say) -> tuple[Any, list[str]]:
    """(valid structures or psi rows, warnings); structures with unknown labels are left out."""
    from lcons_core import InvalidInput
    from lcons_tasks.diagnosis import divide
    from lcons_tasks.own_data import PsiTable, recorded_split

    doubts = []
    recorded = recorded_split(learned.provenance)[1]
    if recorded is not None and Path(path).name in {part.file for part in recorded.learned_from}:
        division = divide(learned, data)
        if division.held_out is None:
            doubts.append(
                f"{division.why} of {Path(path).name}, so it rejects fewer of these than of new ones, and the"
                " guarantee does not hold; name data that it was not learned from."
            )
        else:
            data = division.held_out
            say(f"{division.why}, as it records; it is calibrated on the others")
    if isinstance(data, PsiTable):
        return data.X[data.valid], doubts
    if learned.feature is None:
        raise InvalidInput(
            f"expected a table of psi vectors in {path!r}, because the constraint has no feature, found"
            " structures; name a table."
        )
    known = set(learned.labels)
    read = [one for one in data.instances if not known or known.issuperset(one.y)]
    if len(read) < len(data.instances):
        say(f"left out: {len(data.instances) - len(read):,} structures with labels that the constraint lacks")
    return read, doubts
