"""`lcons convert`: a constraint as inequalities, for people, programs and solvers.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, sizes, write_lines
from lcons_cli.progress import about, waiting

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_core._theorem import Form
    from lcons_core._types import OnProgress
    from lcons_decode.ilp._files import Scores

ENDINGS = {
    ".txt": "text",
    ".json": "json",
    ".csv": "csv",
    ".lp": "lp",
    ".mps": "mps",
}
MODELS = ("lp", "mps")
GRAMMARS = (".lark", ".regex", ".schema")  # endings of what `lcons grammar` writes

# The limit in MiB of coefficients, and the number of coefficients that are written per second.
_LIMITS = {"lp": 16, "mps": 16}
_LIMIT = 64
_SPEED = {"lp": 2e5, "mps": 2e5}
_USUAL_SPEED = 1e6


@click.command(short_help="Write a constraint as inequalities.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
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
@click.option("-o", "--output", type=FILE, metavar="FILE", help="The file to write. Default: stdout.")
@click.option(
    "--scores",
    type=FILE,
    metavar="SCORES.json",
    help='The objective of an LP or MPS model: {"block": {"value": number}}, maximised. Default: none.',
)
@click.option(
    "--decimals",
    type=click.IntRange(0, 20),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of decimals in the text.",
)
@click.option(
    "--max-mib",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop if there are more MiB of coefficients than this. Default: 16 for LP and MPS, else 64.",
)
@common_options("Print the size of the constraint in every form, and its origin.", json=None, seed="unused")
def convert(
    constraint: str,
    form: str | None,
    target: str | None,
    output: str | None,
    scores: str | None,
    decimals: int,
    max_mib: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write the constraint in CONSTRAINT.json as linear inequalities.

    All forms describe the same points. The text has rounded numbers; all other formats keep them exactly.

    \b
    Example:
      lcons convert pairs.json
      lcons convert pairs.json --form simplified -o pairs.csv
      lcons convert pairs.json -o pairs.lp
    """
    from lcons_core import InvalidInput, TooLarge, load
    from lcons_core._theorem import check_form_size, estimate_form, read_form

    ending = Path(output or "").suffix.lower()
    if target is None and ending in GRAMMARS:
        raise InvalidInput(f"{ending} is the ending of a grammar: use `lcons grammar`, of lcons-contrib.")
    target = target or ENDINGS.get(ending, "text")
    if scores is not None and target not in MODELS:
        raise InvalidInput(f"--scores needs an LP or MPS model, found --to {target}; leave one of them out.")
    chosen = read_form(form or ("lifted" if target in MODELS else "rows"))
    say: Say = say_nothing if quiet else say_on_stderr
    learned = load(constraint)
    for line in sizes(learned) if verbose else ():
        say(line)
    check_target(output, constraint, *([] if scores is None else [scores]))
    size = estimate_form(learned.network, chosen)
    seconds = min(size.bytes, 2**60) / 8 / _SPEED.get(target, _USUAL_SPEED)
    if size.rows > 4095 or seconds > 2:
        say(f"{chosen.value}: K = {learned.network.K} hidden units make {size}")
    try:
        check_form_size(learned.network, chosen, (max_mib or _LIMITS.get(target, _LIMIT)) * 2**20)
    except TooLarge as error:
        raise TooLarge(f"{str(error).rstrip('.')}; or raise the limit with --max-mib.") from None
    if seconds > 2:
        say(f"{about(seconds)} to write")
    with waiting("simplifying", say) as progress:
        if target in MODELS:
            lines, summary = _model(learned, chosen, target, _scores(scores))
        else:
            lines, summary = _table(learned, chosen, target, decimals, progress)
    if write_lines(lines, output):
        say(summary if output is None else f"{summary}; written to {output}")


def _table(
    constraint: LearnedConstraint, form: Form, target: str, decimals: int, progress: OnProgress
) -> tuple[Iterable[str], str]:
    """The lines of text, JSON or CSV, and a summary of them."""
    from lcons_core._tables import named_rows

    # The size has already been checked.
    rows = named_rows(constraint, form, max_bytes=2**62, progress=progress)
    lines = {"text": lambda: rows.text(decimals), "json": rows.json, "csv": rows.csv}[target]()
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
        found = parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(
            f"cannot read {path!r}: {error.strerror or error}; name a JSON file of scores."
        ) from None
    except (UnicodeDecodeError, LconsError) as error:
        raise InvalidInput(f"{path!r} is not a JSON file of scores: {error}; write it again.") from None
    if not isinstance(found, dict):
        raise InvalidInput(
            f'expected {{"block": {{"value": number}}}} in {path!r}, found {type(found).__name__}; correct'
            " the file."
        )
    return found
