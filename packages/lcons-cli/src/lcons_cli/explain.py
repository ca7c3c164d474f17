"""`lcons explain`: a constraint in words, and why it forbids a combination.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import print_json, say
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_core._psi import PsiRows
    from lcons_core.reason._why import Completions, Why
    from lcons_tasks.own_data._data import Data


@click.command(short_help="Print a constraint in words, or why it forbids something.")
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option(
    "--forbidden",
    is_flag=True,
    help="Explain why a combination is forbidden: values such as `Location Kill`, or, if these are ambiguous,"
    " `source=Location relation=Kill`. Exit code 0 if it is forbidden, 1 if it is allowed.",
)
@click.option(
    "--rules",
    "as_rules",
    is_flag=True,
    help="Print all rules as `forbid:` lines, which `lcons compare` reads.",
)
@click.option(
    "--gold",
    type=INPUT,
    help="Labelled data, as for `lcons learn`: print only the rules that reject some of it, with the number"
    " of parts that each rejects.",
)
@labelled_options
@json_option
def explain(
    constraint: str,
    values: tuple[str, ...],
    forbidden: bool,
    as_rules: bool,
    gold: str | None,
    form: str | None,
    columns: str | None,
    as_json: bool,
) -> None:
    """Print the constraint in CONSTRAINT.json in words, as rules. Each rule is proved; `--json` has the
    proofs.

    \b
    Example:
      lcons explain pairs.json
      lcons explain pairs.json --forbidden Location Kill
      lcons explain pairs.json --gold pairs.jsonl
      lcons explain pairs.json --forbidden source=Location,relation=Kill --json
    """
    if forbidden != bool(values):
        raise click.UsageError(
            "--forbidden needs the values of a combination, as in `--forbidden Location Kill`."
        )
    from lcons_core import load

    learned = load(constraint)
    if values:
        _answer(learned, values, as_json)
    else:
        parts = None if gold is None else _parts(learned, read_labelled(gold, form, columns), gold)
        _rules(learned, parts, as_rules, as_json)


def _parts(learned: LearnedConstraint, data: Data, gold: str) -> PsiRows:
    """The parts of labelled data that the constraint reads."""
    from lcons_core import InvalidInput, SparsePsi
    from lcons_core._psi import PsiRows
    from lcons_core.learn._examples import positives_of
    from lcons_tasks.own_data import PsiTable

    if isinstance(data, PsiTable):
        return PsiRows.of(SparsePsi.from_dense(data.X[data.valid]))
    if learned.feature is None:
        raise InvalidInput(f"the constraint has no feature: expected a table of psi vectors in {gold!r}.")
    known = set(learned.labels)
    read = [one for one in data.instances if not known or known.issuperset(one.y)]
    if len(read) < len(data.instances):
        say(f"left out: {len(data.instances) - len(read):,} structures with labels that the constraint lacks")
    return positives_of(learned.feature, read)


def _rules(learned: LearnedConstraint, gold: PsiRows | None, as_rules: bool, as_json: bool) -> None:
    """Prints the rules."""
    from lcons_core import explain as explain_constraint
    from lcons_core.reason._explain import explain_rejected
    from lcons_core.reason._rules_text import rules_text

    if as_rules:
        learned.space.check_finite("a file of rules", "leave out --rules to print its rules in words")
    with progress("finding rules"):
        explanation = explain_constraint(learned) if gold is None else explain_rejected(learned, gold)
    if as_json:
        print_json(explanation.to_dict())
    elif gold is not None and not explanation.coverage.total:
        click.echo(f"nothing is rejected of {gold.total:,.0f} parts.")
    elif as_rules:
        click.echo(f"# {explanation.summary(len(explanation.rules))}")
        words = [" ".join(rule.words.split()) for rule in explanation.rules]
        click.echo(rules_text([rule.box for rule in explanation.rules], learned.space, words), nl=False)
    else:
        click.echo(str(explanation))


def _answer(learned: LearnedConstraint, words: Sequence[str], as_json: bool) -> None:
    """Prints why a combination is forbidden, or that it is allowed; raises `Exit` with the exit code."""
    from lcons_core import completions, why
    from lcons_core.reason._rules_text import read_assignment

    assignment = read_assignment(learned.space, words)
    with progress("looking at completions"):
        some = completions(learned, assignment)
        reason = why(learned, assignment)
    forbidden = True if reason.forbidden else some.forbidden
    if as_json:
        verdict = {True: "forbidden", False: "allowed", None: "undecided"}[forbidden]
        data: dict[str, Any] = {"assignment": assignment, "verdict": verdict, **reason.to_dict()}
        print_json({**data, "completions": some.to_dict()})
    else:
        click.echo("\n".join(_lines(reason, some, forbidden)))
    raise click.exceptions.Exit({True: 0, False: 1, None: 3}[forbidden])


def _lines(reason: Why, some: Completions, forbidden: bool | None) -> list[str]:
    """The answer in a sentence, then the inequality, its terms and their sum."""
    from lcons_core._arithmetic import many
    from lcons_core.reason._compare import in_words

    lines = []
    if not reason.partial or reason.forbidden:
        lines += [reason.rule, reason.arithmetic] if reason.rule else [reason.arithmetic]
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
