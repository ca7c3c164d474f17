"""`lcons learn`: a constraint learned from the user's labelled data.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import print_answer, say, warn
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import COUNT, INPUT, OUTPUT, SEED, check_output, in_options, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import Recipe

FEATURES = ("ngram", "pos", "punctuation", "shape", "word", "existence", "counts", "pairs")
TEMPLATE = Path(__file__).with_name("recipe.toml")


def _hidden(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """K, several K, or "auto"."""
    if value is None or value == "auto":
        return value
    numbers = value.split(",")
    if not all(number.strip().isdecimal() and int(number) for number in numbers):
        raise click.BadParameter(f"expected a number, several such as 2,5,10, or auto, got {value!r}.")
    return int(value) if len(numbers) == 1 else tuple(map(int, numbers))


def _print_recipe(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(TEMPLATE.read_text(encoding="utf-8"), nl=False)
        ctx.exit()


@click.command()
@click.argument("data", type=INPUT, metavar="DATA")
@click.option("-o", "--output", required=True, type=OUTPUT, help="The file for the constraint (JSON).")
@labelled_options
@click.option("--feature", type=click.Choice(FEATURES), help="What the constraint reads. Default: see above.")
@click.option("-n", "n", type=COUNT, help="Length of n-grams. Default: 2; for existence, 1.")
@click.option("--names", metavar="NAMES", help="The names of the members of tuples, as in source,relation.")
@click.option("-K", "--hidden", metavar="K", callback=_hidden, help="Number of hidden units. Default: 10.")
@click.option("--seed", type=SEED, help="Seed of the random numbers. Default: 0.")
@click.option("--recipe", type=INPUT, metavar="FILE.toml", help="All other settings, as a TOML file.")
@click.option(
    "--print-recipe",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_recipe,
    help="Print a recipe with all settings and their defaults, and exit.",
)
@click.option("--dev", "held_out", type=INPUT, help="Held-out data. Default: folds of DATA.")
@click.option("--held-out-end", is_flag=True, help="Hold out the last 20 % of DATA, by position.")
@click.option("--no-held-out", is_flag=True, help="Do not judge on held-out data, which is quicker.")
@json_option
def learn(
    data: str,
    output: str,
    form: str | None,
    columns: str | None,
    recipe: str | None,
    held_out: str | None,
    held_out_end: bool,
    no_held_out: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a constraint from the labelled structures in DATA, and print its rules.

    DATA is CoNLL columns, JSON lines ({"labels": [...], "words": [...], "pos": [...]}, or {"tuples":
    [["Person", "Kill"], ...]}), or a table of psi vectors: CSV with a header and a column `valid` of 0 and 1.
    Columns of a table named block=value form a block, of which one value holds; numbers with fractions or
    below 0 are real or integer columns.

    `--format` is conll; tabs: columns separated by one tab, so that cells may contain blanks; jsonl: JSON
    lines or an array, also of doccano and of spaCy's tuples; csv: a token and a tag per row, or psi vectors;
    datasets: a folder that Hugging Face `datasets` saved. With lcons-contrib also spacy (a DocBin), prodigy,
    label-studio, webanno (TSV 3) and brat: files of these tools.

    `--columns` are places of columns. CoNLL: `word,pos,label` are the first three, `_` skips one;
    `word=1,label=-1` are numbers, negative ones from the end. JSON lines and datasets:
    `word=tokens,label=tags` are members. spacy, webanno: `label=NAME` is a span group or layer. Default: the
    first column is the word, the last is the label, and the second of three or more is pos; in `.conllu`
    files the words are FORM and the labels UPOS.

    `--feature` is what the constraint reads. Windows of n labels: alone (ngram), or with POS tags (pos),
    punctuation, shapes, or words. Whole structures: which labels exist (existence), or how often (counts).
    Pairs or other tuples (pairs). Default: ngram, or pairs for tuples. psi vectors have no feature. `-K` may
    be several numbers (2,5,10) or auto: chosen by cross-validation. All other settings are in the recipe.

    The constraint is judged by five folds of DATA, each held out once; by other data (`--dev`); or by the
    last 20 % of DATA, from which it then does not learn (`--held-out-end`) and which `lcons diagnose` uses.

    Prints the rules in words, how well they fit held-out data, and what they forbid there. A warning is
    printed if the constraint forbids correctly labelled structures. The last line is advice: use it as a hard
    constraint, as a soft one, or not at all.

    A window of labels is forbidden only with evidence: it, or a part of it, was never seen, although chance
    would have shown it 3 times. Labels such as B-PER are also counted as classes over all types, so that
    rules hold for rare types. Other unseen windows are not forbidden (too rare to tell).

    Each rule is followed by its support: the number of parts (n-grams, tuples, rows) of the training data
    that its premise covers, or all parts if it has no premise. The support alone is not evidence. So two more
    numbers follow: how many parts the rule would forbid by chance, if its conditions were independent, and
    how many it does forbid: [support 313; expected 300 by chance, seen 7]. If the expected number is small,
    there is little evidence for the rule, even with a large support.

    \b
    Example:
      lcons learn train.conll -o bigrams.json --columns word,pos,label
      lcons learn train.conll -o pos.json --feature pos -n 2 -K 5 --dev dev.conll
      lcons learn pairs.jsonl -o pairs.json --names source,relation -K 2
    """
    if (held_out is not None) + held_out_end + no_held_out > 1:
        raise click.UsageError("use one of --dev, --held-out-end and --no-held-out.")
    check_output(output, data, held_out, recipe)
    from lcons_core import save
    from lcons_tasks import own_data
    from lcons_tasks.own_data._data import HELD_OUT, Split

    settings = read_recipe(recipe, options)
    whole = train = read_labelled(data, form, columns)
    judges = None if held_out is None else read_labelled(held_out, form, columns)
    folds = None if held_out or held_out_end or no_held_out else settings.folds
    part = Split.of_file(whole, Path(data).name, HELD_OUT if held_out_end else 0.0)
    judged = part.held_out
    if held_out_end:
        train, judges = own_data.split(whole)
    elif held_out is not None and judges is not None:
        judged = f"{len(judges):,} {part.unit} of {Path(held_out).name}"
    with progress("learning") as report:
        learned = own_data.learn(
            train,
            settings,
            judges,
            folds=folds,
            progress=lambda now: report(now.epoch, now.epochs),
            judging=lambda *at: report(*at, "judging by folds; --no-held-out omits it"),
        )
    if no_held_out:
        judged = "nothing was held out"
    elif learned.held_out is None:
        say(f"nothing is held out of {part.learned_from}, too few for that; pass some with --dev")
        judged = "too few to hold some out"
    elif folds is not None:
        number = len(own_data.contiguous_folds(whole, folds))
        judged = f"{number} contiguous folds of {part.file}, each held out once"
    constraint, source = learned.constraint, part.learned_from
    save(replace(constraint, provenance={**constraint.provenance, "split": asdict(part)}), output)
    command = click.get_current_context().command
    warnings = [in_options(text, command) for text in learned.warnings]
    summary = {"constraint": output, **own_data.summary_dict(learned, source, judged), "warnings": warnings}
    summary["advice"] = in_options(summary["advice"], command)
    text = in_options(own_data.summarise(learned, source, judged), command)
    print_answer(as_json, summary, text.removesuffix("\n"))
    for text in warnings:
        warn(text)
    say(f"written to {output}: the constraint learned from {source}")


def read_recipe(path: str | None, options: dict[str, Any]) -> Recipe:
    """The recipe of a TOML file with the given options in their place; raises `InvalidInput` for a setting
    that a recipe does not have."""
    import tomllib

    from lcons_core import InvalidInput, Recipe

    settings: dict[str, Any] = {"evidence": "auto"}
    try:
        settings |= {} if path is None else tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path!r} is not TOML: {error}.") from None
    settings |= {name: value for name, value in options.items() if value is not None}
    if settings["evidence"] is False:
        settings["evidence"] = None
    if isinstance(settings.get("names"), str):
        settings["names"] = [name.strip() for name in settings["names"].split(",")]
    try:
        return Recipe.from_dict(settings)
    except TypeError as error:
        raise InvalidInput(f"a setting of the recipe {path!r} has a wrong type: {error}.") from None
