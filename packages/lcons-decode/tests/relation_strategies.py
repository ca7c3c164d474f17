"""Small graphs of candidates and constraints on them, an enumeration of all labellings that shares no code
with the decoder, and the paper's rules, designed and printed.

Scores and weights are multiples of 1/16, added as integers, so nothing is rounded.
"""

import math
from itertools import combinations, permutations, product

import numpy as np
from chain_strategies import generators
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, LinearInequalities, RectifierNetwork, Rules
from lcons_core._network import Conjunction
from lcons_core.features import Tuples
from lcons_decode import RelationDecoding, RelationScores, Status, rows_constraint
from lcons_decode._constraints import MEMBERS

ENTITIES, RELATIONS = ("A", "B", "C"), ("N", "K", "L")
# (n, E, R): few labellings, or an edge case; hypothesis shrinks to the first.
SHAPES = (
    (2, 2, 2),
    (3, 2, 2),
    (3, 3, 2),
    (2, 3, 3),
    (3, 2, 3),
    (4, 2, 2),
    (3, 3, 3),
    (4, 3, 1),
    (3, 1, 3),
    (5, 2, 1),
    (1, 3, 2),
    (0, 2, 2),
)


@st.composite
def graphs(draw, shapes=SHAPES, widths=(1, 0, 2, 40)):
    """Scores of one graph; usually with few distinct values, so that ties are common."""
    n, E, R = draw(st.sampled_from(shapes))
    rng, width = draw(generators), draw(st.sampled_from(widths))
    scale = draw(st.sampled_from([1, 16]))
    entities = rng.integers(-width, width + 1, (n, E)) / scale
    relations = rng.integers(-width, width + 1, (n, n, R)) / scale
    return named(entities, relations, ENTITIES[:E], RELATIONS[:R])


def named(entities, relations, entity_labels, relation_labels):
    return RelationScores(entities, relations, entity_labels=entity_labels, relation_labels=relation_labels)


@st.composite
def constraints(draw, scores, strict=(1.0, 0.0, 2.0, -1.0)):
    """Networks on tuples of some members in any order, with labels in any order, sometimes one more label;
    one or a conjunction of two, lenient or strict (negative)."""
    members = draw(st.sampled_from([m for k in (2, 3, 1, 4) for m in permutations(MEMBERS, k)]))
    more = ["X"] * draw(st.integers(0, 1))
    values = [tuple(draw(st.permutations([*labels_of(scores, member), *more]))) for member in members]
    feature, parts = Tuples(members, tuple(values)), []
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        rng, K = draw(generators), draw(st.integers(1, 3))
        W, b = rng.integers(-32, 33, (K, feature.space.d)) / 16, rng.integers(-32, 33, K) / 16
        parts.append(RectifierNetwork(W, b - draw(st.sampled_from(strict))))
    return LearnedConstraint(Conjunction(tuple(parts)), feature.space, feature)


@st.composite
def problems(draw, shapes=SHAPES, min_size=0, max_size=3, **options):
    """(scores, constraints)."""
    scores = draw(graphs(shapes))
    return scores, draw(st.lists(constraints(scores, **options), min_size=min_size, max_size=max_size))


def labels_of(scores, member):
    return scores.entity_labels if member in ("source", "target") else scores.relation_labels


def ordered_pairs(n):
    """(0, 1), (1, 0), (0, 2), (2, 0), ...: any order with (i, j) before (j, i) has the same first best."""
    return [pair for i, j in combinations(range(n), 2) for pair in ((i, j), (j, i))]


def margins(decoding, scores, constraint):
    """The rational margins of a decoding, one for each two candidates in each order."""
    none, entities = scores.relation_labels[0], decoding.entities
    members = [
        {
            "source": entities[i],
            "target": entities[j],
            "relation": decoding.relations.get((i, j), none),
            "reverse": decoding.relations.get((j, i), none),
        }
        for i, j in ordered_pairs(len(scores))
    ]
    return [margin_of(constraint, [labels[name] for name in constraint.feature.names]) for labels in members]


def margin_of(constraint, labels):
    psi = constraint.space.vector(dict(zip(constraint.feature.names, labels, strict=True)))
    return constraint.network.rational_margin(psi)


def score_of(decoding, scores):
    """The score of the labels of a decoding."""
    E, R = scores.entity_labels, scores.relation_labels
    total = sum(scores.entities[i, E.index(label)] for i, label in enumerate(decoding.entities))
    for i, j in ordered_pairs(len(scores)):
        total += scores.relations[i, j, R.index(decoding.relations.get((i, j), R[0]))]
    return float(total)


