"""The rows of a results table: each is a set of constraints and a way to decode under them.

| how | decoding |
|---|---|
| viterbi | exact, without constraints: the paper's "exact" |
| beam | the paper's search; with constraints, its constrained search (violators are removed, not reranked) |
| exact | exact, under hard constraints |
| soft | exact, under soft constraints with one weight each; with a budget if one constraint is global |
| global | exact, under hard constraints that include global ones, with a budget |
| table, counts | exact, under scores of windows without a network: the baselines of soft constraints |

A recipe states which feature, how large a network and which negatives.

Baselines read the same windows as soft constraints:

    maximise  score(y) + sum over windows of weight * s(contexts, labels)

| how | s(contexts c, labels v) |
|---|---|
| table | 0 if training shows the window (as often as `min_support` asks), otherwise -1 |
| counts | log ((#(c, v) + a) / (#c + a V)), where V label n-grams were seen: a smoothed relative frequency |

They are decoded exactly, on the scores of the same base model, and their weights are chosen on dev as those
of soft constraints. With the last two labels (a, b) as state, at position t,

    best_t(b, c) = max_a [best_{t-1}(a, b) + s_t(a, b, c)] + transition(b, c) + emission_t(c)

The decoders of lcons_decode are faster and take any n, but their scores are those of networks.

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

from lcons_core import Instance, InvalidInput, LearnedConstraint, Recipe, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch, ChainConstraints, Hard, Soft, constrained_ids, decode_global
from lcons_decode._scores import Columns, X
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data import Sentence

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


TABLE, COUNTS = "table", "counts"
BASELINES = {TABLE: "look-up table", COUNTS: "smoothed counts"}

LONGEST = 3
# Added to every count of a window, so that one that was not seen is not impossible.
SMOOTHING = 0.1
# Sequences that are decoded side by side have about so many scores of windows at a position.
CELLS = 2**15


@dataclass(frozen=True, eq=False)
class WindowTable:
    """A score per window. `number` has the row of each sequence of contexts that was seen; all others have
    the last row. Label n-grams, numbered as in an array (L, ..., L), score `rest` (rows,), and what is
    `listed`, a sparse matrix (rows, n-grams), in addition."""

    feature: NgramContext
    number: dict[tuple[int, ...], int]
    listed: Any
    rest: Floats

    @classmethod
    def of(cls, how: str, recipe: Recipe, train: Sequence[Sentence]) -> WindowTable:
        """The table of a recipe's windows in training sentences."""
        from scipy.sparse import csr_matrix

        instances = [sentence.instance for sentence in train]
        feature = recipe.complete(instances)[1]
        if not isinstance(feature, NgramContext) or feature.n > LONGEST or feature.pad:
            raise InvalidInput(
                f"a table needs windows with contexts, of at most {LONGEST} labels, without padding."
            )
        n, L = feature.n, len(feature.labels)
        values = np.concatenate([feature.values(instance) for instance in instances])
        contexts, rows = np.unique(values[:, :n], axis=0, return_inverse=True)
        places = values[:, n:] @ L ** np.arange(n)[::-1]
        ones, shape = np.ones(len(values)), (len(contexts) + 1, L**n)
        listed = csr_matrix((ones, (rows.ravel(), places)), shape=shape)
        listed.data[listed.data < recipe.min_support] = 0.0
        listed.eliminate_zeros()
        if how == TABLE:
            rest, listed.data = np.full(shape[0], -1.0), np.ones(listed.nnz)
        else:
            # The logarithms of a / (#c + a V), and of (#(c, v) + a) / a.
            V = max(1, len(np.unique(listed.indices)))
            rest = -np.log(np.asarray(listed.sum(1)).ravel() / SMOOTHING + V)
            listed.data = np.log1p(listed.data / SMOOTHING)
        return cls(feature, {tuple(c): row for row, c in enumerate(contexts.tolist())}, listed, rest)

    def rows(self, xs: Sequence[Columns]) -> Ints:
        """(N,) the row of the window that ends at each token of inputs; -1 if there is none."""
        rows = []
        for x in xs:
            length = len(next(iter(x.values())))
            windows = self.feature.context_windows(Instance(x, [""] * length)).tolist()
            rows += [-1] * (length - len(windows))
            rows += [self.number.get(tuple(contexts), len(self.number)) for contexts in windows]
        return np.array(rows, dtype=np.int64)

    def scores(self, rows: Ints, weight: float = 1.0) -> Floats:
        """(len(rows), 1 or L, 1 or L, L) the scores of all label n-grams in windows with these rows, times a
        weight."""
        n, L = self.feature.n, len(self.feature.labels)
        # As `self.listed[rows].toarray()`, but without another matrix.
        ends = self.listed.indptr
        sizes = ends[rows + 1] - ends[rows]
        window = np.repeat(np.arange(len(rows)), sizes)
        chosen = np.arange(len(window)) + np.repeat(ends[rows] - np.cumsum(sizes) + sizes, sizes)
        scores = np.repeat(weight * self.rest[rows, None], L**n, axis=1)
        scores[window, self.listed.indices[chosen]] += weight * self.listed.data[chosen]
        return scores.reshape(-1, *[1] * (LONGEST - n), *[L] * n)


