"""Small graphs of candidates and constraints on them, an enumeration of all labellings that shares no code
with the decoder, and the paper's rules, designed and printed.

Scores and weights are multiples of 1/16, added as integers, so nothing is rounded.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from chain_strategies import generators
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, LinearInequalities, RectifierNetwork, Rules
from lcons_core._network import Conjunction
from lcons_core.features import Tuples
from lcons_core.testing import networks
from lcons_decode import Hard, RelationScores, rows_constraint
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
def features(draw, scores):
    """Tuples of some members in any order, their labels in any order, sometimes with one more label."""
    members = draw(st.sampled_from([m for k in (2, 3, 1, 4) for m in permutations(MEMBERS, k)]))
    more = ["X"] * draw(st.integers(0, 1))
    values = [draw(st.permutations([*labels_of(scores, member), *more])) for member in members]
    return Tuples(members, tuple(map(tuple, values)))


@st.composite
def constraints(draw, scores, strict=(1.0, 0.0, 2.0, -1.0)):
    """Networks on such tuples, one or a conjunction of two, lenient or strict (negative)."""
    feature, parts = draw(features(scores)), []
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        if draw(st.integers(0, 4)) == 4:
            parts.append(draw(networks(max_K=2, d=feature.space.d)))
        else:
            rng, K = draw(generators), draw(st.integers(1, 3))
            W, b = rng.integers(-32, 33, (K, feature.space.d)) / 16, rng.integers(-32, 33, K) / 16
            parts.append(RectifierNetwork(W, b - draw(st.sampled_from(strict))))
    return LearnedConstraint(Conjunction(tuple(parts)), feature.space, feature)


@st.composite
def problems(draw, shapes=SHAPES, min_size=0, max_size=3, **options):
    """(scores, constraints); some constraints have a name."""
    scores, uses = draw(graphs(shapes)), []
    for i in range(draw(st.integers(min_size, max_size))):
        constraint = draw(constraints(scores, **options))
        uses.append(Hard(constraint, f"c{i}") if draw(st.booleans()) else constraint)
    return scores, uses


def labels_of(scores, member):
    return scores.entity_labels if member in ("source", "target") else scores.relation_labels


def plain(constraint):
    return constraint if isinstance(constraint, LearnedConstraint) else constraint.constraint


def ordered_pairs(n):
    return [(i, j) for i, j in product(range(n), repeat=2) if i != j]


@dataclass(frozen=True)
class Labellings:
    """All labellings of a graph in declared order, entities first, then the relations (0, 1), (1, 0),
    (0, 2), (2, 0), ... (any order with (i, j) before (j, i) for i < j has the same first best): their scores
    in multiples of `unit`, and how often each constraint is broken."""

    scores: RelationScores
    entities: np.ndarray
    relations: dict
    values: np.ndarray
    broken: np.ndarray
    unit: float

    def best(self):
        """(entities, relations, score, breaches) of the first best labelling with the fewest breaches."""
        fewest = np.flatnonzero(self.broken == self.broken.min())
        first = fewest[np.argmax(self.values[fewest])]
        return *self.names(first), self.values[first] * self.unit, int(self.broken[first])

    def names(self, index):
        """A labelling in the form of a decoding."""
        E, R = self.scores.entity_labels, self.scores.relation_labels
        chosen = {pair: column[index] for pair, column in self.relations.items()}
        relations = {pair: R[r] for pair, r in chosen.items() if r}
        return tuple(E[e] for e in self.entities[:, index]), relations

    def index(self, decoding):
        """The index of the labelling of a decoding."""
        E, R = self.scores.entity_labels, self.scores.relation_labels
        same = np.ones(len(self.values), dtype=bool)
        for i, column in enumerate(self.entities):
            same &= column == E.index(decoding.entities[i])
        for pair, column in self.relations.items():
            same &= column == R.index(decoding.relations.get(pair, R[0]))
        (found,) = np.flatnonzero(same)
        return found


@cache
def all_indices(n, E, R):
    """(decisions, labellings) label indices; the last decision changes fastest."""
    shape = (1, *(E,) * n, *(R,) * (n * (n - 1)))
    return np.array(np.unravel_index(np.arange(math.prod(shape)), shape), dtype=np.int64)[1:]


def enumerated(scores, uses=(), hinges=(), unit=1 / 16):
    """Every labelling; hinges: (constraint, weight), in sixteenths of sixteenths."""
    n = len(scores)
    columns = all_indices(n, len(scores.entity_labels), len(scores.relation_labels))
    order = [pair for i, j in combinations(range(n), 2) for pair in ((i, j), (j, i))]
    entities, relations = columns[:n], dict(zip(order, columns[n:], strict=True))
    values = np.zeros(columns.shape[1], dtype=np.int64)
    for i in range(n):
        values += whole(scores.entities[i] / unit)[entities[i]]
    for (i, j), column in relations.items():
        values += whole(scores.relations[i, j] / unit)[column]
    broken = np.zeros_like(values)

    def looked_up(table, names):
        total = np.zeros_like(values)
        for i, j in order:
            own = {"source": entities[i], "target": entities[j]}
            own |= {"relation": relations[i, j], "reverse": relations[j, i]}
            total += table[tuple(own[name] for name in names)]
        return total

    for use in uses:
        names, margins = margin_table(plain(use), scores)
        broken += looked_up(np.vectorize(lambda margin: int(margin < 0))(margins), names)
    for use, weight in hinges:
        names, margins = margin_table(plain(use), scores)
        costs = np.vectorize(lambda margin, weight=weight: float(weight * max(0, -margin)))(margins)
        values -= looked_up(whole(costs / unit), names)
    return Labellings(scores, entities, relations, values, broken, unit)


def margin_table(constraint, scores):
    """The members, and the rational margin of each tuple of labels, computed one at a time."""
    names = constraint.feature.names
    values = [labels_of(scores, name) for name in names]
    margins = [
        constraint.network.rational_margin(constraint.space.vector(dict(zip(names, point, strict=True))))
        for point in product(*values)
    ]
    table = np.empty(len(margins), dtype=object)
    table[:] = margins
    return names, table.reshape([len(v) for v in values])


def whole(values):
    """The values as integers, whose sums are exact."""
    assert (values == np.rint(values)).all()
    return np.rint(values).astype(np.int64)


def satisfied(decoding, scores, uses):
    """Whether a decoding satisfies every constraint, by the constraint itself."""
    none, n = scores.relation_labels[0], len(scores)
    parts = [
        {
            "source": decoding.entities[i],
            "target": decoding.entities[j],
            "relation": decoding.relations.get((i, j), none),
            "reverse": decoding.relations.get((j, i), none),
        }
        for i, j in ordered_pairs(n)
    ]
    return all(
        plain(use).satisfied([tuple(part[name] for name in plain(use).feature.names) for part in parts])
        for use in uses
    )


def score_of(decoding, scores):
    """The score of the labels of a decoding."""
    E, R = scores.entity_labels, scores.relation_labels
    total = sum(scores.entities[i, E.index(label)] for i, label in enumerate(decoding.entities))
    for i, j in ordered_pairs(len(scores)):
        total += scores.relations[i, j, R.index(decoding.relations.get((i, j), R[0]))]
    return float(total)


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


def designed():
    """The designed rules, one unit per forbidden box."""
    found = []
    for members in PRINTED:
        feature = paper_feature(members)
        rules = Rules(feature.space)
        for relation, (source, target) in DESIGNED.items():
            needed = {"source": source, "target": target, "reverse": "NoRel"}
            (other,) = set(members) - {"relation"}
            rules = rules.needs({"relation": relation}, {other: needed[other]})
        found.append(LearnedConstraint(rules.network(), feature.space, feature))
    return found


def printed_networks():
    """The networks behind the printed rows: their units are 1 - row."""
    found = []
    for members, rows in PRINTED.items():
        feature, units = paper_feature(members), np.array(rows[:2])
        network = RectifierNetwork(-units[:, :-1], 1 - units[:, -1])
        found.append(LearnedConstraint(network, feature.space, feature))
    return found


def printed_rows():
    """The printed rows themselves."""
    found = []
    for members, rows in PRINTED.items():
        coefficients = np.array(rows)
        inequalities = LinearInequalities(coefficients[:, :-1], coefficients[:, -1])
        found.append(rows_constraint(inequalities, paper_feature(members)))
    return found


def sentence(rng, n, width=64, bias=2.0):
    """Scores in sixteenths of n candidates with the paper's labels; NoRel is likely."""
    relations = rng.integers(-width, width + 1, (n, n, 6)) / 16
    relations[:, :, 0] += bias
    return named(rng.integers(-width, width + 1, (n, 4)) / 16, relations, PAPER_ENTITIES, PAPER_RELATIONS)
