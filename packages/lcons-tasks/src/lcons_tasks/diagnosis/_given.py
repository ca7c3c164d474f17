"""The input of a diagnosis: data of one kind that the constraint can read, and what is left out of them.

Label sequences or tuples: structures without a psi are left out, because the feature lacks a label or a
value, or because a count is out of bounds. psi vectors: rows outside the space of the constraint are left
out. If a structure or a valid row is left out, so is its prediction, and the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import FeatureSpace, Instance, InvalidInput, SparsePsi
from lcons_core._instance import WORD
from lcons_core._psi import PsiRows
from lcons_core._types import Floats
from lcons_core.features import ConstraintFeature
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis._coverage import LeftOut
from lcons_tasks.diagnosis._material import StructureMaterial, TableMaterial
from lcons_tasks.diagnosis._obedience import Predicted, predicted_instances
from lcons_tasks.diagnosis._samples import Bools, Material
from lcons_tasks.own_data._data import Data, PsiTable, Structures
from lcons_tasks.own_data._examples import GIVEN

Examples = Data | Sequence[Sentence] | Sequence[Instance]
Predictions = Sequence[Sequence[Any]] | PsiTable


@dataclass(frozen=True, eq=False)
class Given:
    """The data that can be read, and the source of negatives; `not_asked` lists what they cannot answer."""

    material: Material
    source: str | None
    predicted: Predicted | None
    left_out: LeftOut
    left_out_training: LeftOut
    not_asked: tuple[str, ...] = ()


NOT_BESIDE = (
    "whether the base model is wrong where it violates the constraint, because predicted and gold parts"
    " differ in number and cannot be compared one by one"
)
# Empty sequences have no parts; they are neither read nor counted.
_EMPTY = ""


def given_structures(
    feature: ConstraintFeature,
    train: Structures,
    held_out: Structures,
    predictions: Sequence[Sequence[Any]] | None,
    source: str,
) -> Given:
    """The structures that the feature can read."""
    if train.tuples != held_out.tuples:
        raise InvalidInput(
            "expected training and held-out data of one kind, found tuples and label sequences; use the same"
            " kind for both."
        )
    units = "structures" if held_out.tuples else "sentences"
    learned_whys = _whys(feature, train.instances, train.tuples)
    whys = _whys(feature, held_out.instances, held_out.tuples)
    if predictions is not None:
        _check_sizes(predictions, held_out, units)
        answers = predicted_instances(held_out.instances, predictions)
        found = _whys(feature, answers, held_out.tuples)
        whys = [f"predicted: {b}" if a is None and b else a for a, b in zip(whys, found, strict=True)]
    learned = [one for one, why in zip(train.instances, learned_whys, strict=True) if why is None]
    kept = [i for i, why in enumerate(whys) if why is None]
    left_out, left_out_training = (
        _structures_left_out(held_out, whys),
        _structures_left_out(train, learned_whys),
    )
    if not kept or not learned:
        example = left_out.example or left_out_training.example
        raise InvalidInput(
            f"expected training and held-out {units} that the constraint can read, found {len(learned)} and"
            f" {len(kept)}{f' ({example})' if example else ''}; use data with the labels and columns that it"
            " was learned from."
        )
    rest = [held_out.instances[i] for i in kept]
    material = StructureMaterial(feature, learned, rest, source, held_out.tuples)
    for name, parts in (("training", material.learned), ("held-out", material.gold)):
        if not len(parts):
            raise InvalidInput(
                f"expected {name} {units} that are long enough for the constraint, found none; use longer"
                " ones."
            )
    predicted, not_asked = None, tuple[str, ...]()
    if predictions is not None:
        predicted = Predicted.of_structures(feature, rest, [predictions[i] for i in kept])
        if not len(predicted.found):
            raise InvalidInput(
                "expected predictions that the constraint can judge, found none; pass at least one."
            )
        not_asked = () if predicted.wrong is not None else (NOT_BESIDE,)
    return Given(material, source, predicted, left_out, left_out_training, not_asked)


def _check_sizes(predictions: Sequence[Sequence[Any]], held_out: Structures, units: str) -> None:
    if len(predictions) != len(held_out):
        raise InvalidInput(
            f"expected predictions for {len(held_out):,} held-out {units}, found {len(predictions):,};"
            " predict exactly these."
        )
    sizes = [len(y) for y in predictions]
    if not held_out.tuples and sizes != [len(s.y) for s in held_out.instances]:
        raise InvalidInput(
            "expected one predicted label per token of each held-out sentence, found other lengths; predict"
            " exactly these sentences."
        )


def _whys(feature: ConstraintFeature, instances: Sequence[Instance], tuples: bool) -> list[str | None]:
    """The reason why each structure cannot be read; None if it can."""
    column = feature.context_column
    if column is not None:
        for i, one in enumerate(instances, start=1):
            if column not in one.x and len(one.y):
                place = "" if column == WORD else f",{column}=2"
                raise InvalidInput(
                    f"expected a column {column!r}, which the constraint reads, found"
                    f" {', '.join(one.x) or 'none'} in structure {i}; state its place, as in"
                    f' `columns="word=1{place}"`.'
                )
    return [_why(feature, one) if len(one.y) or tuples else _EMPTY for one in instances]


def _why(feature: ConstraintFeature, instance: Instance) -> str | None:
    # A feature of another package may raise other errors for labels that it lacks.
    if feature.labels and (unknown := [label for label in instance.y if label not in feature.labels]):
        return f"unknown label {unknown[0]!r:.60}"
    try:
        feature.psi(instance)
    except InvalidInput as error:
        return str(error).split(";")[0]
    return None


def _structures_left_out(data: Structures, whys: Sequence[str | None]) -> LeftOut:
    said = [(i, why) for i, why in enumerate(whys) if why]
    unit = "structure" if data.tuples else "sentence"
    first = f"{unit} {data.numbers()[said[0][0]]}, {said[0][1]}" if said else ""
    return LeftOut(len(said), sum(why != _EMPTY for why in whys), first)


NOT_USED = "anything about the invalid held-out rows, because training has none"


def given_tables(
    space: FeatureSpace,
    train: PsiTable,
    held_out: PsiTable,
    predictions: PsiTable | None,
    source: str | None,
) -> Given:
    """The rows that are vectors of the space; `source` makes negatives if training has none."""
    train, held_out = in_order(space, train), in_order(space, held_out)
    learned, fits = space.contains(train.X), space.contains(held_out.X)
    places = np.flatnonzero(held_out.valid)
    answers = None if predictions is None else _beside(space, predictions, len(places))
    if answers is not None:
        fits[places] &= space.contains(answers)
        answers = answers[fits[places]]
    left_out, left_out_training = _rows_left_out(held_out, fits), _rows_left_out(train, learned)
    usable = (int((train.valid & learned).sum()), int((held_out.valid & fits).sum()))
    if not all(usable):
        example = left_out.example or left_out_training.example
        raise InvalidInput(
            f"expected valid training and held-out rows that the constraint can read, found {usable[0]} and"
            f" {usable[1]}{f' ({example})' if example else ''}; use tables with the columns that it was"
            " learned from."
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
        found = PsiRows.of(SparsePsi.from_dense(answers), material.gold.owner)
        predicted = Predicted.of_rows(material.gold, found, len(held_out))
    return Given(material, source, predicted, left_out, left_out_training, not_asked)


def in_order(space: FeatureSpace, table: PsiTable) -> PsiTable:
    """The table with its columns in the order of the space; a column is named by block and value, as in
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
            f"{'' if strange is None else f', and {strange!r:.60}, which it does not have'}; use the header"
            " of the table that it was learned from."
        )
    return PsiTable(tuple(table.names[i] for i in order), table.X[:, order], table.valid, table.numbers())


def _beside(space: FeatureSpace, predictions: PsiTable, valid: int) -> Floats:
    """The predicted rows, one for each valid held-out row."""
    if len(predictions) != valid:
        raise InvalidInput(
            f"expected a predicted row for each of {valid:,} valid held-out rows, found {len(predictions):,};"
            " write one row for each, in the same order."
        )
    return in_order(space, predictions).X


def _rows_left_out(table: PsiTable, fits: Bools) -> LeftOut:
    wrong = np.flatnonzero(~fits)
    first = f"row {table.numbers()[wrong[0]]} is not a vector of its space" if len(wrong) else ""
    return LeftOut(len(wrong), len(table), first)
