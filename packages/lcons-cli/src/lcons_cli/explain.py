"""`lcons explain`: a constraint in words, and why it forbids a combination.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.labelled_file import labelled_options, read_labelled, valid_option
from lcons_cli.options import FILE, common_options
from lcons_cli.progress import about, working
from lcons_cli.threads import use_one_thread

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_core._psi import PsiRows
    from lcons_core.reason._why import Completions, Why
    from lcons_tasks.own_data import Data

FORBIDDEN = "--forbidden"

# Cells of the lattice of partial assignments that are visited per second.
_SPEED = 1e6


class ManyWords(click.Command):
    """A command in which some options, here `--forbidden`, read all words up to the next option."""

    spread_options: tuple[str, ...] = (FORBIDDEN,)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args, self.spread_options))


def spread(args: Sequence[str], options: tuple[str, ...] = (FORBIDDEN,)) -> list[str]:
    """The arguments, with each of these options repeated before each of its words.

    >>> spread(["pairs.json", "--forbidden", "Location", "Kill", "--json"])
    ['pairs.json', '--forbidden', 'Location', '--forbidden', 'Kill', '--json']
    """
    found: list[str] = []
    within = ""
    first = False
    for i, word in enumerate(args):
        if word == "--":
            return [*found, *args[i:]]
        if word.startswith("-") and word != "-" and not first:
            first = word in options
            within = word if first else ""
            found.append(word)
            continue
        if within and not first:
            found.append(within)
        found.append(word)
        first = False
    return found


@click.command(cls=ManyWords, short_help="Print a constraint in words, or why it forbids something.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json", required=False)
@click.option(
    FORBIDDEN,
    "words",
    multiple=True,
    metavar="VALUE...",
    help="Explain why a combination is forbidden: values such as `Location Kill`, or, if these are ambiguous,"
    " `source=Location,relation=Kill`. Exit code 0 if it is forbidden, 1 if it is allowed.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many rules to show."
)
@click.option(
    "--rules",
    "as_rules",
    is_flag=True,
    help="Print all rules as `forbid:` lines, which `lcons compare` reads.",
)
@click.option(
    "--gold",
    type=FILE,
    metavar="FILE",
    help="Labelled data, as for `lcons learn`: print only the rules that reject some of it, with the number"
    " of parts that each rejects.",
)
@labelled_options
@valid_option
@common_options("Print the proof of each rule as well.", json="Print JSON, with all rules.")
def explain(
    constraint: str | None,
    words: tuple[str, ...],
    limit: int,
    as_rules: bool,
    gold: str | None,
    form: str | None,
    columns: str | None,
    tabs: bool,
    valid: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Print the constraint in CONSTRAINT.json in words, as rules. Each rule is proved.

    \b
    Example:
      lcons explain pairs.json
      lcons explain pairs.json --forbidden Location Kill
      lcons explain pairs.json --gold pairs.jsonl
      lcons explain pairs.json --forbidden source=Location,relation=Kill --json
    """
    if constraint is None and len(words) > 1:
        *words_before, constraint = words
        words = tuple(words_before)
    if constraint is None:
        raise click.UsageError("Missing argument 'CONSTRAINT.json'.")
    use_one_thread()
    from lcons_core import load

    say: Say = say_nothing if quiet else say_on_stderr
    learned = load(constraint)
    if words:
        _answer(learned, words, seed, as_json, say)
    else:
        parts = (
            None
            if gold is None
            else _parts(learned, read_labelled(gold, form, columns, tabs, say, valid), gold, say)
        )
        _rules(learned, parts, limit, as_rules, seed, as_json, verbose, say)


def _parts(learned: LearnedConstraint, data: Data, gold: str, say: Say) -> PsiRows:
    """The parts of labelled data that the constraint reads."""
    from lcons_core import InvalidInput, SparsePsi
    from lcons_core._psi import PsiRows
    from lcons_core.learn._examples import positives_of
    from lcons_tasks.own_data import PsiTable

    if isinstance(data, PsiTable):
        return PsiRows.of(SparsePsi.from_dense(data.X[data.valid]))
    if learned.feature is None:
        raise InvalidInput(
            f"expected a table of psi vectors in {gold!r}, because the constraint has no feature, found"
            " structures; name the table that it was learned from."
        )
    known = set(learned.labels)
    read = [one for one in data.instances if not known or known.issuperset(one.y)]
    if len(read) < len(data.instances):
        say(f"left out: {len(data.instances) - len(read):,} structures with labels that the constraint lacks")
    return positives_of(learned.feature, read)


