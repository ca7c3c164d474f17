"""Cases drawn at random: plain lists and dicts of names and floats, which lcons and the oracle both read.

Ties and boundaries are common: weights and scores are mostly small dyadic numbers, many scores are equal, and
the margin of a drawn point is often exactly 0. Some weights are tenths, Gaussian, or of very different
magnitudes, whose float sums round: verdicts must be exact for these, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from soaking import oracle

Drawn = dict[str, Any]

LABELS = ("a", "b", "c", "d")
CONTEXTS = ("x", "y")
SPREADS = (32, 16, 2, 1, 0)
MEMBERS = ("source", "relation", "target", "reverse")


def chance(rng: Random, share: float) -> bool:
    """True in this share of the draws."""
    return rng.random() < share


def weight(rng: Random, kind: str) -> float:
    """A weight of a kind: dyadic, whole, tenths, rounding (any float), or mixed magnitudes."""
    if kind == "dyadic":
        return rng.randint(-48, 48) / 16
    if kind == "whole":
        return float(rng.randint(-2, 2))
    if kind == "tenths":
        return rng.randint(-20, 20) / 10
    if kind == "rounding":
        return rng.gauss(0.0, 1.0)
    return rng.choice([0.0, 1.0, -1.0, 0.5]) * 2.0 ** rng.randint(-40, 30)


KINDS = ("dyadic", "whole", "tenths", "rounding", "mixed")


def draw_parts(
    rng: Random,
    d: int,
    points: Sequence[oracle.Psi] = (),
    most_K: int = 3,
    most_parts: int = 2,
    kind: str = "",
) -> list[Any]:
    """Networks `[[W, b], ...]` over d columns; often one of the points is exactly on the boundary."""
    kind = kind or rng.choices(KINDS, (8, 6, 3, 1, 1))[0]
    parts = []
    for _ in range(1 if most_parts == 1 or chance(rng, 0.7) else rng.randint(1, most_parts)):
        K = rng.randint(1, most_K)
        W = [[weight(rng, kind) for _ in range(d)] for _ in range(K)]
        shift = rng.choice([0.0, 1.0, 2.0])
        b = [weight(rng, kind) - shift for _ in range(K)]
        if chance(rng, 0.15):  # a unit that says nothing, or the same as another
            W[-1] = [0.0] * d if chance(rng, 0.5) else list(W[0])
        if points and chance(rng, 0.6):
            _meet_boundary(rng, W, b, rng.choice(points))
        parts.append([W, b])
    return parts


def _meet_boundary(rng: Random, W: list[list[float]], b: list[float], psi: oracle.Psi) -> None:
    """Moves a bias such that the margin of the point, or the activation of the unit, is 0 up to rounding."""
    k = rng.randrange(len(b))
    sums = [sum(row[j] * v for j, v in psi.items()) for row in W]
    others = sum(max(0.0, s + bias) for i, (s, bias) in enumerate(zip(sums, b, strict=True)) if i != k)
    wanted = 1.0 - others if others < 1.0 and chance(rng, 0.8) else 0.0
    if math.isfinite(wanted - sums[k]):
        b[k] = wanted - sums[k]


def score(rng: Random, spread: int, never: float) -> float:
    """A score in sixteenths; -inf in a share of the draws."""
    return oracle.NEVER if chance(rng, never) else rng.randint(-spread, spread) / (16 if spread > 2 else 1)


def draw_model(rng: Random, most_L: int = 4) -> Drawn:
    """Labels with transition, start and stop scores; `spread` and `never` are those of its sequences, too."""
    L = rng.choices(range(1, most_L + 1), (1, 4, 4, 3)[:most_L])[0]
    return model_of(rng, list(LABELS[:L]), rng.choice(SPREADS), rng.choice([0.0, 0.0, 0.0, 0.1, 0.35]))


def model_of(rng: Random, labels: list[str], spread: int, never: float) -> Drawn:
    """Drawn scores for given labels."""
    L = len(labels)
    return {
        "labels": labels,
        "transition": [[score(rng, spread, never) for _ in range(L)] for _ in range(L)],
        "start": [score(rng, spread, never) for _ in range(L)],
        "stop": [score(rng, spread, never) for _ in range(L)],
        "spread": spread,
        "never": never,
    }


def draw_sequence(rng: Random, model: Drawn, most: int = 128, least_T: int = 0) -> Drawn:
    """Emission scores and a column of contexts, with at most `most` labellings."""
    L = len(model["labels"])
    T = rng.randint(least_T, max(t for t in range(6) if L**t <= most))
    return sequence_of(rng, model, T, model["never"])


def sequence_of(rng: Random, model: Drawn, T: int, never: float) -> Drawn:
    """Drawn scores and contexts for T tokens."""
    L = len(model["labels"])
    emission = [[score(rng, model["spread"], never) for _ in range(L)] for _ in range(T)]
    return {"emission": emission, "x": {"pos": [rng.choice("xyz") for _ in range(T)]}}


def draw_ngrams(rng: Random, labels: Sequence[str], most_n: int = 4, unknown: bool = True) -> Drawn:
    """An n-gram feature, some with contexts; its labels in any order, sometimes one more or one less."""
    known = list(labels)
    rng.shuffle(known)
    if unknown and chance(rng, 0.2):
        known = [*known, "e"] if chance(rng, 0.5) or len(known) == 1 else known[1:]
    pad = chance(rng, 0.4)
    n = rng.choices(range(1, most_n + 1), (2, 4, 3, 1)[:most_n])[0]
    feature: Drawn = {"kind": "ngram", "labels": known, "n": max(n, 2) if pad else n, "pad": pad}
    if chance(rng, 0.4):
        feature |= {"kind": "context", "contexts": list(CONTEXTS), "column": "pos"}
    return feature


def draw_whole_feature(
    rng: Random, labels: Sequence[str], linear: bool = False, unknown: bool = True
) -> Drawn:
    """A feature of the whole labelling: label n-grams that exist, or counts (`linear`: of tokens)."""
    known = list(labels)
    rng.shuffle(known)
    if unknown and chance(rng, 0.1):
        known.append("e")
    if linear or chance(rng, 0.5):
        return {"kind": "counts", "labels": known, "high": 8, "spans": not linear and chance(rng, 0.4)}
    return {"kind": "existence", "labels": known, "n": rng.randint(1, 2)}


def width_of(feature: Drawn) -> int:
    """The number of columns of psi."""
    if feature["kind"] == "existence":
        return int(len(feature["labels"]) ** feature["n"])
    if feature["kind"] == "counts":
        return len(feature["labels"])
    return sum(len(block["values"]) for block in oracle.ngram_space(feature)["blocks"])


def draw_use(
    rng: Random,
    name: str,
    feature: Drawn,
    model: Drawn,
    sequence: Drawn,
    soft: float,
    costs: Sequence[str],
) -> Drawn:
    """A hard or soft constraint; a part of some labelling of the sequence is often on its boundary."""
    T = len(sequence["emission"])
    met: list[oracle.Psi] = []
    for _ in range(3):
        y = [rng.choice(model["labels"]) for _ in range(T)]
        if feature["kind"] in ("ngram", "context"):
            parts = [oracle.window_psi(feature, y, sequence["x"], t) for t in oracle.windows(feature, T)]
        else:
            parts = [oracle.whole_psi(feature, y)]
        met += [psi for psi in parts if psi is not None]
    use: Drawn = {"name": name, "feature": feature, "weight": None, "cost": "", "scale": None}
    if feature["kind"] == "ngram" and chance(rng, 0.2):
        return {**use, "parts": [], **draw_list(rng, feature)}
    kind = ""
    if chance(rng, soft):
        # Costs of these weights are exact in floats, except for the last kind and for logarithms.
        kind = rng.choice(("dyadic", "dyadic", "whole", "tenths"))
        use |= {"weight": rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 4.0]), "cost": rng.choice(list(costs))}
        use |= {"scale": rng.choice([None, 0.5, 2.0]), "rounded": kind == "tenths"}
    use["parts"] = draw_parts(rng, width_of(feature), met, kind=kind)
    return use


def draw_list(rng: Random, feature: Drawn) -> Drawn:
    """Some n-grams, forbidden or the only ones that are allowed."""
    grams: list[list[str]] = []
    for _ in range(rng.randint(1, 6)):
        y = [rng.choice(feature["labels"]) for _ in range(feature["n"])]
        symbols = oracle.window_symbols(feature, y, rng.choice(oracle.windows(feature, len(y))))
        if symbols is not None and list(symbols) not in grams:
            grams.append(list(symbols))
    return {"grams": grams, "allowed": chance(rng, 0.5)}


COSTS = ("sigmoid", "hinge", "standard")


def draw_chain(
    rng: Random,
    soft: float = 0.0,
    wholes: float = 0.0,
    sequences: int = 2,
    most: int = 128,
    most_L: int = 4,
    linear: bool = False,
    unknown: bool = True,
    costs: Sequence[str] = COSTS,
    most_n: int = 4,
) -> Drawn:
    """A model, sequences and constraints; `soft` and `wholes` are shares of soft and global constraints."""
    model = draw_model(rng, most_L)
    own = [draw_sequence(rng, model, most) for _ in range(sequences)]
    uses = []
    for i in range(rng.randint(1, 3)):
        if chance(rng, wholes):
            feature = draw_whole_feature(rng, model["labels"], linear, unknown)
        else:
            feature = draw_ngrams(rng, model["labels"], most_n, unknown)
        uses.append(draw_use(rng, f"c{i}", feature, model, rng.choice(own), soft, costs))
    return {"model": model, "sequences": own, "uses": uses}


# Labels, tokens, the longest n-grams, and the share of emission scores that are -inf. Sets of pairs of labels
# need several words of 64 bits from 8 labels on, sets of labels from 64 on.
SIZES = (
    (2, 8, 4, 0.0),
    (3, 5, 4, 0.0),
    (4, 4, 4, 0.0),
    (5, 4, 4, 0.2),
    (9, 2, 3, 0.0),
    (12, 3, 3, 0.25),
    (25, 2, 2, 0.0),
    (70, 3, 2, 0.95),
    (66, 3, 3, 0.95),
)
WIDE = (32, 160, 3200)


def draw_large_chain(rng: Random, soft: float = 0.0) -> Drawn:
    """A longer sequence, or one of many labels, whose scores may be far apart; local constraints. Some cases
    have only soft ones on one or two labels, of large weights: these have a program of their own."""
    L, T, most_n, never = rng.choices(SIZES, (3, 3, 3, 3, 3, 3, 3, 2, 1))[0]
    pairs = chance(rng, 0.3)
    labels = list(LABELS[:L]) + [f"label {i}" for i in range(len(LABELS), L)]
    model = model_of(rng, labels, rng.choice((*SPREADS, *WIDE)), 0.0)
    own = sequence_of(rng, model, rng.randint(1, T), never)
    uses = []
    for i in range(rng.randint(1, 2)):
        feature = draw_ngrams(rng, labels, 2 if pairs else most_n)
        use = draw_use(rng, f"c{i}", feature, model, own, 1.0 if pairs else soft, COSTS)
        if pairs and use["weight"] is not None:
            use["weight"] *= 16
        uses.append(use)
    return {"model": model, "sequences": [own], "uses": uses}


def draw_space(rng: Random, most: int = 120, counts: bool = True) -> Drawn:
    """A space of at most `most` points: one-hot blocks with and without OTHER, binary and count blocks."""
    blocks: list[Drawn] = []
    size = 1
    while True:
        kinds = ["one-hot", "one-hot", "one-hot", "binary"] + (["count"] if counts else [])
        kind, values = rng.choice(kinds), [f"v{i}" for i in range(rng.randint(1, 3))]
        block: Drawn = {"name": f"block {len(blocks)}", "kind": kind, "values": values}
        if kind == "one-hot":
            block["other"] = chance(rng, 0.3)
            grown = size * (len(values) + block["other"])
        elif kind == "binary":
            grown = size * 2 ** len(values)
        else:
            block["values"] = values[:2]
            block["low"] = rng.randint(0, 1)
            block["high"] = block["low"] + rng.randint(1, 2)
            grown = size * (block["high"] - block["low"] + 1) ** len(block["values"])
        if blocks and (grown > most or len(blocks) == 4):
            break
        blocks.append(block)
        size = grown
        if chance(rng, 0.2):
            break
    choices = [block for block in blocks if block["kind"] == "one-hot" and len(block["values"]) > 1]
    requires = []
    if len(choices) > 1 and chance(rng, 0.3):
        # Never about the first value, so that some point is always possible.
        first, second = choices[:2]
        requires.append([second["name"], second["values"][1], first["name"], first["values"][:1]])
    return {"blocks": blocks, "requires": requires}


def draw_pair_space(rng: Random) -> Drawn:
    """Pairs of labels of a span scheme."""
    labels = [f"{prefix}-{kind}" for kind in ("P", "Q")[: rng.randint(1, 2)] for prefix in "BI"] + ["O"]
    rng.shuffle(labels)
    return {
        "blocks": [{"name": f"label {i}", "kind": "one-hot", "values": labels} for i in (1, 2)],
        "requires": [],
    }


def columns_of(space: Drawn) -> int:
    """The number of columns of psi."""
    return sum(len(block["values"]) for block in space["blocks"])


def draw_set(rng: Random, most: int = 120, counts: bool = True, most_K: int = 3, kind: str = "") -> Drawn:
    """A space, and networks on it."""
    space = draw_pair_space(rng) if chance(rng, 0.15) else draw_space(rng, most, counts)
    points = oracle.points_of(space)
    near = [rng.choice(points).psi for _ in range(4)]
    return {"space": space, "parts": draw_parts(rng, columns_of(space), near, most_K, kind=kind)}


def draw_box(rng: Random, space: Drawn) -> dict[str, list[str]]:
    """Some values of some axes, in the order of the space; at least one axis."""
    axes = oracle.axes_of(space)
    chosen = rng.sample(axes, rng.randint(1, min(3, len(axes)))) if axes else []
    box = {}
    for name, _, choices in chosen:
        values = [value for value, _ in choices]
        some = set(rng.sample(values, rng.randint(1, max(1, len(values) - 1))))
        box[name] = [value for value in values if value in some]
    order = [name for name, _, _ in axes]
    return dict(sorted(box.items(), key=lambda item: order.index(item[0])))


def draw_graph(rng: Random) -> Drawn:
    """Candidates with scores, and constraints on tuples of labels and relations."""
    n, E, R = rng.choices(((0, 2, 2), (1, 3, 2), (2, 3, 3), (2, 2, 2), (3, 2, 2)), (1, 1, 5, 5, 2))[0]
    entity_labels, relation_labels = [f"e{i}" for i in range(E)], [f"r{i}" for i in range(R)]
    spread = rng.choice([16, 2, 1, 0])
    sizes = {"source": E, "target": E, "relation": R, "reverse": R}
    constraints = []
    for _ in range(rng.randint(0, 3)):
        members = rng.sample(MEMBERS, rng.randint(1, 3))
        d, column, psi = sum(sizes[m] for m in members), 0, {}
        for member in members:
            psi[column + rng.randrange(sizes[member])] = 1
            column += sizes[member]
        constraints.append({"members": members, "parts": draw_parts(rng, d, [psi])})
    return {
        "entity_labels": entity_labels,
        "relation_labels": relation_labels,
        "entities": [[score(rng, spread, 0.0) for _ in range(E)] for _ in range(n)],
        "relations": [[[score(rng, spread, 0.0) for _ in range(R)] for _ in range(n)] for _ in range(n)],
        "constraints": constraints,
    }
