"""Lists of allowed n-grams: computing them, and looking n-grams up in them."""

from __future__ import annotations

import numpy as np

from lcons_decode.kernels._arrays import LANES, WORD
from lcons_decode.kernels._compiled.jit import inlined, kernel, lowest

ONE = np.uint64(1)
BLOCK = 32  # windows that are searched together


@inlined
def part_total(partial, rest, columns, begin, end, totals):
    """totals (P,): for each label, what the units begin .. end - 1 add up to, if other labels add `rest`."""
    # Four units at a time: parts are filled up to a multiple of four.
    for u in range(begin, end, 4):
        g, h = partial[u] + rest[u], partial[u + 1] + rest[u + 1]
        j, k = partial[u + 2] + rest[u + 2], partial[u + 3] + rest[u + 3]
        for c in range(columns.shape[1]):
            four = (max(g + columns[u, c], 0.0) + max(h + columns[u + 1, c], 0.0)) + (
                max(j + columns[u + 2, c], 0.0) + max(k + columns[u + 3, c], 0.0)
            )
            totals[c] = four if u == begin else totals[c] + four


@inlined
def part_totals(partial, rest, columns, ends, totals, worst):
    """worst (P,): for each label, the largest total of a part."""
    part_total(partial, rest, columns, 0, ends[0], worst)
    for p in range(1, ends.shape[0]):
        part_total(partial, rest, columns, ends[p - 1], ends[p], totals)
        for c in range(worst.shape[0]):
            worst[c] = max(worst[c], totals[c])


@inlined
def accepted_labels(totals, low, high, bits):
    """bits: the labels low .. high - 1 whose total is at most 1."""
    for w in range(bits.shape[0]):
        word = np.uint64(0)
        for v in range(max(low, WORD * w), min(high, WORD * (w + 1))):
            word |= np.uint64(totals[v] <= 1.0) << np.uint64(v - WORD * w)
        bits[w] = word