def _rules(
    learned: LearnedConstraint,
    gold: PsiRows | None,
    limit: int,
    as_rules: bool,
    seed: int,
    as_json: bool,
    verbose: bool,
    say: Say,
) -> None:
    """Prints the rules."""
    from lcons_core import explain as explain_constraint
    from lcons_core.reason._explain import explain_rejected, lattice_size
    from lcons_core.reason._rules_text import rules_text
    from lcons_core.reason._search import ENUMERATION_LIMIT

    if as_rules:
        learned.space.check_finite("a file of rules", "leave out --rules to print its rules in words")
    cells = lattice_size(learned.space.cells())
    if learned.space.integral and 2 * _SPEED < cells <= ENUMERATION_LIMIT:
        say(f"{cells:,} partial assignments to look at; {about(cells / _SPEED)}")
    with working("finding rules", say):
        if gold is None:
            found = explain_constraint(learned, limit=limit, seed=seed)
        else:
            found = explain_rejected(learned, gold, limit=limit, seed=seed)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    elif gold is not None and not found.coverage.total:
        click.echo(f"nothing is rejected of {gold.total:,.0f} parts.")
    elif as_rules:
        click.echo(f"# {found.summary(len(found.rules))}")
        words = [" ".join(rule.words.split()) for rule in found.rules]
        click.echo(rules_text([rule.box for rule in found.rules], learned.space, words), nl=False)
    elif verbose:
        for rule in found.rules[:limit]:
            click.echo(f"- {rule.words}\n    {rule.proof}")
        click.echo(found.summary())
    else:
        click.echo(str(found))


def _answer(learned: LearnedConstraint, words: Sequence[str], seed: int, as_json: bool, say: Say) -> None:
    """Prints why a combination is forbidden, or that it is allowed; raises `Exit` with the exit code."""
    from lcons_core import completions, why
    from lcons_core.reason._rules_text import read_assignment

    assignment = read_assignment(learned.space, words)
    with working("looking at completions", say):
        some = completions(learned, assignment, seed=seed)
        reason = why(learned, assignment)
    forbidden = True if reason.forbidden else some.forbidden
    if as_json:
        verdict = {True: "forbidden", False: "allowed", None: "undecided"}[forbidden]
        data: dict[str, Any] = {"assignment": assignment, "verdict": verdict, **reason.to_dict()}
        data["completions"] = some.to_dict()
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_lines(reason, some, forbidden)))
    raise click.exceptions.Exit({True: 0, False: 1, None: 3}[forbidden])


def _lines(reason: Why, some: Completions, forbidden: bool | None) -> list[str]:
    """The answer in a sentence, then the inequality, its terms and their sum."""
    from lcons_core._arithmetic import many
    from lcons_core.reason._compare import in_words

    lines = []
    if not reason.partial or reason.forbidden:
        lines.append(str(reason))
    elif forbidden:
        lines.append(
            f"forbidden: each of the {some.looked:,} completions is rejected, by different inequalities"
        )
    elif forbidden is None:
        lines.append(
            f"undecided: of {many(some.total)} completions {some.looked:,} were tried and none is allowed,"
            " but no inequality that was tried forbids them all"
        )
    else:
        lines.append(f"allowed, for example: {in_words(some.example or {})}")
    if reason.partial and not reason.forbidden:
        return lines
    terms = [(name, value) for name, value in (*reason.terms, ("bias", reason.bias))]
    width = max(len(name) for name, _ in (*terms, ("sum", 0.0)))
    numbers = [f"{value:.4f}" for _, value in (*terms, ("", reason.value))]
    wide = max(map(len, numbers))
    table = [
        f"  {name:{width}}  {text:>{wide}}"
        for (name, _), text in zip((*terms, ("sum", 0.0)), numbers, strict=True)
    ]
    return [*lines, "", "the inequality:", f"  {reason.inequality}", "its terms here:", *table]
