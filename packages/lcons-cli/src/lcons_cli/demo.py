"""`lcons demo`: learn the paper's source-relation pairs and show every step.

Paper: Sec. 4 and Appendix C. The 9 pairs below are the pairs that the entity-relation corpus allows; the
other 15 of the 24 combinations are the negatives.
"""

import json

import click

from lcons_cli.console import print_json
from lcons_cli.options import json_option

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
SOURCES = {
    "Kill": "Person",
    "LiveIn": "Person",
    "WorkFor": "Person",
    "LocatedAt": "Location",
    "OrgBasedIn": "Organization",
}


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """Learn which entity can be the source of which relation, and print the constraints.

    \b
    Example:
      lcons demo
    """
    from lcons_core import Recipe, Rules, compare, explain, simplify, why
    from lcons_core._tables import named_rows, rows_table
    from lcons_core._theorem import Form
    from lcons_core.features import Tuples

    pairs = Tuples(("source", "relation"), (ENTITIES, RELATIONS))
    valid = [(entity, "NoRel") for entity in ENTITIES]
    valid += [(entity, relation) for relation, entity in SOURCES.items()]
    recipe = Recipe(pairs, hidden=2, seed=0)
    examples = recipe.examples([valid])
    constraint = recipe.learn_examples(examples, pairs).constraint

    rules = explain(constraint, examples)
    reason = why(constraint, {"source": "Location", "relation": "Kill"})
    designed = Rules(pairs.space, allowed=[{"source": e, "relation": r} for e, r in valid])
    answer = compare(constraint, designed)
    if as_json:
        forms = {form: named_rows(constraint, form) for form in (Form.ROWS, Form.SIMPLIFIED)}
        shown = {form.value: json.loads("\n".join(rows.json())) for form, rows in forms.items()}
        shown |= {"rules": rules.to_dict(), "why": reason.to_dict(), "against the designed": str(answer)}
        print_json(shown)
        return
    click.echo(
        f"{len(examples.positives)} valid and {len(examples.negatives)} invalid (source, relation) pairs"
    )
    heading("A network with K = 2 hidden units, as 2^K - 1 = 3 inequalities (Theorem 1), each >= 0")
    click.echo(rows_table(constraint.inequalities(), pairs.space))
    heading("Simplified for pairs, where each block has exactly one value")
    click.echo(rows_table(simplify(constraint).rows, pairs.space))
    heading("In words")
    click.echo(str(rules))
    heading("Why can a Location not Kill?")
    click.echo(str(reason))
    heading("Against the designed constraints")
    click.echo(str(answer))


def heading(text: str) -> None:
    click.echo()
    click.secho(text, bold=True)
