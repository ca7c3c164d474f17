"""psi vectors as what a diagnosis is given.

Left out are rows that are no vectors of the constraint's space. A valid row and its prediction go together.
"""

from __future__ import annotations

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_core.exact import Floats
from lcons_core.psi import SparsePsi
from lcons_core.space import FeatureSpace
from lcons_tasks.diagnosis.coverage import LeftOut
from lcons_tasks.diagnosis.given import Given
from lcons_tasks.diagnosis.obedience import Predicted
from lcons_tasks.diagnosis.samples import Bools, Parts
from lcons_tasks.diagnosis.tables import TableMaterial
from lcons_tasks.labelled.data import PsiTable
from lcons_tasks.labelled.preparing import GIVEN

NOT_USED = "anything about the invalid held-out rows, as training has none"


def given_tables(
    space: FeatureSpace,
    train: PsiTable,
    held_out: PsiTable,
    predictions: PsiTable | None,
    source: str | None,
) -> Given:
    """The rows that are vectors of the space; `source` is what makes negatives where training has none."""
    train, held_out = in_order(space, train), in_order(space, held_out)
    learned, fits = space.contains(train.X), space.contains(held_out.X)
    places = np.flatnonzero(held_out.valid)
    answers = None if predictions is None else _beside(space, predictions, len(places))
    if answers is not None:
        fits[places] &= space.contains(answers)
        answers = answers[fits[places]]
    left_out, left_out_training = _left_out(held_out, fits), _left_out(train, learned)
    usable = (int((train.valid & learned).sum()), int((held_out.valid & fits).sum()))
    if not all(usable):
        example = left_out.example or left_out_training.example
        raise InvalidInput(
            f"expected valid training and held-out rows that the constraint can read, found {usable[0]} and"
            f" {usable[1]}{f' ({example})' if example else ''}; give the tables that belong to it."
        )
    train, held_out = train.take(learned), held_out.take(fits)
    not_asked: tuple[str, ...] = ()
    if not train.valid.all():
        source = GIVEN
    elif not held_out.valid.all():
        not_asked = (NOT_USED,)
        held_out = held_out.take(held_out.valid)
    material = TableMaterial(space, train, held_out, source)
    predicted = None
    if answers is not None:
        found = Parts(SparsePsi.from_dense(answers), material.gold.owners)
        predicted = Predicted.of_rows(material.gold, found, len(held_out))
    return Given(material, source, predicted, left_out, left_out_training, not_asked)


def in_order(space: FeatureSpace, table: PsiTable) -> PsiTable:
    """The table with its columns in the order of the space; a column is called by its block and value, as in
    `source=Person`, or by the value alone."""
    places = {name: i for i, name in enumerate(table.names)}
    named = [(f"{block}={value}", value) for block, value in space.columns]
    order = [places[name] for names in named for name in names if name in places]
    if len(order) != space.d or sorted(order) != list(range(len(table.names))):
        wanted = next((full for full, short in named if full not in places and short not in places), None)
        known = {name for names in named for name in names}
        strange = next((name for name in table.names if name not in known), None)
        raise InvalidInput(
            f"expected the {space.d} columns of the constraint, found {len(table.names)}"
            f"{'' if wanted is None else f', none of them {wanted!r:.60}'}"
            f"{'' if strange is None else f', and {strange!r:.60}, which it does not know'}; use the header"
            " of the table that it was learned from."
        )
    return PsiTable(tuple(table.names[i] for i in order), table.X[:, order], table.valid, table.numbers())


def _beside(space: FeatureSpace, predictions: PsiTable, valid: int) -> Floats:
    """The predicted rows, one for each valid held-out row."""
    if len(predictions) != valid:
        raise InvalidInput(
            f"expected a predicted row for each of {valid:,} valid held-out rows, found {len(predictions):,};"
            " give them in the same order."
        )
    return in_order(space, predictions).X


def _left_out(table: PsiTable, fits: Bools) -> LeftOut:
    wrong = np.flatnonzero(~fits)
    first = f"row {table.numbers()[wrong[0]]}, no vector of its space" if len(wrong) else ""
    return LeftOut(len(wrong), len(table), first)
