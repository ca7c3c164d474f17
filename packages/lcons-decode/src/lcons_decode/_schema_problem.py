"""Candidates and relations under a schema as a packing problem, for many conflicts at once.

    items   label a of candidate i, worth more than its worst label;
            relations (r, s) between i < j, worth more than no relations
    rows    one label per candidate; label a of i with all relations that it excludes; labels a, b of i, j
            with those that only both exclude; at most k per head and tail; cycles when a choice has one

A candidate without a label can always take one and gain, so the best choice labels all. No relations must
be allowed for all labels; otherwise there is no such problem.

Not in the paper.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcons_core.relations import cycle
from lcons_decode._packing_problem import Packing, Row, pack
from lcons_decode._schema_rules import SchemaRules
from lcons_decode.kernels._arrays import Ints

MAX_LEAVES = 300


def pack_relations(
    single: Ints, double: Ints, allowed: NDArray[np.bool_], schema: SchemaRules
) -> tuple[Ints, Ints, bool]:
    """(labels, relations, proved): the best labelling that is `allowed` [a, b, r, s] and has no conflict."""
    n, E = single.shape
    labels = [(i, a) for i in range(n) for a in range(E)]
    values = [int(single[i, a] - single[i].min()) + 1 for i, a in labels]
    rows = [Row(tuple(range(i * E, (i + 1) * E)), 1) for i in range(n)]
    options: list[tuple[int, int, int, int]] = []
    limited: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for i, j in combinations(range(n), 2):
        gains = double[i, j][:, None] + double[j, i][None, :] - double[i, j, 0] - double[j, i, 0]
        own: list[int] = []
        for r, s in np.argwhere((gains > 0) & allowed.any((0, 1))).tolist():
            item = len(values)
            own.append(item)
            options.append((i, j, r, s))
            values.append(int(gains[r, s]))
            for source, target, name in ((i, j, r), (j, i, s)):
                if name in schema.per_head:
                    limited["head", name, source].append(item)
                if name in schema.per_tail:
                    limited["tail", name, target].append(item)
        rows += _of_pair(i, j, own, options[len(options) - len(own) :], allowed)
    for (side, name, _), items in limited.items():
        rows.append(Row(tuple(items), (schema.per_head if side == "head" else schema.per_tail)[name]))
    first = len(labels)

    def find_cycle(chosen: frozenset[int]) -> Row | None:
        for name in schema.acyclic:
            owner: dict[tuple[int, int], int] = {}
            for item in chosen:
                if item >= first:
                    i, j, r, s = options[item - first]
                    owner |= {edge: item for edge, own in (((i, j), r), ((j, i), s)) if own == name}
            closed = cycle(owner)
            if closed:
                return Row(tuple(sorted({owner[edge] for edge in closed})), len(closed) - 1)
        return None

    problem = Packing(tuple(values), tuple(rows), ((),) * len(values))
    found = pack(problem, find_cycle, MAX_LEAVES)
    y = np.array([int(single[i].argmax()) for i in range(n)], dtype=np.int64)
    relations = np.zeros((n, n), dtype=np.int64)
    for item in found.chosen:
        if item < first:
            y[labels[item][0]] = labels[item][1]
        else:
            i, j, r, s = options[item - first]
            relations[i, j], relations[j, i] = r, s
    return y, relations, found.bound == found.value


def _of_pair(
    i: int, j: int, own: list[int], options: list[tuple[int, int, int, int]], allowed: NDArray[np.bool_]
) -> list[Row]:
    """The rows of the relations between two candidates: one at most, and those that labels exclude."""
    if not own:
        return []
    E = len(allowed)
    possible = np.array([allowed[:, :, r, s] for _, _, r, s in options])
    of_source, of_target = np.asarray(possible.any(2)), np.asarray(possible.any(1))
    rows = [Row(tuple(own), 1)]
    for node, single in ((i, of_source), (j, of_target)):
        for a in range(E):
            excluded = [item for item, fits in zip(own, single[:, a], strict=True) if not fits]
            if excluded:
                rows.append(Row((node * E + a, *excluded), 1))
    both = of_source[:, :, None] & of_target[:, None, :] & ~possible
    for a, b in np.argwhere(both.any(0)).tolist():
        excluded = [item for item, fits in zip(own, both[:, a, b], strict=True) if fits]
        rows.append(Row((i * E + a, j * E + b, *excluded), 2))
    return rows
