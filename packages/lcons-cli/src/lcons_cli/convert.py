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
    from lcons_decode.ilp._files import Scores

ENDINGS = {".txt": "text", ".json": "json", ".csv": "csv", ".lp": "lp", ".mps": "mps"}
MODELS = ("lp", "mps")

# The limit in MiB of coefficients.
LIMIT, MODEL_LIMIT = 64, 16


@click.command()
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.option("--form", type=click.Choice(["rows", "lifted", "simplified"]), help="See above.")
@click.option(
    "--to", "target", type=click.Choice(list(ENDINGS.values())), help="Default: by the output file."
)
@click.option("--json", "target", flag_value="json", help="The same as --to json.")
@click.option("-o", "--output", type=OUTPUT, help="The file to write. Default: stdout.")
@click.option("--scores", type=INPUT, metavar="SCORES.json", help="The objective of an LP or MPS model.")
def convert(
    constraint: str, form: str | None, target: str | None, output: str | None, scores: str | None
) -> None:
    """Write the constraint in CONSTRAINT.json as linear inequalities.

    The forms are rows, the 2^K - 1 inequalities of Theorem 1; lifted, K + 1 inequalities with K more
    variables, the default for LP and MPS; and simplified, only the rows that matter on the domain.
    They are written as text, a table as in the paper; as json or csv; or as lp or mps, a complete model with
    one-hot equations, bounds, types and names. It maximises the SCORES, {"block": {"value": number}}.

    All forms describe the same points. The text has rounded numbers; all other formats keep them exactly.

    \b
    Example:
      lcons convert pairs.json
      lcons convert pairs.json --form simplified -o pairs.csv
      lcons convert pairs.json -o pairs.lp
    """
    from lcons_core import load
    from lcons_core._tables import named_rows
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
    lines: Iterable[str]
    with progress("simplifying") as report:
        if is_model:
            from lcons_decode.ilp._files import constraint_model

            lines, variables, count = constraint_model(learned, target, chosen, _scores(scores))
            objective = "" if scores else "; the objective is zero: add yours, or pass --scores"
            summary = f"{variables:,} variables, {count:,} rows{objective}"
        else:
            # The size has already been checked.
            rows = named_rows(learned, chosen, max_bytes=2**62, progress=report)
            lines = {"text": rows.text, "json": rows.json, "csv": rows.csv}[target]()
            summary = f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}; {rows.meaning}"
            if rows.about:
                total = len(rows) + sum(rows.about["dropped"].values())
                kind = "minimal" if rows.about["minimal"] else "sound, not minimal"
                summary = f"{len(rows):,} of {total:,} rows ({kind}); {rows.meaning}"
            if rows.rounded:
                summary += "; they are rounded to float64, and `lcons verify` says where that moves a verdict"
    write_lines(lines, output)
    say(summary if output is None else f"{summary}; written to {output}")


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
