"""`lcons audit`: gold labels that the rest of the data contradicts.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_json, write_lines
from lcons_cli.labelled_file import labelled_options, read_sentences
from lcons_cli.options import COUNT, INPUT, OUTPUT, check_output, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_tasks import Sentence
    from lcons_tasks.audit import Finding


@click.command()
@click.argument("data", type=INPUT, metavar="DATA")
@click.option("--most", type=COUNT, default=50, help="The largest number of findings to show or write.")
@click.option("--page", type=OUTPUT, help="Write the findings as an HTML page.")
@labelled_options
@json_option
def audit(
    data: str, most: int, page: str | None, form: str | None, columns: str | None, as_json: bool
) -> None:
    """Find labels in DATA that the rest of DATA contradicts: likely mistakes, the clearest first.

    DATA has words and labels, in any format of `lcons learn`. Each sentence is judged by sources that have
    not seen it: a linear CRF of the other folds, and rules on words, such as "'naloxone' is B-Chemical in 48
    of 48 other places". How much each source counts is decided by how well it predicts the labels.

    A finding is a run of words, its labels, the cheapest relabelling, its odds and the rules behind them.
    Nothing in DATA is changed. Findings are ranked by their odds and, if at least a third of the tokens are
    O, by how rarely the sources read the given label as the proposed one. What has too little evidence is
    only counted. This is not the probability of a mistake: a rare but right label also contradicts the rest,
    so a person decides.

    Exit code 0 if there is no finding, otherwise 1.

    \b
    Example:
      lcons audit train.conll
      lcons audit train.conll --page audit.html
    """
    from lcons_tasks.audit import audit as audit_sentences
    from lcons_tasks.audit._outputs import audit_document, finding_lines
    from lcons_tasks.report import to_html

    check_output(page, data)
    sentences = read_sentences(data, form, columns)
    with progress("auditing") as report:
        result = audit_sentences(sentences, progress=lambda step, done, total: report(done, total, step))
    lines = _lines(data, sentences)

    def place(finding: Finding) -> str:
        return f"{Path(data).name}:{lines[finding.sentence - 1][finding.first]}" if lines else ""

    if page is not None:
        document = audit_document(result, Path(data).name, most, place)
        write_lines([to_html(document, Path(page).parent).removesuffix("\n")], page)
    count = len(result.findings)
    if as_json:
        print_json(result.to_dict(most))
    else:
        for finding in result.findings[:most]:
            for line in list(finding_lines(result, finding, place(finding)))[:3]:
                click.echo(line)
        more = "" if count <= most else f"; --most {count} shows all"
        findings = "1 finding" if count == 1 else f"{count:,} findings"
        click.echo(f"{findings} in {len(sentences):,} sentences{more}.")
        if result.doubtful:
            click.echo(f"{result.doubtful:,} other differences have too little evidence to be shown.")
        if page is not None:
            click.echo(f"The page is in {page}.")
    click.get_current_context().exit(1 if count else 0)


def _lines(path: str, sentences: Sequence[Sentence]) -> list[list[int]] | None:
    """The line of each word in a file of one word per line; None for other files."""
    try:
        rows = Path(path).read_text(encoding="utf-8").split("\n")
        cells = enumerate(map(str.split, rows), start=1)
        return [[next(n for n, row in cells if word in row) for word in one.words] for one in sentences]
    except (OSError, ValueError, StopIteration, RuntimeError):
        return None
