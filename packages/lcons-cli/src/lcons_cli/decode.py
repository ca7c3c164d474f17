"""`lcons decode`: labels for the scores of any model, under constraint files.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import (
    STDIN,
    Tally,
    escaped,
    json_line,
    opened_bytes,
    say,
    warn,
    write_all,
)
from lcons_cli.options import COUNT, INPUT, STREAM, folder_options
from lcons_cli.progress import Report, progress

if TYPE_CHECKING:
    from lcons_decode import Decoding, Hard, Scored, Soft
    from lcons_tasks.stats import LabelTally

GOLD = "gold"
# What `--json` adds to the columns of a sequence.
ANSWER = ("labels", "without", "score", "status", "changed", "violations")
FOLDS = 5


@click.command()
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    *("-c", "--constraint", "files"),
    multiple=True,
    metavar="FILE[:WEIGHT]",
    help="A constraint file: hard, or soft with a weight. May be repeated.",
)
@click.option("--choose", is_flag=True, help="Choose constraints and weights by gold labels, and print them.")
@click.option("--labels", "labels_file", type=INPUT, help="The labels of the columns of scores, one a line.")
@click.option("--beam", type=COUNT, help="Search with a beam of this width, as the paper does.")
@click.option("--budget", type=COUNT, default=10_000, help="Labellings to try under global constraints.")
@click.option("--json", "as_json", is_flag=True, help="Print one object per line.")
@folder_options
def decode(
    file: str,
    files: tuple[str, ...],
    choose: bool,
    labels_file: str | None,
    beam: int | None,
    budget: int,
    as_json: bool,
    **folder: Any,
) -> None:
    """Label sequences by the scores in FILE, or on stdin, under constraints.

    The scores are JSON lines or an npz file. The first JSON line has the labels and, optionally, `transition`
    [from, to], `start` and `stop`. Then each line is one sequence, with one row of scores per token and the
    columns that constraints read. An npz file has the arrays `emission` (tokens, labels), `offsets` (sequence
    i is the rows offsets[i] to offsets[i + 1]) and `labels`; optionally `transition`, `start` and `stop`; and
    columns of strings such as `words` and `pos`. `--labels` names the labels if the scores do not.

    `-c rules.json` is a hard constraint, `-c rules.json:0.5` a soft one with this weight: a window beyond the
    constraint costs as much as it is beyond it; if windows read more than labels, log sigmoid(margin), which
    also orders what is allowed.

    The output is CoNLL columns, one line per token: word, other columns, label. With `--json`, it is one
    object per sequence, with score, status, labels without the constraints, how many of them changed, and
    violations that remain; `lcons report` shows it.

    If there is a column `gold`, the summary shows span F1 (for IOB, BIOES and BILOU labels) and token
    accuracy without and with the constraints, and the gain with its 95% interval. With `--choose`,
    cross-validation on these labels chooses which constraints to use, and hard or with which weight; nothing
    is a possible choice. The choice and its expected gain are printed instead of labels. Neither the model
    nor the constraints should have learned from these sequences.

    If the hard constraints cannot all be satisfied, the labels that break the fewest windows are written, and
    the sequence is counted as relaxed. Under global constraints (counts, existence), `--budget` labellings
    are tried per sequence, best first; if these are not enough, the status is `out of budget`: the answer
    is the tried labelling that breaks the fewest constraints. If all labels of a token have the score
    -Infinity, no labels can be chosen: all labels of that sequence are `_`, or null in JSON, and it is
    counted as infeasible.

    FILE may be a folder of Parquet files or JSON lines (.jsonl): each row is a sequence, and gets `labels`,
    `score`, `status` and `changed` in place of `emission`. A folder needs `-o OUT` and `--labels`, whose file
    may be a JSON object with `labels`, `transition`, `start` and `stop`.

    \b
    Example:
      lcons decode -c iob2.json <<END
      {"labels": ["B-NP", "I-NP", "O"]}
      {"emission": [[0, 0, 1], [0, 3, 1]], "words": ["New", "York"]}
      END
      lcons decode scores.npz -c pos.json:0.5 -c iob2.json --json > labels.jsonl
      lcons decode dev.jsonl -c pos.json -c iob2.json --choose
    """
    from lcons_decode import Decoder, load_constraints
    from lcons_decode.files._scores import read_labels, read_model, read_scored
    from lcons_tasks.stats import LabelTally

    uses = load_constraints(files)
    options: dict[str, Any] = {"beam": beam, "budget": budget}
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder

        if labels_file is None or choose:
            raise click.UsageError("a folder needs `--labels FILE`, and no `--choose`.")
        run_folder(Decoder(uses, **read_model(labels_file), **options), file, **folder)
        return
    if folder["out"] is not None or folder["jobs"] is not None:
        raise click.UsageError("-o and --jobs are for a folder; the answers for a file are on stdout.")
    labels = None if labels_file is None else read_labels(labels_file)
    tally, gold = Tally(), LabelTally()
    with opened_bytes(file) as (source, waits):
        scored = read_scored(source, "standard input" if file == STDIN else file, labels)
        if choose:
            _choose(list(scored), uses, files, options, as_json)
            return
        with progress("decoding") as report:
            answers = _answers(scored, uses, {**options, "waits": waits}, report)
            write_all(escaped(_texts(answers, uses, as_json, tally, gold)), waits)
    say(tally.summary("sequences", "tokens", bool(uses)))
    for gain in gold.gains() if gold.sentences else ():
        points = "" if gain.interval is None else f": {gain.interval} points"
        say(
            f"{gain.measure} by the column `{GOLD}`: {gain.before:.2f}% by the scores alone,"
            f" {gain.after:.2f}% now{points}"
        )


def _choose(
    sequences: Sequence[Scored],
    uses: Sequence[Hard | Soft],
    files: tuple[str, ...],
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Prints the choice on the sequences with gold labels, and the command that decodes others under it."""
    from lcons_core import InvalidInput
    from lcons_decode import Hard, Soft
    from lcons_tasks.diagnosis import choose

    hard = [use for use in uses if isinstance(use, Hard)]
    if not uses or len(hard) < len(uses):
        raise click.UsageError("--choose needs constraints without weights: add some with `-c FILE`.")
    labelled = [scored for scored in sequences if len(scored.x.get(GOLD, ()))]
    if len(labelled) < FOLDS:
        raise InvalidInput(
            f"--choose needs a column `{GOLD}` in at least {FOLDS} sequences: got {len(labelled)}."
        )
    with progress("choosing: measuring options") as report:
        choice = choose(labelled, hard, folds=FOLDS, progress=report, **options)
    click.echo(json_line(choice.to_dict()) if as_json else f"{choice}\n", nl=False)
    if choice.uses:
        by_name = {use.name: file for use, file in zip(hard, files, strict=True)}
        weights = [f":{use.weight:g}" if isinstance(use, Soft) else "" for use in choice.uses]
        chosen = [by_name[use.name] + weight for use, weight in zip(choice.uses, weights, strict=True)]
        say(f"Next: {shlex.join(['lcons', 'decode', 'test.npz', *(w for c in chosen for w in ('-c', c))])}")


