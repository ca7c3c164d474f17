"""`lcons report`: runs as one HTML page.

Only click is imported at start-up; other imports are made when the command runs.
"""

import click

from lcons_cli.console import STDIN, print_json, say, write_lines
from lcons_cli.options import INPUT, OutputPath, check_output, json_option
from lcons_cli.progress import progress


@click.command()
@click.argument("runs", nargs=-1, required=True, type=INPUT, metavar="RUN...")
@click.option(
    "-o",
    "--out",
    default="report.html",
    type=OutputPath(allow_dash=True),
    help="File of the page; `-` for stdout.",
)
@json_option
def report(runs: tuple[str, ...], out: str, as_json: bool) -> None:
    """Make one HTML page of RUNs: folders that `lcons run` writes, constraint files, or labels that `lcons
    decode --json` writes.

    The page is self-contained. It shows results with the paper's figures, learning curves, each constraint
    (in words, and as a matrix of allowed and forbidden combinations if the domain is small),
    sentences before and after, and the origin of all data. Several runs are shown one after another.

    For decoded labels, the page shows accuracy before and after decoding if the scores have a column `gold`.

    \b
    Example:
      lcons report runs/er -o er.html
      lcons report runs/er runs/chunking
      lcons report pairs.json -o pairs.html
      lcons report bigrams.json labels.jsonl -o own.html
    """
    from lcons_tasks.report._page import report_page, summary
    from lcons_tasks.report._run import read_runs

    target = None if out == STDIN else out
    if target is None and as_json:
        raise click.UsageError("only one output goes to stdout: name a file with -o, or leave --json out.")
    check_output(target, *runs)
    records = read_runs(runs)
    with progress("explaining constraints"):
        page = report_page(records)
    write_lines([page.removesuffix("\n")], target)
    if target is not None:
        size = len(page.encode()) / 2**20
        say(f"written to {target}: {len(records)} run{'s'[: len(records) > 1]}, {size:.1f} MiB")
    if as_json:
        print_json(summary(records))
