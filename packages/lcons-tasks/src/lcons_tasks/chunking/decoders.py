"""The rows of the chunking table: which constraints, and how they are decoded under.

| how | what |
|---|---|
| viterbi | no constraints, exactly: the paper's "exact" |
| beam | the paper's search; with constraints, its constrained search (violators are left out, not reranked) |
| exact | hard constraints, exactly |
| soft | soft constraints, exactly; one weight, shared among them, chosen on dev |

Paper: Sec. 6, Table 4. Not in the paper: exact and soft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core.errors import InvalidInput
from lcons_decode import ChainBatch, Hard, Soft, beam_search_batch
from lcons_decode.chain import ChainConstraints, X
from lcons_decode.constrained import constrained_ids
from lcons_decode.scores import Ints
from lcons_decode.viterbi import viterbi_ids
from lcons_tasks.chunking.features import SOFT, Recipe

WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
DECODERS = ("exact", "search", "constrained-search", "constrained-exact", "soft")
GLOBAL = ("existence", "counts")
LONGEST_EXACT = 3


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    how: str
    recipes: tuple[Recipe, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether it has constraints and all of them are local."""
        return bool(self.recipes) and all(recipe.feature not in GLOBAL for recipe in self.recipes)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights to choose from; (0.0,) where there is nothing to choose."""
        return WEIGHTS if self.how == "soft" else (0.0,)


def rows_of(hard: Sequence[Recipe], decoders: Sequence[str] = DECODERS) -> list[Row]:
    """The rows that these decoders make with these hard constraints and the soft ones of `features.SOFT`."""
    unknown = [name for name in decoders if name not in DECODERS]
    if unknown:
        raise InvalidInput(f"unknown decoder {unknown[0]!r}; it is one of {', '.join(DECODERS)}.")
    # Where few sentences can be satisfied, exact decoding at n = 4 has too many states for a table.
    local = [recipe for recipe in hard if recipe.feature not in GLOBAL and (recipe.n or 0) <= LONGEST_EXACT]
    one, two, three = SOFT
    rows = {
        "exact": [Row("exact", "viterbi")],
        "search": [Row("search", "beam")],
        "constrained-search": [Row(f"{recipe.name} search", "beam", (recipe,)) for recipe in hard],
        "constrained-exact": [Row(f"{recipe.name} exact", "exact", (recipe,)) for recipe in local],
        "soft": [
            Row("soft pos-2", "soft", (two,)),
            Row("soft pos-1+2", "soft", (one, two)),
            Row("soft pos-3", "soft", (three,)),
            Row("soft pos-1+2+3", "soft", (one, two, three)),
        ],
    }
    idle = [name for name in decoders if not rows[name]]
    if idle and tuple(decoders) != DECODERS:
        raise InvalidInput(
            f"decoder {idle[0]!r} has no constraint to use among {', '.join(r.name for r in hard) or 'none'};"
            f" give it local ones, for constrained-exact with n of at most {LONGEST_EXACT}."
        )
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]


def uses(row: Row, weight: float, constraints: Mapping[str, LearnedConstraint]) -> list[Hard | Soft]:
    """The row's constraints as a decoder takes them."""
    chosen = [(recipe.name, constraints[recipe.name]) for recipe in row.recipes]
    if row.how != "soft":
        return [Hard(constraint, name) for name, constraint in chosen]
    return [Soft(constraint, weight / len(chosen), name) for name, constraint in chosen]


def predict(
    row: Row,
    weight: float,
    constraints: Mapping[str, LearnedConstraint],
    batch: ChainBatch,
    xs: Sequence[X],
    beam: int,
) -> Ints:
    """The packed label indices (N,) that the row's decoder gives."""
    if row.how == "viterbi":
        return viterbi_ids(batch, threads=1)[0]
    compiled = ChainConstraints.of(uses(row, weight, constraints), batch.labels)
    if row.how != "beam":
        return constrained_ids(batch, compiled, xs, threads=1)[0]
    index = {label: i for i, label in enumerate(batch.labels)}
    found = beam_search_batch(batch, compiled, xs, width=beam, threads=1)
    return np.array([index[label] for answer in found for label in answer.y], dtype=np.int64)