def _answers(
    source: Iterable[Scored], uses: Sequence[Hard | Soft], options: dict[str, Any], report: Report
) -> Iterator[tuple[Scored, Decoding]]:
    """The answers, one by one; `report` shows how many there are, and each long search."""
    from lcons_decode._stream import decode_scored

    done = 0

    def tried(scored: Scored, labellings: int) -> None:
        report(done, None, f"{scored.where}: {labellings:,} labellings tried; sequences done")

    for done, answer in enumerate(decode_scored(source, uses, **options, progress=tried), start=1):
        report(done, None, "sequences done")
        yield answer


def _texts(
    answers: Iterable[tuple[Scored, Decoding]],
    uses: Sequence[Hard | Soft],
    as_json: bool,
    tally: Tally,
    tally_of_gold: LabelTally,
) -> Generator[str, None, None]:
    """The output, sequence by sequence; each answer is counted."""
    from lcons_core import InvalidInput
    from lcons_decode._constraints import unknown_labels
    from lcons_decode.files._answers import conll, described

    columns: list[str] = []
    for scored, answer in answers:
        if not tally:
            columns = list(scored.x)
            for text in unknown_labels(uses, scored.scores.labels):
                warn(text)
        if as_json:
            replaced = [name for name in scored.x if name in ANSWER]
            if replaced:
                raise InvalidInput(f"{scored.where}: the answer would replace the column {replaced[0]!r}.")
        elif sorted(columns) != sorted(scored.x):
            raise InvalidInput(
                f"{scored.where}: expected the columns of the first sequence:"
                f" {', '.join(columns) or 'none'}; got {', '.join(scored.x) or 'none'}; --json allows that."
            )
        tally.add(answer.status, answer.stats["changed"], tokens=len(scored.scores))
        if gold := scored.x.get(GOLD, ()):
            tally_of_gold.add(gold, answer.stats["alone"], answer.y)
        yield json_line(described(scored, answer)) if as_json else conll(scored, answer)
    if not tally:
        raise InvalidInput("expected the scores of at least one sequence, got none.")
