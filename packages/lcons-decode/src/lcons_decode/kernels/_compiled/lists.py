"""Lists of allowed n-grams: computing them, and looking n-grams up in them."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._compiled.jit import kernel


@kernel
def allowed_codes(activations, pads, table, ends, first, last):
    """(indptr, codes): ascending codes of the n-grams that windows first .. last - 1 accept.

    activations (C, U): the part of the contexts; pads (C, 2): the number of START, and whether STOP. Branch
    and bound: a prefix is dropped if the minimum that the remaining places add still leaves a part above 1.
    """
    n, V, U = table.shape
    L = V - 1
    indptr = np.zeros(last - first + 1, dtype=np.int64)
    codes = np.empty(1024, dtype=np.int64)
    size = 0
    partial = np.empty((n + 1, U))
    rest = np.empty((n + 1, U))
    choice = np.empty(n, dtype=np.int64)
    final = np.empty(n, dtype=np.int64)
    for w in range(first, last):
        rest[n] = 0.0
        for i in range(n - 1, -1, -1):
            padded = i < pads[w, 0] or (pads[w, 1] == 1 and i == n - 1)
            choice[i] = L if padded else 0
            final[i] = L if padded else L - 1
            for u in range(U):
                least = table[i, choice[i], u]
                for v in range(choice[i] + 1, final[i] + 1):
                    least = min(least, table[i, v, u])
                rest[i, u] = rest[i + 1, u] + least
        partial[0] = activations[w]
        i = 0
        while i >= 0:
            if choice[i] > final[i]:
                choice[i] = L if final[i] == L else 0
                i -= 1
                if i >= 0:
                    choice[i] += 1
                continue
            inside = True
            begin = 0
            for p in range(ends.shape[0]):
                total = 0.0
                for u in range(begin, ends[p]):
                    value = partial[i, u] + table[i, choice[i], u]
                    partial[i + 1, u] = value
                    total += max(value + rest[i + 1, u], 0.0)
                    if total > 1.0:
                        inside = False
                        break
                begin = ends[p]
                if not inside:
                    break
            if inside and i < n - 1:
                i += 1
                continue
            if inside:
                code = 0
                for j in range(n):
                    code = code * V + choice[j]
                if size == codes.shape[0]:
                    larger = np.empty(2 * size, dtype=np.int64)
                    larger[:size] = codes
                    codes = larger
                codes[size] = code
                size += 1
            choice[i] += 1
        indptr[w - first + 1] = size
    return indptr, codes[:size]


@kernel
def find(array, first, stop, wanted):
    """The first index in first .. stop of an ascending array whose entry is at least `wanted`."""
    while first < stop:
        middle = (first + stop) // 2
        if array[middle] < wanted:
            first = middle + 1
        else:
            stop = middle
    return first


@kernel
def broken(gram, step, lists):
    """How many hard constraints have a window at `step` that does not allow the n-gram."""
    count = 0
    for c in range(lists.sizes.shape[0]):
        row = lists.rows[c, step]
        if row >= 0:
            code = gram % lists.moduli[c]
            at = find(lists.codes, lists.indptr[row], lists.indptr[row + 1], code)
            if at == lists.indptr[row + 1] or lists.codes[at] != code:
                count += 1
    return count


@kernel
def count_broken(y, step, lists):
    """How many (position, hard constraint) pairs a labelling breaks."""
    S = lists.V**lists.m
    state = S - 1
    total = 0
    for t in range(y.shape[0] + 1):
        gram = state * lists.V + (y[t] if t < y.shape[0] else lists.V - 1)
        total += broken(gram, step + t, lists)
        state = gram % S
    return total
