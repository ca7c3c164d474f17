"""`lcons decode`: labels for the scores of any model, under constraint files.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from lcons_cli.console import STDIN, Say, json_line, say_nothing, say_on_stderr, standard_input, write_all
from lcons_cli.options import FILE, common_options, folder_options
from lcons_cli.progress import about, signs_of_life
from lcons_cli.streams import waits_of

if TYPE_CHECKING:
    from lcons_decode import Decoding, Hard, Scored, Soft
    from lcons_decode.files._scores import ScoreSource
    from lcons_tasks.diagnosis import Choice
    from lcons_tasks.stats import LabelTally


GOLD = "gold"
# The member of the first JSON object that describes what was chosen.
CHOICE = "choice"
FOLDS = 5
# As in lcons_decode.COSTS; importing that takes longer.
COSTS = ("sigmoid", "hinge", "standard")


@click.command(short_help="Label your own scores under constraints.")
@click.argument("file", type=FILE, default=STDIN)
@click.option(
    "-c",
    "--constraint",
    "files",
    multiple=True,
    type=FILE,
    metavar="FILE[:WEIGHT]",
    help="A constraint file: hard, or soft with a weight, as in `rules.json:0.5`. May be repeated.",
)
@click.option(
    "--soft",
    type=float,
    metavar="WEIGHT",
    help="Make all constraints without their own weight soft, with this weight.",
)
@click.option(
    "--soft-cost",
    "cost",
    type=click.Choice(["auto", *COSTS]),
    default="auto",
    show_default=True,
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
    " should have learned from these sequences. The choice and its expected gain are printed (in JSON:"
    " `choice` of the first sequence), and all sequences are decoded with it.",
)
@click.option(
    "--labels",
    "labels_file",
    type=FILE,
    metavar="FILE",
    help="The labels of the columns of scores, one label per line, if the scores do not name them. A file"
    " with a JSON object may also have `transition`, `start` and `stop`, for a folder.",
)
@click.option(
    "--beam",
    type=click.IntRange(min=1),
    metavar="N",
    help="Search with a beam of this width, as the paper does. Default: exact.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    metavar="N",
    help="How many labellings to try per sequence under global constraints (counts, existence), best first."
    " If these are not enough, the status is `out of budget`: the answer is the tried labelling that breaks"
    " the fewest constraints, and others may be better.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["conll", "json"]),
    default="conll",
    show_default=True,
    help="conll: one line per token, with word, other columns and label. json: one object per line, with"
    " score, status, labels without the constraints, how many of them changed, and violations that remain;"
    " `lcons report` shows it.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "--tabs", is_flag=True, help="CoNLL columns whose cells are separated by one tab and may hold blanks."
)
@folder_options
@common_options(
    "Print how often each constraint is broken, without and with constraints.", json=None, seed="unused"
)
def decode(
    file: str,
    files: tuple[str, ...],
    soft: float | None,
    cost: str,
    choose: bool,
    labels_file: str | None,
    beam: int | None,
    budget: int,
    form: str,
    tabs: bool,
    out: str | None,
    engine: str,
    jobs: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Label sequences by the scores in FILE, or on stdin, under constraints.

    The scores are JSON lines or an npz file. The first JSON line has the labels and, optionally, `transition`
    [from, to], `start` and `stop`. Then each line is one sequence, with one row of scores per token and the
    columns that constraints read. An npz file has the arrays `emission` (tokens, labels), `offsets` (sequence
    i is the rows offsets[i] to offsets[i + 1]) and `labels`; optionally `transition`, `start` and `stop`; and
    columns of strings such as `words` and `pos`.

    If there is a column `gold`, the summary shows span F1 (for IOB, BIOES and BILOU labels) and token
    accuracy without and with the constraints, and the gain with its 95% interval; with --choose, constraints
    and weights are chosen by it.

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
      lcons decode dev.jsonl -c pos.json -c iob2.json --choose > chosen.conll
    """
    from lcons_core import InvalidInput
    from lcons_decode import load_constraints
    from lcons_decode.files._scores import read_labels, read_scored

    if tabs and form == "json":
        raise InvalidInput("--tabs is for columns, found --json; leave one of them out.")
    if soft is not None and not files:
        raise InvalidInput(
            "--soft is the weight of constraints, found no constraint; add one with `-c FILE`."
        )
    own_cost = None if cost == "auto" else cost
    say: Say = say_nothing if quiet else say_on_stderr
    uses = load_constraints(files, soft, own_cost)
    if Path(file).is_dir():
        from lcons_cli.folders import run_folder
        from lcons_decode import Decoder
        from lcons_decode.files._scores import read_model

        if labels_file is None or choose:
            raise InvalidInput("a folder needs the labels of its scores, `--labels FILE`, and no `--choose`.")
        decoder = Decoder(uses, **read_model(labels_file), beam=beam, budget=budget)
        run_folder(decoder, file, out, engine, jobs, say)
        return
    if out is not None:
        raise InvalidInput("-o is for a folder; the answers for a file are on stdout.")
    hard = _choosable(uses, soft) if choose else []
    labels = None if labels_file is None else read_labels(labels_file)
    with opened_bytes(file) as source:
        scored = read_scored(source, "standard input" if file == STDIN else file, labels)
        choice = None
        if choose:
            scored = _Listed(scored)
            choice = _chosen(scored, hard, {"cost": own_cost, "beam": beam, "budget": budget}, say)
            uses = list(choice.uses)
        summary = _Summary(uses, verbose, choice)
        waits = waits_of(source)
        options = {"beam": beam, "budget": budget, "waits": waits}
        written = "tabs" if tabs else form
        if write_all(_contents(scored, uses, options, written, summary, say), waits):
            for line in summary.lines():
                say(line)
            if choice is not None and uses:
                by_name = {use.name: file for use, file in zip(hard, files, strict=True)}
                say(f"Next: {_command(by_name, uses, cost)}")


