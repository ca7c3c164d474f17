"""`lcons learn`: a constraint learned from the user's labelled data.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
import math
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.labelled_file import labelled_options, read_labelled, valid_option
from lcons_cli.options import FILE, common_options, in_options
from lcons_cli.output import check_target
from lcons_cli.progress import PATIENCE, about, waiting, working
from lcons_cli.threads import use_one_thread

if TYPE_CHECKING:
    from lcons_core import Recipe
    from lcons_core.learn._estimator import Progress
    from lcons_tasks.own_data import Data, Learned, Split

FEATURES = ("ngram", "pos", "punctuation", "shape", "word", "existence", "counts", "pairs")
NEGATIVES = ("unseen", "near", "apart", "relabel", "recast", "flip", "perturb")
# Work that takes less than this, in seconds, is not announced.
SHORT = 3.0


def _hidden(ctx: click.Context, param: click.Parameter, value: str) -> int | tuple[int, ...] | str:
    """K, several K, or "auto"."""
    if value == "auto":
        return value
    numbers = value.split(",")
    if not all(number.strip().isdecimal() and int(number) for number in numbers):
        raise click.BadParameter(f"expected a number, several such as 2,5,10, or auto, found {value!r}.")
    return int(value) if len(numbers) == 1 else tuple(map(int, numbers))


def _many(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    if value == "all":
        return value
    if not value.isdecimal() or not int(value):
        raise click.BadParameter(f"expected a number of at least 1, or all, found {value!r}.")
    return int(value)


@click.command(short_help="Learn a constraint from your own labelled data.")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The file for the constraint (JSON).",
)
@labelled_options
@valid_option
@click.option(
    "--feature",
    type=click.Choice(FEATURES),
    help="What the constraint reads. Windows of n labels: alone (ngram), or with POS tags or another column"
    " (pos), punctuation, shapes, or words (words seen fewer than 10 times count as one word, (other))."
    " Whole structures: which labels exist (existence), or how often (counts). Pairs or other tuples (pairs)."
    " Default: ngram, or pairs for tuples. psi vectors have no feature.",
)
@click.option("-n", "n", type=click.IntRange(min=1), help="Length of n-grams. Default: 2; for existence, 1.")
@click.option("--context", metavar="COLUMN", help="The column that the feature `pos` reads instead of pos.")
@click.option("--pad", is_flag=True, help="n-grams include the start and the end of a sequence.")
@click.option("--spans", is_flag=True, help="Count runs of a label, not tokens.")
@click.option("--names", metavar="NAMES", help="The names of the members of tuples, as in source,relation.")
@click.option(
    "-K",
    "--hidden",
    default="10",
    show_default=True,
    metavar="K",
    callback=_hidden,
    help="Number of hidden units. Several (2,5,10) or auto: chosen by cross-validation. With auto, if the"
    " invalid vectors are all unseen ones: the smallest of 1, 2, 4, 8, 16, 32 that classifies all vectors"
    " correctly.",
)
@click.option(
    "--negatives",
    type=click.Choice(NEGATIVES),
    help="The source of invalid vectors. Default: the paper's source for the feature.",
)
@click.option(
    "--many",
    default="1",
    show_default=True,
    metavar="NUMBER",
    callback=_many,
    help="Number of random changes of each valid vector (for relabel, recast, flip, perturb), or all.",
)
@click.option(
    "--min-support",
    type=click.FloatRange(min=0),
    default=1,
    show_default=True,
    help="Vectors seen fewer times do not count as valid, and may count as invalid.",
)
@click.option(
    "--caution",
    type=click.FloatRange(min=0, min_open=True),
    default=1,
    show_default=True,
    help="Weight of valid vectors relative to invalid ones; a larger weight forbids less.",
)
@click.option(
    "--evidence",
    type=click.FloatRange(min=0, min_open=True),
    metavar="E",
    help="Windows of labels are forbidden only if chance would have shown them E times. Default: 3; other"
    " features need no evidence.",
)
@click.option("--all-rules", is_flag=True, help="Forbid all invalid vectors, also those without evidence.")
@click.option(
    "--robust",
    is_flag=True,
    help="Set vectors aside whose labels disagree with the others: for data with some wrong labels.",
)
@click.option("--cv", is_flag=True, help="Choose rate and decay from the paper's grid by cross-validation.")
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Folds of cross-validation, and of the judgement without --dev.",
)
@click.option(
    "--dev",
    type=FILE,
    metavar="FILE",
    help="Held-out data. Default: each of the contiguous --folds of DATA is held out once.",
)
@click.option(
    "--held-out-end",
    is_flag=True,
    help="Hold out the last 20 % of DATA, by position, and learn only from the others; `lcons diagnose` then"
    " uses them.",
)
@click.option("--no-held-out", is_flag=True, help="Do not judge on held-out data, which is quicker.")
@click.option(
    "--refit",
    is_flag=True,
    help="Learn again from all data, those of --dev included, and save this constraint. Without --dev, the"
    " constraint is always learned from all data.",
)
@click.option("--rules", type=click.IntRange(min=1), default=20, show_default=True, help="Rules to print.")
@common_options("Show the sum that forbids each example.")
def learn(
    data: str,
    output: str,
    form: str | None,
    columns: str | None,
    tabs: bool,
    valid: str | None,
    feature: str | None,
    n: int | None,
    context: str | None,
    pad: bool,
    spans: bool,
    names: str | None,
    hidden: Any,
    negatives: str | None,
    many: Any,
    min_support: float,
    caution: float,
    evidence: float | None,
    all_rules: bool,
    robust: bool,
    cv: bool,
    folds: int,
    dev: str | None,
    held_out_end: bool,
    no_held_out: bool,
    refit: bool,
    rules: int,
    as_json: bool,
    seed: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Learn a constraint from the labelled structures in DATA, and print its rules.

    DATA is CoNLL columns, JSON lines ({"labels": [...], "words": [...], "pos": [...]}, or {"tuples":
    [["Person", "Kill"], ...]}), or a table of psi vectors: CSV with a header and a column `valid` of 0 and 1
    (or two other labels, with --valid), or npz with X, y and names. Columns of a table named block=value form
    a block, of which one value holds; numbers with fractions or below 0 are real or integer columns.

    Prints the rules in words, how well they fit held-out data, and what they forbid there. A warning is
    printed if the constraint forbids correctly labelled structures. The last line is advice: use it as a hard
    constraint, as a soft one, or not at all.

    A window of labels is forbidden only with evidence: it, or a part of it, was never seen, although chance
    would have shown it 3 times (--evidence). Labels such as B-PER are also counted as classes over all types,
    so that rules hold for rare types. Other unseen windows are not forbidden (too rare to tell);
    --all-rules forbids them, too.

    Each rule is followed by its support: the number of parts (n-grams, tuples, rows) of the training data
    that its premise covers, or all parts if it has no premise. The support alone is not evidence. So two more
    numbers follow: how many parts the rule would forbid by chance, if its conditions were independent, and
    how many it does forbid: [support 313; expected 300 by chance, seen 7]. If the expected number is small,
    there is little evidence for the rule, even with a large support. The last number, in "rejects under
    0.4%", is a bound from held-out data: on new data, the constraint rejects at most this share of the valid
    parts that the premise covers, with a confidence of 95 %.

    \b
    Example:
      lcons learn train.conll -o bigrams.json --columns word,pos,label
      lcons learn train.conll -o pos.json --feature pos -n 2 -K 5 --dev dev.conll
      lcons learn pairs.jsonl -o pairs.json --names source,relation -K 2
    """
    if no_held_out and (dev is not None or refit):
        raise click.UsageError("use --no-held-out, or --dev or --refit, not both.")
    if held_out_end and (dev is not None or refit or no_held_out):
        raise click.UsageError("use --held-out-end, or --dev, --refit or --no-held-out, not both.")
    if all_rules and evidence is not None:
        raise click.UsageError("use --evidence or --all-rules, not both.")
    use_one_thread()
    from lcons_core import LconsError, Recipe, save
    from lcons_core.learn._estimator import GRID
    from lcons_tasks.own_data import Part, Split, contiguous_folds, split, summarise, summary_dict

    say: Say = say_nothing if quiet else say_on_stderr
    check_target(output, data, *([] if dev is None else [dev]))
    if not math.isfinite(min_support):
        raise LconsError(
            f"expected a --min-support of 0 or more, found {min_support}; use 1 to keep all vectors."
        )
    recipe = Recipe(
        feature=feature,
        n=n,
        hidden=hidden,
        negatives=negatives,
        many=many,
        min_support=min_support,
        seed=seed,
        folds=folds,
        caution=caution,
        robust=robust,
        evidence=None if all_rules else "auto" if evidence is None else evidence,
        column=context,
        pad=pad,
        spans=spans,
        names=tuple(name.strip() for name in names.split(",")) if names else (),
    )
    if cv:
        # The appendices use the same rates and decays for three of the four tasks.
        recipe = replace(recipe, **GRID)
    with working(f"reading {_name(data)}", say):
        whole = read_labelled(data, form, columns, tabs, say, valid)
        held_out = None if dev is None else read_labelled(dev, form, columns, tabs, say_nothing, valid)
    parts = Split((Part.all_of(whole, _name(data)),))
    train = whole
    if held_out_end:
        parts = Split.by_position(whole, _name(data))
        train, held_out = split(whole)
    by_folds = held_out is None and not (no_held_out or held_out_end)
    if dev is not None and held_out is not None:
        parts = replace(parts, held_out=(Part.all_of(held_out, _name(dev)),))
    found = _learned(train, recipe, held_out, rules, say, folds if by_folds else None)
    judged = "nothing was held out"
    if found.held_out is None and not no_held_out:
        say(f"nothing is held out of {parts.learned_from[0]}, too few for that; pass some with --dev")
        judged = "too few to hold some out"
    elif found.held_out is not None:
        parts = replace(parts, folds=len(contiguous_folds(whole, folds)) if by_folds else 0)
        judged = parts.held_out_words
    if refit and held_out is not None:
        found, parts = _refitted(found, whole, held_out, parts, recipe, rules, say)
        judged += ", judged before the constraint was learned again with them"
    source = parts.learned_from_words
    constraint = replace(
        found.constraint, provenance={**found.constraint.provenance, "split": parts.to_dict()}
    )
    save(constraint, output)
    ctx = click.get_current_context()
    warnings = [in_options(text, ctx.command, ctx) for text in found.warnings]
    content = {"constraint": output, **summary_dict(found, source, judged), "warnings": warnings}
    content["advice"] = in_options(content["advice"], ctx.command, ctx)
    text = in_options(summarise(found, source, judged, verbose), ctx.command, ctx)
    click.echo(json.dumps(content, indent=2) if as_json else text, nl=as_json)
    for text in warnings:
        click.echo(f"warning: {' '.join(text.split())}", err=True)
    say(f"written to {output}: the constraint learned from {source}")


