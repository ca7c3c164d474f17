"""`lcons explain`: a constraint in words, and why it forbids a combination.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_answer, print_json
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core.reason._why import Completions, Why


@click.command()
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--forbidden", is_flag=True, help="Explain why the combination of the VALUEs is forbidden.")
@click.option("--rules", "as_rules", is_flag=True, help="Print `forbid:` lines, for `lcons compare`.")
@json_option
def explain(constraint: str, values: tuple[str, ...], forbidden: bool, as_rules: bool, as_json: bool) -> None:
    """Print the constraint in CONSTRAINT.json in words, as rules. Each rule is proved; `--json` has the
    proofs.

    With `--forbidden`, the VALUEs are a combination such as `Location Kill`, or, if these are ambiguous,
    `source=Location relation=Kill`: exit code 0 if it is forbidden, 1 if it is allowed, 3 if undecided.

    \b
    Example:
      lcons explain pairs.json
      lcons explain pairs.json --forbidden Location Kill
      lcons explain pairs.json --rules
      lcons explain pairs.json --forbidden source=Location,relation=Kill --json
    """
    if forbidden != bool(values):
        raise click.UsageError("--forbidden needs the values of a combination, and values need --forbidden.")
    from lcons_core import completions, load, why
    from lcons_core import explain as explain_constraint
    from lcons_core.reason._rules_text import read_assignment, rules_text

    learned = load(constraint)
    if values:
        assignment = read_assignment(learned.space, values)
        with progress("looking at completions"):
            some, reason = completions(learned, assignment), why(learned, assignment)
        verdict = True if reason.forbidden else some.forbidden
        name = {True: "forbidden", False: "allowed", None: "undecided"}[verdict]
        answer = {
            "assignment": assignment,
            "verdict": name,
            **reason.to_dict(),
            "completions": some.to_dict(),
        }
        print_answer(as_json, answer, "\n".join(_lines(reason, some, verdict)))
        raise click.exceptions.Exit({True: 0, False: 1, None: 3}[verdict])
    if as_rules:
        learned.space.check_finite("a file of rules", "leave out --rules to print its rules in words")
    with progress("finding rules"):
        explanation = explain_constraint(learned)
    if as_json:
        print_json(explanation.to_dict())
    elif as_rules:
        click.echo(f"# {explanation.summary(len(explanation.rules))}")
        words = [" ".join(rule.words.split()) for rule in explanation.rules]
        click.echo(rules_text([rule.box for rule in explanation.rules], learned.space, words), nl=False)
    else:
        click.echo(str(explanation))


def _lines(reason: Why, some: Completions, forbidden: bool | None) -> list[str]:
    """The answer in a sentence, then the inequality, its terms and their sum."""
    from lcons_core._arithmetic import many
    from lcons_core.reason._compare import in_words

    if reason.partial and not reason.forbidden:
        answers = {
            True: f"forbidden: each of the {some.looked:,} completions is rejected, by different"
            " inequalities",
            None: f"undecided: of {many(some.total)} completions {some.looked:,} were tried and none is"
            " allowed, but no inequality that was tried forbids them all",
            False: f"allowed, for example: {in_words(some.example or {})}",
        }
        return [answers[forbidden]]
    sentence = [reason.rule] if reason.rule else []
    terms = [*reason.terms, ("bias", reason.bias), ("sum", reason.value)]
    width = max(len(name) for name, _ in terms)
    wide = max(len(f"{value:.4f}") for _, value in terms)
    table = [f"  {name:{width}}  {value:>{wide}.4f}" for name, value in terms]
    head = [*sentence, reason.arithmetic, "", "the inequality:", f"  {reason.inequality}"]
    return [*head, "its terms here:", *table]
