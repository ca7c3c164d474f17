"""`lcons decode`: labels for the scores of any model, under constraint files.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import STDIN, Tally, escaped, json_line, opened_bytes, say, warn, write_all
from lcons_cli.options import COUNT, INPUT, STREAM, folder_options
from lcons_cli.progress import Report, progress

if TYPE_CHECKING:
    from lcons_decode import Decoding, Hard, Scored, Soft
    from lcons_tasks.diagnosis._choice import Choice
    from lcons_tasks.stats import LabelTally

GOLD = "gold"
# What `--json` adds to the columns of a sequence.
ANSWER = ("labels", "without", "score", "status", "changed", "violations")
FOLDS = 5
# As in lcons_decode.COSTS; importing that takes longer.
COSTS = ("sigmoid", "hinge", "standard")


@click.command(short_help="Label your own scores under constraints.")
@click.argument("file", type=STREAM, default=STDIN)
@click.option(
    "-c",
    "--constraint",
    "files",
    multiple=True,
    metavar="FILE[:WEIGHT]",
    help="A constraint file: hard, or soft with a weight, as in `rules.json:0.5`. May be repeated.",
)
@click.option(
    "--soft-cost",
    "cost",
    type=click.Choice(["auto", *COSTS]),
    default="auto",
    help="What a window costs at weight 1. hinge: how far it is beyond the constraint, so what is allowed"
    " costs nothing. standard: the same in units of a typical violation in training. sigmoid: log"
    " sigmoid(margin), which also orders what is allowed. auto: hinge for windows of labels alone, else"
    " sigmoid.",
)
@click.option(
    "--choose",
    is_flag=True,
    help="Choose by cross-validation on the sequences with gold labels (column `gold`) which constraints to"
    " use, and hard or with which weight; nothing is a possible choice. Neither the model nor the constraints"
    " should have learned from these sequences. The choice and its expected gain are printed instead of"
    " labels.",
)
@click.option(
    "--labels",
    "labels_file",
    type=INPUT,
    help="The labels of the columns of scores, one label per line, if the scores do not name them. A file"
    " with a JSON object may also have `transition`, `start` and `stop`, for a folder.",
)
@click.option(
    "--beam", type=COUNT, help="Search with a beam of this width, as the paper does. Default: exact."
)
@click.option(
    "--budget",
    type=COUNT,
    default=10_000,
    help="How many labellings to try per sequence under global constraints (counts, existence), best first."
    " If these are not enough, the status is `out of budget`: the answer is the tried labelling that breaks"
    " the fewest constraints, and others may be better.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one object per line, with score, status, labels without the constraints, how many of them"
    " changed, and violations that remain; `lcons report` shows it. Default: CoNLL columns, one line per"
    " token, with word, other columns and label.",
)
@folder_options
def decode(
    file: str,
    files: tuple[str, ...],
    cost: str,
    choose: bool,
    labels_file: str | None,
    beam: int | None,
    budget: int,
    as_json: bool,
    out: str | None,
    engine: str,
    jobs: int | None,
) -> None:
    """Label sequences by the scores in FILE, or on stdin, under constraints.

    The scores are JSON lines or an npz file. The first JSON line has the labels and, optionally, `transition`
    [from, to], `start` and `stop`. Then each line is one sequence, with one row of scores per token and the
    columns that constraints read. An npz file has the arrays `emission` (tokens, labels), `offsets` (sequence
    i is the rows offsets[i] to offsets[i + 1]) and `labels`; optionally `transition`, `start` and `stop`; and
    columns of strings such as `words` and `pos`.

    If there is a column `gold`, the summary shows span F1 (for IOB, BIOES and BILOU labels) and token
    accuracy without and with the constraints, and the gain with its 95% interval. With --choose, constraints
    and weights are chosen by it, and the choice is printed instead of labels.

    If the hard constraints cannot all be satisfied, the labels that break the fewest windows are written, and
    the sequence is counted as relaxed. If all labels of a token have the score -Infinity, no labels can be
    chosen: all labels of that sequence are `_`, or null in JSON, and it is counted as infeasible.

    FILE may be a folder of Parquet files or JSON lines (.jsonl): each row is a sequence, and gets `labels`,
    `score`, `status` and `changed` in place of `emission`. A folder needs `-o OUT` and `--labels`.

    \b
    Example:
      lcons decode -c iob2.json <<END
      {"labels": ["B-NP", "I-NP", "O"]}
      {"emission": [[0, 0, 1], [0, 3, 1]], "words": ["New", "York"]}
      END
      lcons decode scores.npz -c pos.json:0.5 -c iob2.json --json > labels.jsonl
      lcons decode dev.jsonl -c pos.json -c iob2.json --choose
    """
    from lcons_decode import load_constraints
    from lcons_decode.files._scores import read_labels, read_scored

    cost_of_all = None if cost == "auto" else cost
    uses = load_constraints(files, None, cost_of_all)
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder
        from lcons_decode import Decoder
        from lcons_decode.files._scores import read_model

        if labels_file is None or choose:
            raise click.UsageError("a folder needs `--labels FILE`, and no `--choose`.")
        decoder = Decoder(uses, **read_model(labels_file), beam=beam, budget=budget)
        run_folder(decoder, file, out, engine, jobs)
        return
    if out is not None:
        raise click.UsageError("-o is for a folder; the answers for a file are on stdout.")
    hard = _choosable(uses) if choose else []
    labels = None if labels_file is None else read_labels(labels_file)
    with opened_bytes(file) as (source, waits):
        scored: Iterable[Scored] = read_scored(source, "standard input" if file == STDIN else file, labels)
        options = {"beam": beam, "budget": budget}
        if choose:
            choice = _chosen(list(scored), hard, {"cost": cost_of_all, **options})
            click.echo(json_line(choice.to_dict()) if as_json else f"{choice}\n", nl=False)
            if choice.uses:
                by_name = {use.name: file for use, file in zip(hard, files, strict=True)}
                say(f"Next: {_command(by_name, choice.uses, cost)}")
            return
        summary = _Summary(uses)
        with progress("decoding") as report:
            answers = _answers(scored, uses, {**options, "waits": waits}, report)
            write_all(escaped(_texts(answers, as_json, summary)), waits)
    for line in summary.lines():
        say(line)


def _choosable(uses: Sequence[Hard | Soft]) -> list[Hard]:
    """The constraints to choose from; raises an error if there are none, or if a weight is stated."""
    from lcons_decode import Hard

    hard = [use for use in uses if isinstance(use, Hard)]
    if not uses or len(hard) < len(uses):
        raise click.UsageError("--choose needs constraints without weights: add some with `-c FILE`.")
    return hard


def _command(files: dict[str, str], uses: Sequence[Hard | Soft], cost: str) -> str:
    """The command that decodes other scores under the constraints, which are named after their files."""
    from lcons_decode import Hard

    words = ["lcons", "decode", "test.npz"]
    for use in uses:
        words += ["-c", files[use.name] + ("" if isinstance(use, Hard) else f":{use.weight:g}")]
    return shlex.join([*words, *([] if cost == "auto" else ["--soft-cost", cost])])


def _chosen(sequences: Sequence[Scored], hard: Sequence[Hard], options: dict[str, Any]) -> Choice:
    """The choice on the sequences with gold labels."""
    from lcons_core import InvalidInput
    from lcons_tasks.diagnosis import choose

    labelled = [scored for scored in sequences if len(scored.x.get(GOLD, ()))]
    if len(labelled) < FOLDS:
        raise InvalidInput(
            f"--choose needs a column `{GOLD}` in at least {FOLDS} sequences: got {len(labelled)}."
        )
    with progress("choosing: measuring options") as report:
        return choose(labelled, hard, folds=FOLDS, progress=report, **options)


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
    answers: Iterable[tuple[Scored, Decoding]], as_json: bool, summary: _Summary
) -> Generator[str, None, None]:
    """The output, sequence by sequence; each answer is added to the summary."""
    from lcons_core import InvalidInput
    from lcons_decode._constraints import unknown_labels
    from lcons_decode.files._answers import conll, described

    columns: list[str] = []
    for scored, answer in answers:
        for text in () if summary.tally else unknown_labels(summary.uses, scored.scores.labels):
            warn(text)
        columns = columns if summary.tally else list(scored.x)
        if as_json:
            replaced = [name for name in scored.x if name in ANSWER]
            if replaced:
                raise InvalidInput(f"{scored.where}: the answer would replace the column {replaced[0]!r}.")
            text = json_line(described(scored, answer))
        elif sorted(columns) != sorted(scored.x):
            raise InvalidInput(
                f"{scored.where}: expected the columns of the first sequence:"
                f" {', '.join(columns) or 'none'}; got {', '.join(scored.x) or 'none'}; --json allows that."
            )
        else:
            text = conll(scored, answer)
        summary.count(scored, answer)
        yield text
    if not summary.tally:
        raise InvalidInput("expected the scores of at least one sequence, got none.")


@dataclass
class _Summary:
    """Counts of decoded sequences and tokens, and how good they are if there are gold labels."""

    uses: Sequence[Hard | Soft]
    tally: Tally = field(default_factory=Tally)
    gold: LabelTally | None = None

    def count(self, scored: Scored, answer: Decoding) -> None:
        """Adds one answer."""
        from lcons_tasks.stats import LabelTally

        self.tally.add(answer.status, answer.stats["changed"], tokens=len(scored.scores))
        if gold := scored.x.get(GOLD, ()):
            self.gold = self.gold or LabelTally()
            self.gold.add(gold, answer.stats["alone"], answer.y)

    def lines(self) -> Iterator[str]:
        """The lines of the summary."""
        yield self.tally.summary("sequences", "tokens", bool(self.uses))
        for gain in self.gold.gains() if self.gold else ():
            points = "" if gain.interval is None else f": {gain.interval} points"
            yield (
                f"{gain.measure} by the column `{GOLD}`: {gain.before:.2f}% by the scores alone,"
                f" {gain.after:.2f}% now{points}"
            )
