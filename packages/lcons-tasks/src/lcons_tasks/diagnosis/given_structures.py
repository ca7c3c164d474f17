"""Label sequences or tuples as what a diagnosis is given.

Left out are structures of which the feature cannot make psi: it does not know a label or a value, or a count
is beyond its bound. A structure and its prediction go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcons_core.errors import InvalidInput
from lcons_core.features import ConstraintFeature, NgramContext
from lcons_core.features.sequence import WORD
from lcons_core.instance import Instance
from lcons_tasks.diagnosis.coverage import LeftOut
from lcons_tasks.diagnosis.given import Given
from lcons_tasks.diagnosis.obedience import Predicted, predicted_instances
from lcons_tasks.diagnosis.structures import StructureMaterial
from lcons_tasks.labelled.data import Structures

NOT_BESIDE = (
    "whether the base model is wrong where it violates the constraint, as predicted and gold parts differ in"
    " number and cannot be laid side by side"
)
# Sequences that are empty say nothing; they are neither read nor counted.
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
            "expected training and held-out data of one kind, found tuples beside label sequences; give both"
            " in one format."
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
    left_out, left_out_training = _left_out(held_out, whys), _left_out(train, learned_whys)
    if not kept or not learned:
        example = left_out.example or left_out_training.example
        raise InvalidInput(
            f"expected training and held-out {units} that the constraint can read, found {len(learned)} and"
            f" {len(kept)}{f' ({example})' if example else ''}; give the data that belong to it."
        )
    rest = [held_out.instances[i] for i in kept]
    material = StructureMaterial(feature, learned, rest, source, held_out.tuples)
    for name, parts in (("training", material.learned), ("held-out", material.gold)):
        if not len(parts):
            raise InvalidInput(
                f"expected {name} {units} that the constraint says something about, found none long enough;"
                " give longer ones."
            )
    predicted, not_asked = None, tuple[str, ...]()
    if predictions is not None:
        predicted = Predicted.of_structures(feature, rest, [predictions[i] for i in kept])
        if not len(predicted.found):
            raise InvalidInput(
                "expected predictions that the constraint says something about, found none; give some."
            )
        not_asked = () if predicted.wrong is not None else (NOT_BESIDE,)
    return Given(material, source, predicted, left_out, left_out_training, not_asked)


def _check_sizes(predictions: Sequence[Sequence[Any]], held_out: Structures, units: str) -> None:
    if len(predictions) != len(held_out):
        raise InvalidInput(
            f"expected predictions for {len(held_out):,} held-out {units}, found {len(predictions):,};"
            " predict these very ones."
        )
    sizes = [len(y) for y in predictions]
    if not held_out.tuples and sizes != [len(s.y) for s in held_out.instances]:
        raise InvalidInput(
            "expected one predicted label a token of each held-out sentence, found other lengths; predict"
            " these very sentences."
        )


def _whys(feature: ConstraintFeature, instances: Sequence[Instance], tuples: bool) -> list[str | None]:
    """Why each structure cannot be read; None where it can."""
    if isinstance(feature, NgramContext):
        for i, one in enumerate(instances, start=1):
            if feature.column not in one.x and len(one.y):
                place = "" if feature.column == WORD else f",{feature.column}=2"
                raise InvalidInput(
                    f"expected a column {feature.column!r}, which the constraint reads, found"
                    f" {', '.join(one.x) or 'none'} in structure {i}; say where it is, as in `--columns"
                    f" word=1{place}`."
                )
    return [_why(feature, one) if len(one.y) or tuples else _EMPTY for one in instances]


def _why(feature: ConstraintFeature, instance: Instance) -> str | None:
    known = getattr(feature, "labels", None)
    # A feature of another package may fail in ways of its own at labels that it does not know.
    if known is not None and (unknown := [label for label in instance.y if label not in known]):
        return f"unknown label {unknown[0]!r:.60}"
    try:
        feature.psi(instance)
    except InvalidInput as error:
        return str(error).split(";")[0]
    return None


def _left_out(data: Structures, whys: Sequence[str | None]) -> LeftOut:
    said = [(i, why) for i, why in enumerate(whys) if why]
    unit = "structure" if data.tuples else "sentence"
    first = f"{unit} {data.numbers()[said[0][0]]}, {said[0][1]}" if said else ""
    return LeftOut(len(said), sum(why != _EMPTY for why in whys), first)