def _refitted(
    found: Learned, whole: Data, held_out: Data, parts: Split, recipe: Recipe, rules: int, say: Say
) -> tuple[Learned, Split]:
    """The constraint learned from all data, with the judgement of the one that was learned without the
    held-out data."""
    from lcons_tasks.own_data import Part, Split, joined

    file, other = (side[0].file for side in (parts.learned_from, parts.held_out))
    again = _learned(joined(whole, held_out), recipe, None, rules, say)
    warnings = tuple(f"before it was learned again with held-out data, {text}" for text in found.warnings)
    used = (Part.all_of(whole, file), Part.all_of(held_out, other))
    return replace(again, held_out=found.held_out, warnings=(*warnings, *again.warnings)), Split(used)


def _learned(
    data: Data,
    recipe: Recipe,
    held_out: Data | None,
    rules: int,
    say: Say,
    folds: int | None = None,
) -> Learned:
    def making(source: str, number: int, seconds: float) -> None:
        if seconds > SHORT:
            say(
                f"making up to {number:,} invalid vectors by `{source}`: {about(seconds)};"
                " `--negatives relabel` makes fewer"
            )

    started = time.perf_counter()

    def judging(number: int, of: int) -> None:
        if number == 1 and (seconds := of * (time.perf_counter() - started)) > SHORT:
            say(f"judging by {of} folds, each learned without: {about(seconds)}; --no-held-out omits it")

    with ExitStack() as stack:
        bar = stack.enter_context(waiting("learning", say))
        start = time.perf_counter()
        # The message "learning" ends when the bar starts: a terminal shows one of them at a time.
        sign = stack.enter_context(ExitStack())
        sign.enter_context(working("learning", say))

        def report(step: Progress) -> None:
            # Only a bar: restarts end one after another, so an estimate from the first steps would be wrong.
            if sys.stderr.isatty() and time.perf_counter() - start > PATIENCE:
                sign.close()
                bar(step.epoch, step.epochs)

        from lcons_tasks.own_data import learn as learn_from

        return learn_from(
            data,
            recipe,
            held_out,
            rules=rules,
            progress=report,
            making=making,
            folds=folds,
            judging=judging,
        )


def _name(path: str) -> str:
    return Path(path).name