@kernel
def allowed_codes(activations, pads, table, ends, first, last):
    """(rows, states, firsts, labels): the n-grams that windows first .. last - 1 accept, one row each
    (`kernels._arrays.Groups`).

    activations (C, U): the part of the contexts; pads (C, 2): the number of START, and whether STOP. What a
    window accepts, it accepts with smaller activations. So neighbours, which are alike, are searched once,
    with the least activation of each unit; what that finds is tried in each of them.
    """
    U = table.shape[2]
    columns = label_columns(table)
    rows = np.zeros(last - first + 1, dtype=np.int64)
    states, firsts = np.empty(256, dtype=np.int32), np.empty(256, dtype=np.int64)
    labels = np.empty(1024, dtype=np.int16)
    groups = size = 0
    least = np.empty(U)
    begin = first
    while begin < last:
        end = begin + 1
        while end < min(begin + BLOCK, last) and (
            pads[end, 0] == pads[begin, 0] and pads[end, 1] == pads[begin, 1]
        ):
            end += 1
        windows = np.empty((U, (end - begin + LANES - 1) // LANES * LANES))
        for u in range(U):
            least[u] = activations[begin, u]
            for b in range(windows.shape[1]):
                windows[u, b] = activations[min(begin + b, end - 1), u]
                least[u] = min(least[u], windows[u, b])
        shared = search(least, pads[begin], columns, table, ends)
        sizes, some_states, some_firsts, some_labels = split(shared, windows, table, ends)
        for b in range(end - begin):
            more_groups, more = sizes[b, 0], sizes[b, 1]
            while groups + more_groups >= firsts.shape[0]:
                states, firsts = grown(states, groups), grown(firsts, groups)
            while size + more > labels.shape[0]:
                labels = grown(labels, size)
            states[groups : groups + more_groups] = some_states[b, :more_groups]
            firsts[groups : groups + more_groups] = some_firsts[b, :more_groups] + size
            labels[size : size + more] = some_labels[b, :more]
            groups, size = groups + more_groups, size + more
            rows[begin + b - first + 1] = groups
        begin = end
    firsts[groups] = size
    return rows, states[:groups].copy(), firsts[: groups + 1].copy(), labels[:size].copy()


@kernel
def label_columns(table):
    """(n, U, P): the table with labels contiguous, up to a multiple of `LANES`."""
    n, V, U = table.shape
    columns = np.zeros((n, U, (V + LANES - 1) // LANES * LANES))
    for i in range(n):
        for v in range(V):
            for u in range(U):
                columns[i, u, v] = table[i, v, u]
    return columns


@kernel
def grown(array, used):
    """An array with twice the space and the same first `used` entries."""
    more = np.empty(2 * array.shape[0], dtype=array.dtype)
    more[:used] = array[:used]
    return more


@kernel
def search(least, pad, columns, table, ends):
    """(states, firsts, labels, sums): the n-grams that a window with the activations `least` (U,) accepts, as
    in `Groups`, and what the labels of each state add to the units (states, U).

    Branch and bound: a prefix is dropped if the minimum that the remaining places add still leaves a part
    above 1. All labels of a place are tried at once, in loops without branches.
    """
    n, V, U = table.shape
    L, P = V - 1, columns.shape[2]
    states, firsts = np.empty(256, dtype=np.int32), np.empty(256, dtype=np.int64)
    labels, sums = np.empty(1024 + V, dtype=np.int16), np.empty(256 * U)
    groups = size = 0
    # rest[i]: the activations, and the least that the places from i on add.
    partial, rest = np.zeros((n, U)), np.empty((n + 1, U))
    low, high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    rest[n] = least
    for i in range(n - 1, -1, -1):
        padded = i < pad[0] or (pad[1] == 1 and i == n - 1)
        low[i], high[i] = (L, V) if padded else (0, L)
        for u in range(U):
            rest[i, u] = rest[i + 1, u] + columns[i, u, low[i] : high[i]].min()
    state = np.zeros(n, dtype=np.int64)
    inside = np.zeros((n, (P + WORD - 1) // WORD), dtype=np.uint64)
    totals, worst = np.empty(P), np.empty(P)
    i, entering = 0, True
    while i >= 0:
        if entering:
            part_totals(partial[i], rest[i + 1], columns[i], ends, totals, worst)
            if i < n - 1:
                accepted_labels(worst, low[i], high[i], inside[i])
            else:
                if size + V > labels.shape[0]:
                    labels = grown(labels, size)
                # Written always, and kept if the size grows: without branches.
                begin = size
                for v in range(low[i], high[i]):
                    labels[size] = v
                    size += worst[v] <= 1.0
                if size > begin:
                    if groups + 1 == firsts.shape[0]:
                        states, firsts = grown(states, groups), grown(firsts, groups)
                        sums = grown(sums, groups * U)
                    states[groups], firsts[groups] = state[i], begin
                    for u in range(U):
                        sums[groups * U + u] = partial[i, u]
                    groups += 1
                i -= 1
                if i < 0:
                    break
        v = -1
        for w in range(inside.shape[1]):
            if inside[i, w] != 0:
                v = WORD * w + lowest(inside[i, w])
                inside[i, w] &= inside[i, w] - ONE
                break
        entering = v >= 0
        if entering:
            for u in range(U):
                partial[i + 1, u] = partial[i, u] + table[i, v, u]
            state[i + 1] = state[i] * V + v
            i += 1
        else:
            i -= 1
    firsts[groups] = size
    return states[:groups], firsts[: groups + 1], labels[:size], sums[: groups * U].reshape(groups, U)


@kernel
def split(shared, windows, table, ends):
    """(sizes, states, firsts, labels): those of the n-grams `shared` that each of the windows with the
    activations `windows` (U, B) accepts, in rows; sizes (B, 2): how many states and how many n-grams."""
    states, firsts, labels, sums = shared
    last, B = table.shape[0] - 1, windows.shape[1]
    window_states, window_firsts = np.empty((B, len(states)), np.int32), np.empty((B, len(states)), np.int64)
    window_labels = np.empty((B, len(labels)), np.int16)
    sizes, begins = np.zeros((B, 2), np.int64), np.zeros(B, np.int64)
    totals, worst, accepting = np.empty(B), np.empty(B), np.empty(1, np.uint64)
    for g in range(len(states)):
        some = np.uint64(0)
        for k in range(firsts[g], firsts[g + 1]):
            part_totals(sums[g], table[last, labels[k]], windows, ends, totals, worst)
            accepted_labels(worst, 0, B, accepting)
            bits = accepting[0]
            some |= bits
            while bits != 0:
                b = lowest(bits)
                bits &= bits - ONE
                window_labels[b, sizes[b, 1]] = labels[k]
                sizes[b, 1] += 1
        while some != 0:
            b = lowest(some)
            some &= some - ONE
            window_states[b, sizes[b, 0]], window_firsts[b, sizes[b, 0]] = states[g], begins[b]
            sizes[b, 0] += 1
            begins[b] = sizes[b, 1]
    return sizes, window_states, window_firsts, window_labels


@kernel
def pair_masks(rows, states, firsts, labels, n, V):
    """(R, max(n - 1, 1), words): the pairs of neighbours in the n-grams of each row (`Lists.pairs`)."""
    words = (V * V + WORD - 1) // WORD
    masks = np.zeros((rows.shape[0] - 1, max(n - 1, 1), words), dtype=np.uint64)
    for row in range(rows.shape[0] - 1):
        for g in range(rows[row], rows[row + 1]):
            state = np.int64(states[g])
            first, last = (0, V) if n == 1 else (state % V, state % V + 1)
            for k in range(firsts[g], firsts[g + 1]):
                for before in range(first, last):
                    code = before * V + labels[k]
                    masks[row, 0, code // WORD] |= np.uint64(1) << np.uint64(code % WORD)
            for d in range(1, n - 1):
                code = state % (V * V)
                masks[row, d, code // WORD] |= np.uint64(1) << np.uint64(code % WORD)
                state //= V
    return masks


@inlined
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
    groups = lists.groups
    for c in range(lists.sizes.shape[0]):
        row = lists.rows[c, step]
        if row >= 0:
            code = gram % lists.moduli[c]
            state, label = code // lists.V, code % lists.V
            count += 1
            at = find(groups.states, groups.rows[row], groups.rows[row + 1], state)
            if at < groups.rows[row + 1] and groups.states[at] == state:
                end = groups.firsts[at + 1]
                k = find(groups.labels, groups.firsts[at], end, label)
                if k < end and groups.labels[k] == label:
                    count -= 1
    return count


@inlined
def locate(state, step, rows, moduli, V, groups, firsts, lasts):
    """The labels that each hard constraint allows after a state, as a range of `groups.labels`; the range of
    a constraint without a window at `step` begins at -1."""
    for c in range(rows.shape[0]):
        row = rows[c, step]
        firsts[c], lasts[c] = -1, -1
        if row >= 0:
            wanted = state % (moduli[c] // V)
            at = find(groups.states, groups.rows[row], groups.rows[row + 1], wanted)
            firsts[c], lasts[c] = 0, 0
            if at < groups.rows[row + 1] and groups.states[at] == wanted:
                firsts[c], lasts[c] = groups.firsts[at], groups.firsts[at + 1]


@inlined
def allows(label, labels, firsts, lasts):
    """Whether all ranges of `locate` contain a label."""
    for c in range(firsts.shape[0]):
        if firsts[c] >= 0:
            k = find(labels, firsts[c], lasts[c], label)
            if k == lasts[c] or labels[k] != label:
                return False
    return True


@kernel
def count_broken(y, step, lists, most):
    """How many (position, hard constraint) pairs a labelling breaks; counting ends at `most`."""
    V, S, T = lists.V, lists.V**lists.m, y.shape[0]
    all_rows, moduli, groups = lists.rows, lists.moduli, lists.groups
    rows, states, firsts, labels = groups.rows, groups.states, groups.firsts, groups.labels
    total = 0
    for c in range(all_rows.shape[0]):
        state = S - 1
        for t in range(T + 1):
            label = y[t] if t < T else V - 1
            row = all_rows[c, step + t]
            if row >= 0:
                wanted = state % (moduli[c] // V)
                at = find(states, rows[row], rows[row + 1], wanted)
                allowed = at < rows[row + 1] and states[at] == wanted
                if allowed:
                    k = find(labels, firsts[at], firsts[at + 1], label)
                    allowed = k < firsts[at + 1] and labels[k] == label
                if not allowed:
                    total += 1
                    if total == most:
                        return total
            state = (state * V + label) % S
    return total
