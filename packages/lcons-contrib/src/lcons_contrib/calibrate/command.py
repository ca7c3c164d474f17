"""`lcons calibrate`: a constraint with a guarantee on how many valid structures it rejects.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import print_json, say, warn
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import INPUT, OUTPUT, check_output, json_option

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_tasks.own_data import Data


@click.command(short_help="Bound how many valid structures a constraint rejects.")
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.argument("data", type=INPUT, metavar="DATA")
@click.option(
    "-o", "--output", required=True, type=OUTPUT, help="The file for the calibrated constraint (JSON)."
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    help="The share of valid structures that may be rejected. At least 1/alpha - 1 structures are needed.",
)
@labelled_options
@json_option
def calibrate(
    constraint: str,
    data: str,
    output: str,
    alpha: float,
    form: str | None,
    columns: str | None,
    as_json: bool,
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

    check_output(output, constraint, data)
    learned = load(constraint)
    positives, doubts = _positives(learned, read_labelled(data, form, columns), data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, known = calibrated(learned, positives, alpha)
    save(found, output)
    if as_json:
        print_json({"constraint": output, **known.to_dict()})
    else:
        before = "the old margin" if known.factor != 1 else "the margin, as before"
        click.echo(f"threshold: {known.threshold:.4g} of {before}\n{known}")
    for text in doubts or [str(one.message) for one in caught]:
        warn(text)
    say(f"written to {output}: the calibrated constraint")


def _positives(learned: LearnedConstraint, data: Data, path: str) -> tuple[Any, list[str]]:
    """(valid structures or psi rows, warnings); structures with unknown labels are left out."""
    from lcons_core import InvalidInput
    from lcons_tasks.diagnosis import divide
    from lcons_tasks.own_data import PsiTable, recorded_split

    doubts = []
    recorded = recorded_split(learned.provenance)
    if recorded is not None and Path(path).name == recorded.file:
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
