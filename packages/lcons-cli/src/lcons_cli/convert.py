"""`lcons convert`: a constraint as inequalities, for people, programs and solvers.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import say, write_lines
from lcons_cli.options import INPUT, OUTPUT, check_output
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_core._theorem import Form
    from lcons_core._types import OnProgress
    from lcons_decode.ilp._files import Scores

ENDINGS = {".txt": "text", ".json": "json", ".csv": "csv", ".lp": "lp", ".mps": "mps"}
MODELS = ("lp", "mps")

# The limit in MiB of coefficients.
LIMIT, MODEL_LIMIT = 64, 16


@click.command(short_help="Write a constraint as inequalities.")
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.option(
    "--form",
    type=click.Choice(["rows", "lifted", "simplified"]),
    help="rows: the 2^K - 1 inequalities of Theorem 1. lifted: K + 1 inequalities with K more variables."
    " simplified: only the rows that matter on the domain. Default: lifted for LP and MPS, else rows.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(list(ENDINGS.values())),
    help="text: a table as in the paper. lp, mps: a complete model, with one-hot equations, bounds, types and"
    " names. Default: by the ending of the output file, else text.",
)
@click.option("--json", "target", flag_value="json", help="The same as --to json.")
@click.option("-o", "--output", type=OUTPUT, help="The file to write. Default: stdout.")
@click.option(
    "--scores",
    type=INPUT,
    metavar="SCORES.json",
    help='The objective of an LP or MPS model: {"block": {"value": number}}, maximised. Default: none.',
)
def convert(
    constraint: str,
    form: str | None,
    target: str | None,
    output: str | None,
    scores: str | None,
) -> None:
    """Write the constraint in CONSTRAINT.json as linear inequalities.

    All forms describe the same points. The text has rounded numbers; all other formats keep them exactly.

    \b
    Example:
      lcons convert pairs.json
      lcons convert pairs.json --form simplified -o pairs.csv
      lcons convert pairs.json -o pairs.lp
    """
    from lcons_core import load
    from lcons_core._theorem import check_form_size, read_form

    ending = Path(output or "").suffix.lower()
    target = target or ENDINGS.get(ending, "text")
    is_model = target in MODELS
    if scores is not None and not is_model:
        raise click.UsageError("--scores is the objective of an LP or MPS model: leave it out.")
    check_output(output, constraint, scores)
    chosen = read_form(form or ("lifted" if is_model else "rows"))
    learned = load(constraint)
    check_form_size(learned.network, chosen, (MODEL_LIMIT if is_model else LIMIT) * 2**20)
    with progress("simplifying") as report:
        if is_model:
            lines, summary = _model(learned, chosen, target, _scores(scores))
        else:
            lines, summary = _table(learned, chosen, target, report)
    write_lines(lines, output)
    say(summary if output is None else f"{summary}; written to {output}")


def _table(
    constraint: LearnedConstraint, form: Form, target: str, report: OnProgress
) -> tuple[Iterable[str], str]:
    """The lines of text, JSON or CSV, and a summary of them."""
    from lcons_core._tables import named_rows

    # The size has already been checked.
    rows = named_rows(constraint, form, max_bytes=2**62, progress=report)
    lines = {"text": rows.text, "json": rows.json, "csv": rows.csv}[target]()
    summary = f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}; {rows.meaning}"
    if rows.about:
        total = len(rows) + sum(rows.about["dropped"].values())
        kind = "minimal" if rows.about["minimal"] else "sound, not minimal"
        summary = f"{len(rows):,} of {total:,} rows ({kind}); {rows.meaning}"
    if rows.rounded:
        summary += "; they are rounded to float64, and `lcons verify` says where that moves a verdict"
    return lines, summary


def _model(
    constraint: LearnedConstraint, form: Form, target: str, scores: Scores | None
) -> tuple[Iterable[str], str]:
    """The lines of an LP or MPS model, and a summary of them."""
    from lcons_decode.ilp._files import constraint_model

    lines, variables, rows = constraint_model(constraint, target, form, scores)
    summary = f"{variables:,} variables, {rows:,} rows"
    return lines, summary + ("" if scores else "; the objective is zero: add yours, or pass --scores")


def _scores(path: str | None) -> Scores | None:
    """The scores in a JSON file."""
    from lcons_core import InvalidInput, LconsError
    from lcons_core._files import parse

    if path is None:
        return None
    try:
        scores = parse(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, LconsError) as error:
        raise InvalidInput(f"{path!r} is not a JSON file of scores: {error}.") from None
    if not isinstance(scores, dict):
        raise InvalidInput(f'expected {{"block": {{"value": number}}}} in {path!r}.')
    return scores
