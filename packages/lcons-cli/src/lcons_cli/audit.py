"""`lcons audit`: gold labels that the rest of the data contradicts.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.fit import fitting, labelled_sentences
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import FILE, common_options
from lcons_cli.output import check_target, write_lines
from lcons_cli.progress import working


@click.command(short_help="Find labels that the rest of the data contradicts.")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="The largest number of findings to show or write.",
)
@click.option("--page", type=FILE, metavar="FILE", help="Write the findings as an HTML page.")
@labelled_options
@click.option(
    "--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Contiguous folds of DATA."
)
@click.option(
    "--rank",
    type=click.Choice(["auto", "odds", "rarity"]),
    default="auto",
    show_default=True,
    help="By the odds of a finding, or by how rare its confusion is as well; `auto`: the latter if at least a"
    " third of the tokens are O.",
)
@common_options("Print all reasons and the weights of the sources as well.", seed="unused")
def audit(
    data: str,
    most: int,
    page: str | None,
    form: str | None,
    columns: str | None,
    tabs: bool,
    folds: int,
    rank: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Find labels in DATA that the rest of DATA contradicts: likely mistakes, the clearest first.

    DATA has words and labels, in any format of `lcons learn`. Each sentence is judged by sources that have
    not seen it: a linear CRF of the other folds, and rules on words, such as "'naloxone' is B-Chemical in 48
    of 48 other places". How much each source counts is decided by how well it predicts the labels.

    A finding is a run of words, its labels, the cheapest relabelling, its odds and the rules behind them.
    Nothing in DATA is changed. Findings are ranked by their odds and, with `--rank rarity`, by how rarely the
    sources read the given label as the proposed one. This is not the probability of a mistake: a rare but
    right label also contradicts the rest, so a person decides.

    Exit code 0 if there is no finding, otherwise 1.

    \b
    Example:
      lcons audit train.conll
      lcons audit train.conll --page audit.html
    """
    from lcons_tasks.audit import audit as audited
    from lcons_tasks.audit._outputs import audit_document, finding_lines
    from lcons_tasks.report import to_html

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(page, data)
    with working(f"reading {Path(data).name}", say):
        sentences = labelled_sentences(read_labelled(data, form, columns, tabs, say), data)
    with fitting(say) as progress:
        found = audited(sentences, folds=folds, rank=rank, progress=progress)
    if page is not None:
        document = audit_document(found, Path(data).name, most)
        write_lines([to_html(document, Path(page).parent).removesuffix("\n")], page)
    if as_json:
        click.echo(json.dumps(found.to_dict(most), ensure_ascii=False, indent=2))
    else:
        shown = found.findings[:most]
        for finding in shown:
            for line in list(finding_lines(found, finding))[: None if verbose else 3]:
                click.echo(line)
        if verbose:
            for name, weight in found.weights.items():
                click.echo(f"weight of the {name}: {weight:.2f}")
        count = len(found.findings)
        more = "" if count == len(shown) else f"; --most {count} shows all"
        findings = "1 finding" if count == 1 else f"{count:,} findings"
        click.echo(f"{findings} in {len(sentences):,} sentences{more}.")
    click.get_current_context().exit(1 if found.findings else 0)