def first_best(scores, constraints, soft=None, weight=0, unit=1 / 16):
    """The first best of all labellings that break the fewest constraints; the hinge of `soft` costs its
    weight. Scores and costs are multiples of `unit`."""
    n, E, R = len(scores), scores.entity_labels, scores.relation_labels
    shape = (1, *(len(E),) * n, *(len(R),) * (n * (n - 1)))
    labels = np.array(np.unravel_index(np.arange(math.prod(shape)), shape), dtype=np.int64)[1:]
    entities, relations = labels[:n], dict(zip(ordered_pairs(n), labels[n:], strict=True))
    values, broken = np.zeros((2, labels.shape[1]), dtype=np.int64)
    for i, column in enumerate(entities):
        values += whole(scores.entities[i] / unit)[column]
    for pair, column in relations.items():
        values += whole(scores.relations[pair] / unit)[column]

    def looked_up(constraint, cost):
        names = constraint.feature.names
        axes = [labels_of(scores, name) for name in names]
        costs = np.array([cost(margin_of(constraint, point)) for point in product(*axes)])
        table = whole(costs).reshape([len(axis) for axis in axes])
        members = [
            {
                "source": entities[i],
                "target": entities[j],
                "relation": relations[i, j],
                "reverse": relations[j, i],
            }
            for i, j in relations
        ]
        return sum(table[tuple(columns[name] for name in names)] for columns in members)

    for constraint in constraints:
        broken += looked_up(constraint, lambda margin: int(margin < 0))
    if soft is not None:
        values -= looked_up(soft, lambda margin: float(weight * max(0, -margin)) / unit)
    fewest = np.flatnonzero(broken == broken.min())
    best = fewest[np.argmax(values[fewest])]
    chosen = {pair: R[column[best]] for pair, column in relations.items() if column[best]}
    status = Status.RELAXED if broken[best] else Status.OPTIMAL
    names = tuple(E[label] for label in entities[:, best])
    return RelationDecoding(names, chosen, values[best] * unit, status, int(broken[best]), {})


def whole(values):
    """The values as integers, whose sums are exact."""
    assert (values == np.rint(values)).all()
    return np.rint(values).astype(np.int64)


# The paper's labels and rules (Appendix C): relation -> (source, target); the other direction is NoRel.
PAPER_ENTITIES = ("NoEnt", "Person", "Location", "Organization")
PAPER_RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
DESIGNED = {
    "Kill": ("Person", "Person"),
    "LiveIn": ("Person", "Location"),
    "WorkFor": ("Person", "Organization"),
    "LocatedAt": ("Location", "Location"),
    "OrgBasedIn": ("Organization", "Location"),
}
# The printed rows, bias last; the first two are the units of the network, in the last table the only row.
PRINTED = {
    ("source", "relation"): (
        (-1.98, 3.53, -1.90, 0.11, 2.66, -2.84, -2.84, -2.84, 2.58, 0.43, 0.32),
        (-1.61, -1.48, 3.50, 0.92, 1.15, 1.02, 1.02, 1.02, -3.96, -1.38, 1.46),
        (-3.59, 2.04, 1.60, 1.03, 3.81, -1.82, -1.82, -1.82, -1.38, -0.95, 0.78),
    ),
    ("relation", "target"): (
        (2.68, -3.17, -0.55, 2.68, -0.55, -0.55, -1.58, 3.15, 0.53, -2.70, 1.02),
        (2.72, 2.42, -1.39, -2.55, -1.39, -1.39, -2.51, -2.27, 1.54, 2.31, 0.85),
        (5.40, -0.74, -1.94, 0.13, -1.94, -1.94, -4.10, 0.88, 2.08, -0.39, 0.86),
    ),
    ("relation", "reverse"): (
        (4.95, -1.65, -1.65, -1.65, -1.65, -1.65, 5.06, -1.53, -1.53, -1.53, -1.53, -1.53, -2.41),
    ),
}


def paper_feature(members):
    values = {"source": PAPER_ENTITIES, "target": PAPER_ENTITIES}
    return Tuples(members, tuple(values.get(member, PAPER_RELATIONS) for member in members))


def on_feature(network, feature):
    return LearnedConstraint(network, feature.space, feature)


def designed():
    """The designed rules, one unit per forbidden box."""
    constraints = []
    for members in PRINTED:
        feature = paper_feature(members)
        rules = Rules(feature.space)
        for relation, (source, target) in DESIGNED.items():
            needed = {"source": source, "target": target, "reverse": "NoRel"}
            (other,) = set(members) - {"relation"}
            rules = rules.needs({"relation": relation}, {other: needed[other]})
        constraints.append(on_feature(rules.network(), feature))
    return constraints


def printed_networks():
    """The networks behind the printed rows: their units are 1 - row."""
    units = {members: np.array(rows[:2]) for members, rows in PRINTED.items()}
    networks = {members: RectifierNetwork(-W[:, :-1], 1 - W[:, -1]) for members, W in units.items()}
    return [on_feature(network, paper_feature(members)) for members, network in networks.items()]


def printed_rows():
    """The printed rows themselves."""
    rows = {members: np.array(rows) for members, rows in PRINTED.items()}
    return [
        rows_constraint(LinearInequalities(A[:, :-1], A[:, -1]), paper_feature(members))
        for members, A in rows.items()
    ]


def sentence(rng, n, width=64, bias=2.0):
    """Scores in sixteenths of n candidates with the paper's labels; NoRel is likely."""
    relations = rng.integers(-width, width + 1, (n, n, 6)) / 16
    relations[:, :, 0] += bias
    return named(rng.integers(-width, width + 1, (n, 4)) / 16, relations, PAPER_ENTITIES, PAPER_RELATIONS)
