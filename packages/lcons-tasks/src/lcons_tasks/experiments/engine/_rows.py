"""The rows of a results table: each is a set of constraints and a way to decode under them.

| how | decoding |
|---|---|
| viterbi | exact, without constraints: the paper's "exact" |
| beam | the paper's search; with constraints, its constrained search (violators are removed, not reranked) |
| exact | exact, under hard constraints |
| soft | exact, under soft constraints with one weight each; with a budget if one constraint is global |
| global | exact, under hard constraints that include global ones, with a budget |
| table, counts, penalties, crf | exact, under scores of windows without a network (`_baselines.py`) |

Not in the paper: exact, soft, global and the baselines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, Recipe, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch, ChainConstraints, Hard, Soft, constrained_ids, decode_global
from lcons_decode._scores import X
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_decode.kernels._arrays import Ints

EXACT, CHOSEN = "exact", "chosen on dev"
ACCURACY = "test"
# Accuracy on tokens with a window that training does not show, and on the others.
UNSEEN, SEEN = "unseen windows", "seen windows"
# Labellings tried per sequence under global constraints.
BUDGET = 1000

TABLE, COUNTS, PENALTIES, CRF = "table", "counts", "penalties", "crf"
BASELINES = (TABLE, COUNTS, PENALTIES, CRF)


@dataclass(frozen=True)
class TableRow:
    """A row of the table. `designed` gives its constraints for labels by name, if they are written by hand
    and not learned by recipes; soft ones share one weight."""

    name: str
    how: str
    recipes: tuple[Recipe, ...] = ()
    designed: Callable[[Sequence[str]], list[tuple[str, LearnedConstraint]]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        recipes = [recipe.to_dict() for recipe in self.recipes]
        return {"name": self.name, "how": self.how, "designed": bool(self.designed), "recipes": recipes}

    @property
    def is_baseline(self) -> bool:
        """Whether it reads the windows of its recipes without learning their networks."""
        return self.how in BASELINES

    @property
    def is_local(self) -> bool:
        """Whether it has constraints and all of them are local."""
        return bool(self.recipes) and not any(recipe.is_global for recipe in self.recipes)


def recipes_of(rows: Sequence[TableRow]) -> list[Recipe]:
    """The distinct recipes of the constraints of rows, in order."""
    return list(dict.fromkeys(recipe for row in rows if not row.is_baseline for recipe in row.recipes))


def baseline_rows(soft: TableRow, hows: Sequence[str] = BASELINES) -> list[TableRow]:
    """The baselines of a soft row."""
    return [TableRow(soft.name.replace("soft", how, 1), how, soft.recipes) for how in hows]


def uses(
    row: TableRow,
    weights: Sequence[float],
    constraints: Mapping[str, LearnedConstraint],
    labels: Sequence[str] = (),
) -> list[Hard | Soft]:
    """The constraints of a row for the decoder: soft ones with one weight each, leaving out weights of 0."""
    if row.designed is None:
        chosen = [(recipe.name, constraints[recipe.name]) for recipe in row.recipes]
    else:
        chosen = row.designed(labels)
        weights = [weight for weight in weights for _ in chosen]
    if row.how != "soft":
        return [Hard(constraint, name) for name, constraint in chosen]
    pairs = zip(chosen, weights, strict=True)
    return [Soft(constraint, weight, name) for (name, constraint), weight in pairs if weight]


def predict(
    row: TableRow, chosen: Sequence[Hard | Soft], batch: ChainBatch, xs: Sequence[X], beam: int
) -> Ints:
    """(N,) the label indices of all sequences in a row, decoded as `row` states under the chosen
    constraints."""
    if row.how == "viterbi" or (row.how == "soft" and not chosen):
        return viterbi_ids(batch, threads=1)[0]
    compiled = ChainConstraints.of(chosen, batch.labels)
    local = not (compiled.named.global_hard or compiled.named.global_soft)
    if row.how in ("exact", "soft") and local:
        return constrained_ids(batch, compiled, xs, threads=1)[0]
    index = {label: i for i, label in enumerate(batch.labels)}
    if row.how == "beam":
        found = beam_search_batch(batch, compiled, xs, width=beam, threads=1)
    else:
        found = [decode_global(own, compiled, x, budget=BUDGET) for own, x in zip(batch, xs, strict=True)]
    return np.array([index[label] for answer in found for label in answer.y], dtype=np.int64)


def compile_kernels(hows: Sequence[str] = ("soft", "exact", "beam", "viterbi")) -> None:
    """Decodes a few words in each way, so that the kernels are compiled once and cached on disk.

    numba compiles a kernel anew for each kind of arguments, so these are of the same kinds as those of a run:
    the scores are arrays that can be written, as models return them, and the constraint reads contexts, in
    one kind of window and in several.
    """
    labels = ("B", "I", "O")
    feature = NgramContext(labels, ("X", "Y"), n=2)
    network = RectifierNetwork(np.zeros((1, feature.space.d)), np.zeros(1))
    rule = LearnedConstraint(network, feature.space, feature)
    for contexts in (("X", "Y"), ("X", "Y", "X")):
        T, ends = len(contexts), np.array([0, len(contexts)])
        batch = ChainBatch(np.zeros((T, 3)), ends, np.zeros((3, 3)), np.zeros(3), np.zeros(3), labels)
        for how in hows:
            use = Soft(rule, 1.0) if how == "soft" else Hard(rule)
            predict(TableRow(how, how), [use], batch, [{feature.column: contexts}], beam=2)
