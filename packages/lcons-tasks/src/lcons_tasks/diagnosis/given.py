"""What a diagnosis is given: data of one kind that the constraint can read, and what had to be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcons_core.instance import Instance
from lcons_tasks.corpus import Sentence
from lcons_tasks.diagnosis.coverage import LeftOut
from lcons_tasks.diagnosis.obedience import Predicted
from lcons_tasks.diagnosis.samples import Material
from lcons_tasks.labelled.data import Data, PsiTable

Examples = Data | Sequence[Sentence] | Sequence[Instance]
Predictions = Sequence[Sequence[Any]] | PsiTable


@dataclass(frozen=True, eq=False)
class Given:
    """What is left of the data, and the source of negatives; `not_asked` says what they do not answer."""

    material: Material
    source: str | None
    predicted: Predicted | None
    left_out: LeftOut
    left_out_training: LeftOut
    not_asked: tuple[str, ...] = ()
