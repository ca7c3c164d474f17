"""`lcons ask`: questions on the combinations that data do not show, until nothing is left open.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lcons_cli.compare import is_rules
from lcons_cli.console import print_json, say
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import INPUT, OUTPUT, check_output, json_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from lcons_contrib.ask.questions import Question
    from lcons_core import LearnedConstraint

_REPLIES = {"y": True, "yes": True, "n": False, "no": False, "u": None, "unsure": None, "": None}


@click.command(short_help="Ask about combinations that data do not show.")
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.argument("data", type=INPUT, metavar="DATA")
@click.option("-o", "--output", required=True, type=OUTPUT, help="The file for the constraint (JSON).")
@click.option(
    "--answers",
    type=INPUT,
    help="Take the answers from a constraint file or a text file of rules, as for `lcons compare`, instead of"
    " from the terminal.",
)
@labelled_options
@json_option
def ask(
    constraint: str,
    data: str,
    output: str,
    answers: str | None,
    form: str | None,
    columns: str | None,
    as_json: bool,
) -> None:
    """Ask which combinations are possible, besides those that DATA shows, and write the constraint.

    CONSTRAINT.json names the feature: what a combination is. DATA has valid structures, as for `lcons learn`.
    Each question is about several combinations: answer `y` if some of them can occur, `n` if none can, `u` if
    you are unsure. The question that settles most comes first. The end of the input ends the questions.

    Exit code 0 if nothing is left open, 3 if something is: it stays as it was in CONSTRAINT.json.

    \b
    Example:
      lcons ask pairs.json pairs.jsonl -o asked.json
      lcons ask pairs.json pairs.jsonl -o asked.json --answers rules.txt
    """
    from lcons_contrib.ask.questions import ask as ask_questions
    from lcons_core import InvalidInput, load, save
    from lcons_tasks.own_data import PsiTable

    check_output(output, constraint, data, answers)
    learned = load(constraint)
    read = read_labelled(data, form, columns)
    if isinstance(read, PsiTable):
        raise InvalidInput(f"expected structures in {data!r}, found a table of psi vectors; name structures.")
    known = set(learned.labels)
    shown = [one for one in read.instances if not known or known.issuperset(one.y)]
    if len(shown) < len(read.instances):
        say(
            f"left out: {len(read.instances) - len(shown):,} structures with labels that the constraint lacks"
        )
    answer = _from_terminal() if answers is None else _from_file(answers, learned)
    found = ask_questions(learned, shown, answer)
    save(found.constraint, output)
    if as_json:
        print_json({"constraint": output, **found.to_dict()})
    else:
        click.echo(str(found))
    say(f"written to {output}: the constraint")
    raise click.exceptions.Exit(3 if found.open else 0)


def _from_terminal() -> Callable[[Question], bool | None]:
    """Reads one line per question from standard input; after its end every answer is unsure."""
    ended = sys.stdin is None

    def answer(question: Question) -> bool | None:
        nonlocal ended
        while not ended:
            click.echo(f"{question} [y/n/u] ", nl=False, err=True)
            line = sys.stdin.readline()
            ended = not line
            reply = line.strip().lower()
            if ended or reply in _REPLIES:
                return None if ended else _REPLIES[reply]
            click.echo("please answer y (some can occur), n (none can) or u (unsure)", err=True)
        return None

    return answer


def _from_file(path: str, learned: LearnedConstraint) -> Callable[[Question], bool | None]:
    """Answers by the set of another file on the same space."""
    import numpy as np

    from lcons_core import InvalidInput, load
    from lcons_core.reason._rules_text import load_rules

    truth = load_rules(path, learned.space) if is_rules(path) else load(path)
    if truth.space != learned.space:
        raise InvalidInput(
            f"{path!r} has other blocks or values than the constraint; name one with the same."
        )
    points = np.concatenate(list(learned.space.points()))
    valid = truth.verdicts(learned.space, points)
    return lambda question: bool(valid[question.box.contains(learned.space, points)].any())
