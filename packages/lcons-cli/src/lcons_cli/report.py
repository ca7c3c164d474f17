"""`lcons report`: runs as one HTML page.

Only click is imported at start-up; other imports are made when the command runs.
"""

from __future__ import annotations

import json

import click

from lcons_cli.console import STDIN, Say, say_nothing, say_on_stderr
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, write_lines
from lcons_cli.progress import signs_of_life


@click.command(short_help="Make one HTML page of runs and constraints.")
@click.argument("runs", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "-o",
    "--out",
    default="report.html",
    show_default=True,
    type=FILE,
    metavar="FILE",
    help="File of the page; `-` for stdout.",
)
@click.option(
    "--sets",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    metavar="N",
    help="Show at most N sets of constraints and N files of predictions per run.",
)
@click.option(
    "--sentences",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    metavar="N",
    help="Show at most N sentences per file of predictions, changed sentences first.",
)
@common_options(
    "Print what the page shows of each run, and what --sets and --sentences leave out.",
    json="Print the headlines of the runs as JSON.",
    seed="unused",
)
def report(
    runs: tuple[str, ...],
    out: str,
    sets: int,
    sentences: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Make one HTML page of RUNs: folders that `lcons run` writes, constraint files, or labels that `lcons
    decode --json` writes.

    The page is self-contained. It shows results with the paper's figures, learning curves, each constraint
    (in words, as a matrix of allowed and forbidden combinations if the domain is small, as coefficients and
    as inequalities), sentences before and after, and the origin of all data. Several runs are shown one
    after another.

    For decoded labels, the page shows accuracy before and after decoding if the scores have a column `gold`.

    \b
    Example:
      lcons report runs/er -o er.html
      lcons report runs/er runs/chunking
      lcons report pairs.json -o pairs.html
      lcons report bigrams.json labels.jsonl -o own.html
    """
    from lcons_core import InvalidInput
    from lcons_tasks.report import Limits, read_runs, report_page, summary

    say: Say = say_nothing if quiet else say_on_stderr
    target = None if out == STDIN else out
    if target is None and as_json:
        raise InvalidInput("expected one output on stdout, found the page and --json; name a file with -o.")
    check_target(target, *runs)
    found = read_runs(runs)
    told: list[str] = []
    with signs_of_life(lambda: "explaining constraints", say):
        page = report_page(found, Limits(sets, sentences), told.append)
    if verbose:
        for line in told:
            say(line)
    if not write_lines([page.removesuffix("\n")], target):
        return
    if target is not None:
        size = len(page.encode()) / 2**20
        say(f"written to {target}: {len(found)} run{'s'[: len(found) > 1]}, {size:.1f} MiB")
    if as_json:
        click.echo(json.dumps(summary(found), ensure_ascii=False, indent=2))