def _choosable(uses: Sequence[Hard | Soft], soft: float | None) -> list[Hard]:
    """The constraints to choose from; raises an error if there are none, or if a weight is given."""
    from lcons_core import InvalidInput
    from lcons_decode import Hard

    hard = [use for use in uses if isinstance(use, Hard)]
    if not uses:
        raise InvalidInput("--choose chooses among constraints, found none; add one with `-c FILE`.")
    if len(hard) < len(uses):
        weighted = next(use.name for use in uses if not isinstance(use, Hard))
        found = f"a weight of {weighted!r}" if soft is None else f"--soft {soft:g}"
        raise InvalidInput(f"--choose also chooses the weights, found {found}; leave it out.")
    return hard


def _command(files: dict[str, str], uses: Sequence[Hard | Soft], cost: str) -> str:
    """The command that decodes other scores under the constraints, which are named after their files."""
    from lcons_decode import Hard

    words = ["lcons", "decode", "test.npz"]
    for use in uses:
        words += ["-c", files[use.name] + ("" if isinstance(use, Hard) else f":{use.weight:g}")]
    return shlex.join([*words, *([] if cost == "auto" else ["--soft-cost", cost])])


class _Listed:
    """All sequences of a source, in memory."""

    def __init__(self, source: ScoreSource) -> None:
        self._sequences = list(source)
        self._read = 0

    def __iter__(self) -> Iterator[Scored]:
        for i, scored in enumerate(self._sequences, start=1):
            self._read = i
            yield scored

    def share(self) -> float | None:
        """The share that has been read."""
        return self._read / len(self._sequences) if self._sequences else None


def _chosen(sequences: _Listed, hard: Sequence[Hard], options: dict[str, Any], say: Say) -> Choice:
    """The choice on the sequences with gold labels."""
    from lcons_core import InvalidInput
    from lcons_tasks.diagnosis import choose

    labelled = [scored for scored in sequences if len(scored.x.get(GOLD, ()))]
    if len(labelled) < FOLDS:
        raise InvalidInput(
            f"--choose needs the gold labels of at least {FOLDS} sequences, found {len(labelled)}; add a"
            f" column `{GOLD}`, or leave --choose out."
        )
    measured = [0, 0]

    def progress(*now: int) -> None:
        measured[:] = now

    with signs_of_life(lambda: "choosing: {} of {} options measured".format(*measured), say):
        return choose(labelled, hard, folds=FOLDS, progress=progress, **options)


def _contents(
    source: ScoreSource,
    uses: Sequence[Hard | Soft],
    options: dict[str, Any],
    form: str,
    summary: _Summary,
    say: Say,
) -> Generator[bytes, None, None]:
    """The output, sequence by sequence; each answer is added to the summary."""
    from lcons_core import InvalidInput
    from lcons_decode._stream import decode_scored
    from lcons_decode.files._answers import conll, described

    columns: list[str] | None = None
    state = _State(source, options["budget"])
    with signs_of_life(state.now, say):
        for scored, answer in decode_scored(source, uses, **options, progress=state.tried):
            if form == "json":
                begins = summary.choice is not None and not summary.sequences
                more = {CHOICE: summary.choice.to_dict()} if summary.choice and begins else {}
                text = json_line(described(scored, answer) | more)
            else:
                columns = list(scored.x) if columns is None else columns
                if sorted(columns) != sorted(scored.x):
                    raise InvalidInput(
                        f"{scored.where}: expected the columns of the first sequence"
                        f" ({', '.join(columns) or 'none'}), found {', '.join(scored.x) or 'none'}; use the"
                        " same columns in each sequence, or use --json."
                    )
                text = conll(scored, answer, tabs=form == "tabs")
            summary.count(scored, answer)
            state.done()
            # A JSON string may hold half a surrogate pair, which is written as an escape.
            yield text.encode("utf-8", "backslashreplace")
    if not summary.sequences:
        raise InvalidInput("expected the scores of at least one sequence, found none; add `emission`.")


