"""psi of label sequences: windows of n labels, existing n-grams, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from soaking.oracle.sets import OTHER, Case

START, STOP = "(start)", "(stop)"


def ngram_space(feature: Case) -> dict[str, Any]:
    """The space of an n-gram feature: n blocks of contexts, if any, then n of labels."""
    n, labels = feature["n"], feature["labels"]

    def names(name: str) -> list[str]:
        return [name] if n == 1 else [f"{name} {i + 1}" for i in range(n)]

    blocks, requires, own = [], [], names("label")
    if feature["kind"] == "context":
        blocks += [
            {"name": name, "kind": "one-hot", "values": feature["contexts"], "other": True}
            for name in names(feature["column"])
        ]
    for i, name in enumerate(own):
        extra = [STOP if i == n - 1 else START] if feature["pad"] else []
        blocks.append({"name": name, "kind": "one-hot", "values": [*labels, *extra]})
    if feature["pad"]:
        requires += [[own[i], START, own[i - 1], [START]] for i in range(1, n - 1)]
        requires.append([own[-1], STOP, own[-2], list(labels)])
        if feature["kind"] == "context":
            for i, (context, label) in enumerate(zip(names(feature["column"]), own, strict=True)):
                requires.append([label, STOP if i == n - 1 else START, context, [OTHER]])
    return {"blocks": blocks, "requires": requires}


def windows(feature: Case, T: int) -> range:
    """The positions that complete a window; T is STOP."""
    return range(T + 1 if T else 0) if feature["pad"] else range(feature["n"] - 1, T)


def window_psi(
    feature: Case, y: Sequence[str], x: Mapping[str, Sequence[str]], t: int
) -> dict[int, int] | None:
    """psi of the window that position t completes; None if it has a label that the feature does not know."""
    n, labels, psi, column = feature["n"], feature["labels"], {}, 0
    places = range(t - n + 1, t + 1)
    if feature["kind"] == "context":
        for at in places:
            context = x[feature["column"]][at] if 0 <= at < len(y) else None
            if context in feature["contexts"]:
                psi[column + feature["contexts"].index(context)] = 1
            column += len(feature["contexts"])
    for at in places:
        if 0 <= at < len(y):
            if y[at] not in labels:
                return None
            psi[column + labels.index(y[at])] = 1
        else:
            psi[column + len(labels)] = 1
        column += len(labels) + bool(feature["pad"])
    return psi


def window_symbols(feature: Case, y: Sequence[str], t: int) -> tuple[str, ...] | None:
    """The labels of the window that position t completes, with START and STOP; None as in `window_psi`."""
    places = range(t - feature["n"] + 1, t + 1)
    symbols = tuple(START if at < 0 else STOP if at >= len(y) else y[at] for at in places)
    known = {*feature["labels"], START, STOP}
    return symbols if known.issuperset(symbols) else None


def whole_psi(feature: Case, y: Sequence[str]) -> dict[int, int] | None:
    """psi of a whole labelling: which n-grams exist, or how often each label occurs, as tokens or as runs."""
    labels = feature["labels"]
    if any(label not in labels for label in y):
        return None
    if feature["kind"] == "existence":
        n, psi = feature["n"], {}
        for t in range(len(y) - n + 1):
            code = 0
            for label in y[t : t + n]:
                code = code * len(labels) + labels.index(label)
            psi[code] = 1
        return psi
    seen = [label for t, label in enumerate(y) if not feature["spans"] or t == 0 or y[t - 1] != label]
    return {j: seen.count(label) for j, label in enumerate(labels) if label in seen}