def decode_windows(
    batch: ChainBatch, windows: Sequence[tuple[WindowTable, Ints]], weights: Sequence[float]
) -> Ints:
    """(N,) the label indices of the best labelling of every sequence; of equal ones, that with the first
    label at its last difference. `windows` are tables, which have the labels of the batch, and their rows of
    its inputs."""
    used = [(*window, weight) for window, weight in zip(windows, weights, strict=True) if weight]
    labels = np.zeros(int(batch.offsets[-1]), dtype=np.int64)
    lengths = np.diff(batch.offsets)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    longest = max((table.feature.n for table, *_ in used), default=1)
    size = max(1, CELLS // len(batch.labels) ** longest)
    for first in range(0, len(order), size):
        block = order[first : first + size]
        _decode_block(batch, batch.offsets[block], lengths[block], used, labels)
    return labels


def _decode_block(
    batch: ChainBatch,
    firsts: Ints,
    lengths: Ints,
    used: Sequence[tuple[WindowTable, Ints, float]],
    labels: Ints,
) -> None:
    """Writes the best labels of sequences, of which the longest is the first."""
    L = len(batch.labels)
    best = np.zeros((0, L, L))
    ends = np.zeros(len(firsts), dtype=np.int64)
    steps = []
    for t in range(int(lengths[0])):
        live = int((lengths > t).sum())
        tokens = firsts[:live] + t
        windows = np.zeros((live, 1, 1, L))
        for table, rows, weight in used:
            if t >= table.feature.n - 1:
                # In place, into the array of the longer windows.
                shorter, windows = sorted((windows, table.scores(rows[tokens], weight)), key=np.size)
                windows += shorter
        if t == 0:
            # The first label has no label before it: its state is (0, label), and the others are impossible.
            best = np.full((live, L, L), -np.inf)
            best[:, 0] = batch.start + batch.emission[tokens] + windows[:, 0, 0]
        else:
            best = best[:live]
            # Windows of one or two labels do not choose the label before these.
            if windows.shape[1] == 1:
                steps.append(best[..., None])
                best = best.max(1)[..., None] + windows[:, 0]
            else:
                windows += best[..., None]
                steps.append(windows)
                best = windows.max(1)
            best = best + batch.transition + batch.emission[tokens][:, None]
        done = np.flatnonzero(lengths[:live] == t + 1)
        ends[done] = (best[done] + batch.stop).reshape(len(done), L * L).argmax(1)
    # `ends` becomes the best pair of labels of every sequence, position by position.
    for t in reversed(range(int(lengths[0]))):
        live = int((lengths > t).sum())
        before, last = np.divmod(ends[:live], L)
        labels[firsts[:live] + t] = last
        if t:
            paths = steps[t - 1]
            chosen = paths[np.arange(live), :, before, last if paths.shape[3] > 1 else 0]
            ends[:live] = chosen.argmax(1) * L + before