@dataclass
class _Summary:
    """Counts of decoded sequences and tokens, and how good they are if there are gold labels; with `verbose`,
    also of the sequences that break each constraint."""

    uses: Sequence[Hard | Soft]
    verbose: bool
    choice: Choice | None = None
    sequences: int = 0
    tokens: int = 0
    changed: int = 0
    labels: int = 0
    gold: LabelTally | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    broken: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, scored: Scored, answer: Decoding) -> None:
        """Adds one answer."""
        self.sequences += 1
        self.tokens += len(scored.scores)
        self.changed += bool(answer.stats["changed"])
        self.labels += answer.stats["changed"]
        self.statuses[str(answer.status)] += 1
        answers = {"alone": answer.stats["alone"], "now": answer.y}
        if gold := scored.x.get(GOLD, ()):
            self._tally().add(gold, answers["alone"], answers["now"])
        if not self.verbose:
            return
        from lcons_core import Instance
        from lcons_decode._constraints import broken_parts

        for use in self.uses:
            for when, y in answers.items():
                if len(y) == len(scored.scores):
                    self.broken[use.name, when] += bool(
                        len(broken_parts(use.constraint, Instance(scored.x, y)))
                    )

    def _tally(self) -> LabelTally:
        from lcons_tasks.stats import LabelTally

        self.gold = self.gold or LabelTally()
        return self.gold

    def lines(self) -> Iterator[str]:
        """The lines of the summary."""
        if self.choice is not None:
            yield str(self.choice)
        parts = [f"sequences: {self.sequences:,} ({self.tokens:,} tokens)"]
        if self.uses:
            parts.append(f"changed by the constraints: {self.changed:,} ({self.labels:,} labels)")
            parts.append(f"relaxed: {self.statuses['relaxed']:,}")
        if self.statuses["out of budget"]:
            parts.append(f"out of budget: {self.statuses['out of budget']:,} (raise --budget)")
        if self.statuses["infeasible"]:
            parts.append(f"infeasible: {self.statuses['infeasible']:,}")
        yield ", ".join(parts)
        for gain in self.gold.gains() if self.gold else ():
            points = "" if gain.interval is None else f": {gain.interval} points"
            yield (
                f"{gain.measure} by the column `{GOLD}`: {gain.before:.2f}% by the scores alone,"
                f" {gain.after:.2f}% now{points}"
            )
        for use in self.uses if self.verbose else ():
            weight = getattr(use, "weight", None)
            kind = "hard" if weight is None else f"soft, weight {weight:g}"
            before, after = (self.broken[use.name, when] for when in ("alone", "now"))
            yield f"{use.name} ({kind}): broken in {before:,} sequences by the scores alone, in {after:,} now"


class _State:
    """The progress: the number of finished sequences, and the labellings tried of the present one."""

    def __init__(self, source: ScoreSource, budget: int) -> None:
        self._source, self._budget = source, budget
        self._began = self._last = time.monotonic()
        self._sequences, self._share = 0, 0.0
        self._trying: tuple[Scored, int] | None = None

    def done(self) -> None:
        """Counts one more finished sequence."""
        self._sequences += 1
        self._share, self._last = self._source.share() or 0.0, time.monotonic()
        self._trying = None

    def tried(self, scored: Scored, labellings: int) -> None:
        """Records how many labellings of a sequence have been tried."""
        self._trying = (scored, labellings)

    def now(self) -> str:
        """The progress in words."""
        share, trying, parts = self._share, self._trying, []
        if self._sequences:
            parts.append(f"{self._sequences:,} sequences" + (f" ({share:.0%})" if share else "") + " so far")
        if 0 < share < 1:
            rest = (self._last - self._began) * (1 - share) / share - (time.monotonic() - self._last)
            parts += [f"{about(rest)} to go"] if rest > 0 else []
        if trying is not None:
            scored, labellings = trying
            parts.append(
                f"{scored.where} ({len(scored.scores):,} tokens): {labellings:,} of at most {self._budget:,}"
                " labellings tried"
            )
        return "; ".join(parts) or "no sequence is done yet"


@contextmanager
def opened_bytes(file: str) -> Iterator[BinaryIO]:
    """A file of scores, or stdin, as bytes."""
    from lcons_core import LconsError

    if file == STDIN:
        yield standard_input()
        return
    try:
        source = Path(file).open("rb")  # noqa: SIM115
        source.peek()
    except (OSError, ValueError) as error:
        raise LconsError(
            f"cannot read {file!r}: {getattr(error, 'strerror', None) or error}; name a file of scores, or"
            " `-` for stdin."
        ) from None
    with source:
        yield source
