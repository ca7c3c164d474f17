"""The expected violation of a constraint under the label probabilities of a torch model: a loss term.

    E_p[ sum_w f(margin(psi_w(y))) ] = sum_w sum_v p(y_w = v) f(margin(psi_w(v))),     f(m) = max(0, -m) or
                                                                                       f(m) = -log sigmoid(m)

over windows w of n labels and label n-grams v. The margins are constants, so the sum is linear in the window
probabilities: it is exact for independent tokens and for CRFs, and differentiable in their scores. It needs
no gold labels, so a model can also be trained on sentences without labels. The constraint does not change.

Not in the paper. Constraints on expectations, which need no labels, are those of posterior regularisation
(Ganchev et al. 2010); here they are a plain loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcons_core._constraint import LearnedConstraint, as_constraint
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._instance import Instance
from lcons_core._network import RectifierNetwork
from lcons_core._types import Floats, Ints
from lcons_core.features._ngrams import NgramContext, SequenceFeature
from lcons_core.torch._label_chain import LabelChain

MAX_CELLS = 2**27
UNIT_CELLS = 2**18

PENALTIES: dict[str, Callable[[Tensor], Tensor]] = {
    "hinge": lambda margin: torch.relu(-margin),
    "log_sigmoid": lambda margin: torch.nn.functional.softplus(-margin),
}

Columns = Mapping[str, Sequence[str]]


def expected_penalty(
    constraint: LearnedConstraint,
    marginals: Tensor | LabelChain,
    labels: Sequence[str],
    x: Columns | Sequence[Columns] | None = None,
    *,
    penalty: str = "hinge",
) -> Tensor:
    """(B,) the expected penalty of each sequence, or a scalar for one sequence: add a multiple to a loss.

    `marginals` are probabilities (B, T, L) or (T, L) of independent tokens, or a `LabelChain` (CRFs, and
    batches with lengths); `labels` names the last dimension; `x` has the contexts of one sequence, or of each
    sequence in a batch. `penalty` is `hinge` or `log_sigmoid`; `lcons_decode.Soft` subtracts the latter from
    a score.

    >>> from lcons_core._schemes import iob2
    >>> p = torch.tensor([[0.5, 0.5], [0.0, 1.0]])
    >>> expected_penalty(iob2(["I-NP", "O"]), p, ["I-NP", "O"])      # half the labellings begin with I-NP
    tensor(0.5000)
    """
    as_constraint(constraint, "expected_penalty", "its feature")
    if penalty not in PENALTIES:
        raise InvalidInput(f"unknown penalty {penalty!r}; use one of {', '.join(PENALTIES)}.")
    chain = marginals if isinstance(marginals, LabelChain) else LabelChain.independent(marginals)
    if len(labels) != chain.L or len(set(labels)) != len(labels):
        raise InvalidInput(f"labels must be {chain.L} distinct names, found {list(labels)!r:.80}.")
    f, feature = PENALTIES[penalty], constraint.feature
    if not isinstance(feature, SequenceFeature):
        kind = feature.kind if feature else "no feature"
        raise Unsupported(f"the expected penalty needs a feature over windows of labels, got {kind!r}.")
    parts = [_Tables.of(part, feature, labels, chain) for part in constraint.network.parts]
    total = chain.unary.new_zeros(len(chain.lengths))
    for group in _groups(feature, chain, _columns(x, chain)):
        total = total.index_add(0, group.owner, _expected(parts, group, chain, f))
    return total[0] if chain.single else total


@dataclass(frozen=True, eq=False)
class _Group:
    """Windows with the same number of START and of STOP: their sequence (`owner`), the position of their
    first label, and their contexts: the distinct ones `kinds` (U, context axes), and `which` a window has."""

    starts: int
    stops: int
    owner: Tensor
    first: Tensor
    kinds: Ints
    which: Tensor


@dataclass(frozen=True, eq=False)
class _Tables:
    """Contributions of the values of each axis to the activations of one network, in float64: `label`
    (n, L, K) in the order of the model, `padding` (n, K), `contexts` (values, K) per axis."""

    b: Tensor
    label: Tensor
    padding: Tensor
    contexts: list[Tensor]

    @classmethod
    def of(
        cls, part: RectifierNetwork, feature: SequenceFeature, labels: Sequence[str], chain: LabelChain
    ) -> _Tables:
        ids, n = feature.label_ids(labels), feature.n
        tables = [_double(axis.table(part.W), chain) for axis in feature.space.axes]
        return cls(
            _double(part.b, chain),
            torch.stack([table[ids] for table in tables[-n:]]),
            torch.stack([table[-1] for table in tables[-n:]]),
            tables[:-n],
        )

    def fixed(self, group: _Group) -> Tensor:
        """(U, K): contributions of biases, contexts and padding to the windows of each kind."""
        total = self.b.expand(len(group.kinds), -1)
        for table, values in zip(self.contexts, group.kinds.T, strict=True):
            total = total + table[torch.from_numpy(values)]
        n = len(self.label)
        return total + self.padding[: group.starts].sum(0) + self.padding[n - group.stops :].sum(0)

    def free(self, group: _Group) -> Tensor:
        """(m, L, K): the tables of the labels of a window."""
        return self.label[group.starts : len(self.label) - group.stops]


def _expected(
    parts: list[_Tables], group: _Group, chain: LabelChain, f: Callable[[Tensor], Tensor]
) -> Tensor:
    """(W,) the expected penalty of each window; its labels are summed out from the last to the first."""
    L, W = chain.L, len(group.owner)
    m = len(parts[0].free(group))
    kinds = len(group.kinds)
    cells = max(kinds * L**m, W * L ** (m if kinds > 1 else m - 1))
    if cells > MAX_CELLS:
        raise TooLarge(f"{W:,} windows of {m} labels are more than {MAX_CELLS:,} cells; use smaller batches.")
    with torch.no_grad():
        table = f(torch.stack([_margins(part, group) for part in parts]).amin(0))
        table = table.to(chain.unary.dtype)
    values = table if kinds == 1 else table.index_select(0, group.which)
    for i in range(m - 1, 0, -1):
        values = _sum_out(values, group, chain, i)
    return (chain.token(group.owner, group.first) * values.reshape(len(values), L)).sum(-1)


def _sum_out(values: Tensor, group: _Group, chain: LabelChain, i: int) -> Tensor:
    """(W, R) from values (W, R * L), or (1, R * L) shared by all windows: the mean over label i of a window,
    given the labels before it. The labels of independent tokens need only products of matrices."""
    L = chain.L
    if chain.steps is None:
        values, p = values.reshape(len(values), -1, L), chain.token(group.owner, group.first + i)
        return p @ values[0].T if len(values) == 1 else torch.bmm(values, p[:, :, None])[..., 0]
    step = chain.step(group.owner, group.first + i - 1)
    values = values.reshape(len(values), -1, L, L)
    if values.shape[1] == 1:
        return (values[:, 0] * step).sum(-1)
    equation = "rab,wab->wra" if len(values) == 1 else "wrab,wab->wra"
    summed = torch.einsum(equation, values[0] if len(values) == 1 else values, step)
    return summed.reshape(len(summed), -1)


def _margins(part: _Tables, group: _Group) -> Tensor:
    """(U, L ** m) margins of all label n-grams in the windows of each kind."""
    fixed, free = part.fixed(group), part.free(group)
    total = torch.zeros((), dtype=fixed.dtype, device=fixed.device)
    # As many units at a time as fit: all activations at once may need too much memory.
    cells = len(fixed) * free.shape[1] ** len(free)
    units = max(1, UNIT_CELLS // max(cells, 1))
    split = torch.split(fixed, units, 1), torch.split(free, units, 2)
    for part_fixed, part_free in zip(*split, strict=True):
        activation = part_fixed[:, None]
        for table in part_free:
            activation = (activation[:, :, None] + table).flatten(1, 2)
        total = total + torch.relu(activation).sum(-1)
    return 1.0 - total


def _double(weights: Floats, chain: LabelChain) -> Tensor:
    return torch.tensor(weights, device=chain.unary.device)


def _columns(x: Columns | Sequence[Columns] | None, chain: LabelChain) -> Sequence[Columns]:
    columns = [{}] * len(chain.lengths) if x is None else [x] if isinstance(x, Mapping) else x
    if len(columns) != len(chain.lengths):
        raise InvalidInput(f"expected one x for each of {len(chain.lengths)} sequences, got {len(columns)}.")
    return columns


def _groups(feature: SequenceFeature, chain: LabelChain, columns: Sequence[Columns]) -> Iterator[_Group]:
    """All windows of a batch, grouped by their numbers of START and STOP."""
    n, lengths = feature.n, chain.lengths.cpu().numpy()
    counts = np.array([feature.window_count(length) for length in lengths.tolist()], dtype=np.int64)
    if not counts.sum():
        return
    rows = np.zeros((counts.sum(), 0), dtype=np.int64)
    if isinstance(feature, NgramContext):
        instances = (Instance(x, ("",) * length) for x, length in zip(columns, lengths.tolist(), strict=True))
        rows = np.concatenate([feature.context_windows(instance) for instance in instances])
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    first = np.arange(len(owner)) - before[owner] - (n - 1 if feature.pad else 0)
    starts = np.maximum(-first, 0)
    stops = np.maximum(first + n - lengths[owner], 0)
    device = chain.unary.device
    for code in np.flatnonzero(np.bincount(starts * (n + 1) + stops)).tolist():
        start, stop = divmod(code, n + 1)
        here = np.flatnonzero((starts == start) & (stops == stop))
        kinds, which = _distinct(rows[here])
        parts = (owner[here], first[here] + starts[here], which)
        owners, firsts, contexts = (torch.from_numpy(part).to(device) for part in parts)
        yield _Group(start, stop, owners, firsts, kinds, contexts)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows, and for each row the index of its distinct row."""
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    kinds, which = np.unique(rows, axis=0, return_inverse=True)
    return kinds, which.reshape(-1)
