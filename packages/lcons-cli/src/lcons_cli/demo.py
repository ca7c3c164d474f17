"""`lcons demo`: learn the paper's source-relation pairs and show every step.

Paper: Sec. 4 and Appendix C. The 9 pairs below are those that the entity-relation corpus allows; the other
15 of the 24 combinations are the negatives.
"""

import click

from lcons_core import Rules, compare, explain, learn_from_examples, make_examples, simplify, why
from lcons_core.features import Tuples
from lcons_core.layout import rows_table
from lcons_core.learning import ConstraintLearner

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
SOURCES = {
    "Kill": "Person",
    "LiveIn": "Person",
    "WorkFor": "Person",
    "LocatedAt": "Location",
    "OrgBasedIn": "Organization",
}


def run(seed: int) -> None:
    """Prints the rows, the simplified rows, the rules in words, and a comparison with the designed ones."""
    pairs = Tuples(("source", "relation"), (ENTITIES, RELATIONS))
    valid = [(entity, "NoRel") for entity in ENTITIES]
    valid += [(entity, relation) for relation, entity in SOURCES.items()]
    examples = make_examples([valid], pairs)
    constraint = learn_from_examples(examples, ConstraintLearner(hidden=2, seed=seed), pairs)

    say(f"{len(examples.positives)} valid and {len(examples.negatives)} invalid (source, relation) pairs")
    heading("A network with K = 2 hidden units, as 2^K - 1 = 3 inequalities (Theorem 1), each >= 0")
    say(rows_table(constraint.inequalities(), pairs.space))
    heading("Simplified for pairs, where each block has exactly one value")
    simplified = simplify(constraint)
    say(rows_table(simplified.rows, pairs.space))
    heading("In words")
    say(str(explain(constraint, examples)))
    heading("Why can a Location not Kill?")
    say(str(why(constraint, {"source": "Location", "relation": "Kill"})))
    heading("Against the designed constraints")
    designed = Rules(pairs.space, allowed=[{"source": e, "relation": r} for e, r in valid])
    say(str(compare(constraint, designed)))


def heading(text: str) -> None:
    click.echo()
    click.secho(text, bold=True)


def say(text: str) -> None:
    click.echo(text)
