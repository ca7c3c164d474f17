"""The rows of a results table: each is a set of constraints and a way to decode under them.

| how | decoding |
|---|---|
| viterbi | exact, without constraints: the paper's "exact" |
| beam | the paper's search; with constraints, its constrained search (violators are removed, not reranked) |
| exact | exact, under hard constraints |
| soft | exact, under soft constraints with one weight each; with a budget if one constraint is global |
| global | exact, under hard constraints that include global ones, with a budget |
| table, counts | exact, under scores of windows without a network (`_baselines.py`) |

A recipe states which feature, how large a network and which negatives.

Differs from the paper: one start and few epochs for each constraint.

Not in the paper: exact, soft, global and the baselines; many or all single-label changes as negatives instead
of one, and positives weighted by how often they were seen, for soft use, where a graded margin matters more
than a sharp border.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, Recipe, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch, ChainConstraints, Hard, Soft, constrained_ids, decode_global
from lcons_decode._scores import X
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.experiments.engine._baselines import BASELINES

EXACT, CHOSEN = "exact", "chosen on dev"
ACCURACY = "test"
# Labellings tried per sequence under global constraints.
BUDGET = 1000

NEGATIVES = {"existence": "flip", "counts": "perturb"}


def once(feature: str, n: int | None = None, mark: str = "", **fields: Any) -> Recipe:
    """A recipe with one start, 100 epochs and one negative by `relabel` per positive, unless `fields` state
    otherwise. Tables and files use its name; `mark` at its end distinguishes recipes of the same name.

    >>> once("pos", 3).name, once("pos", 2, many="all", mark="-soft").name
    ('pos-3', 'pos-2-all-soft')
    """
    recipe = Recipe(feature, n, **{"negatives": "relabel", "restarts": 1, "epochs": 100, **fields})
    length, many = "" if n is None else f"-{n}", "" if recipe.many == 1 else f"-{recipe.many}"
    return replace(recipe, name=f"{recipe.column or feature}{length}{many}{mark}")


def recipe(text: str, hidden: int = 10) -> Recipe:
    """The recipe of a constraint such as `pos:3` or `existence:2`, with the paper's negatives.

    >>> recipe("pos:3").name, recipe("existence:2").negatives
    ('pos-3', 'flip')
    """
    feature, _, n = text.partition(":")
    return once(feature, int(n), hidden=hidden, negatives=NEGATIVES.get(feature, "relabel"))


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


def recipes_of(rows: Sequence[TableRow]) -> list[Recipe]:
    """The distinct recipes of the constraints of rows, in order."""
    return list(dict.fromkeys(recipe for row in rows if not row.is_baseline for recipe in row.recipes))


def baseline_rows(soft: TableRow) -> list[TableRow]:
    """The baselines of a soft row."""
    return [TableRow(soft.name.replace("soft", how, 1), how, soft.recipes) for how in BASELINES]


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
        answers = beam_search_batch(batch, compiled, xs, width=beam, threads=1)
    else:
        answers = [decode_global(one, compiled, x, budget=BUDGET) for one, x in zip(batch, xs, strict=True)]
    return np.array([index[label] for answer in answers for label in answer.y], dtype=np.int64)


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
