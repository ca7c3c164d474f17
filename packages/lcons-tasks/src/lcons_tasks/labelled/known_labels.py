"""Whether held-out structures have the labels that training has: those with others cannot be judged."""

from __future__ import annotations

from collections.abc import Hashable

from lcons_core.errors import InvalidInput
from lcons_core.instance import Instance
from lcons_tasks.labelled.data import Data, Structures

# A share of held-out structures that may be left out without a word.
FEW = 0.05
_SHOWN = 6


def check_labels(train: Data, held_out: Data, by_position: bool = False) -> str | None:
    """A warning where more than a few held-out structures have labels that training has not, else None; an
    error where all have. `by_position`: they are the end of the same data, where any such label is told.

    >>> train, other = (Structures.of([(["a", "b"], labels)]) for labels in (["B", "O"], ["B", "X"]))
    >>> check_labels(train, other)
    Traceback (most recent call last):
    lcons_core.errors.InvalidInput: expected held-out structures with the labels of training (B, O), found
    others in each ('X', first in structure 1); give held-out data with the same labels.
    """
    if not isinstance(train, Structures) or not isinstance(held_out, Structures):
        return None
    if train.tuples != held_out.tuples:
        return None
    known = {label for one in train.instances for label in _labels(one, train.tuples)}
    new = [_labels(one, train.tuples) - known for one in held_out.instances]
    strange = [i for i, labels in enumerate(new) if labels]
    if not strange:
        return None
    first = held_out.numbers()[strange[0]]
    names = _listed([repr(name) for name in sorted({str(label[1]) for labels in new for label in labels})])
    remedy = "shuffle the data, or give --dev" if by_position else "give held-out data with the same labels"
    if len(strange) == len(held_out):
        have = _listed(sorted({str(label[1]) for label in known}))
        raise InvalidInput(
            f"expected held-out structures with the labels of training ({have}), found others in each"
            f" ({names}, first in structure {first}); {remedy}."
        )
    if not by_position and len(strange) <= FEW * len(held_out):
        return None
    return (
        f"{len(strange):,} of {len(held_out):,} held-out structures are not judged, as they have labels that"
        f" the training data have not ({names}, first in structure {first}); {remedy}."
    )


def _labels(instance: Instance, tuples: bool) -> set[tuple[int, Hashable]]:
    """The labels of a structure, each with the member of the tuple that it is (0 in a sequence)."""
    if tuples:
        return {(i, value) for one in instance.y for i, value in enumerate(one)}
    return {(0, label) for label in instance.y}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
