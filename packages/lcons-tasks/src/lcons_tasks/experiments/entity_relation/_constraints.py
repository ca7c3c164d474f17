"""The constraints of the task, designed by hand or learned from labelled passages, and their comparison.

| feature | reads | K |
|---|---|---|
| source-relation | a relation and the label of its source | 2 |
| relation-target | a relation and the label of its target | 2 |
| relation-relation | the two relations between two candidates | 1 |

For learned constraints, every combination that occurs is valid and all others are invalid. Occurrences are
counted per pair of candidates, not per direction: two candidates with the same relation in both directions
count once. `min_support=2` leaves out combinations that only one pair shows.

Paper: Sec. 4; Appendix C.1, Table 7 (designed constraints); Appendix C.2 (features). Differs from the paper:
the learner's settings are its defaults with restarts, not chosen by cross-validation: a fold of 24
combinations holds out combinations, and a set has to know all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from lcons_core import LearnedConstraint, Recipe, RectifierNetwork, Rules, compare
from lcons_core.features import Tuples
from lcons_core.reason._compare import Comparison
from lcons_decode import RelationRules
from lcons_decode.kernels._arrays import Floats
from lcons_tasks.data._passage import ENTITIES, NO_RELATION, RELATIONS, Labelled, hash_passages

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._kept import Stages

Constraints = Mapping[str, LearnedConstraint]

FEATURES: Mapping[str, Tuples] = MappingProxyType(
    {
        "source-relation": Tuples(("source", "relation"), (ENTITIES, RELATIONS)),
        "relation-target": Tuples(("relation", "target"), (RELATIONS, ENTITIES)),
        "relation-relation": Tuples(("relation", "reverse"), (RELATIONS, RELATIONS)),
    }
)

# Whether a passage has some relation.
SENTENCE = Tuples(("relations",), (("none", "some"),))

# The paper does not search K: it states one K per feature.
HIDDEN: Mapping[str, int] = MappingProxyType(
    {"source-relation": 2, "relation-target": 2, "relation-relation": 1}
)
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {name: Recipe(feature, hidden=HIDDEN[name], name=name) for name, feature in FEATURES.items()}
)

# The designed constraints: relation -> (source, target); the reverse of each is NoRel.
DESIGNED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Kill": ("Person", "Person"),
        "LiveIn": ("Person", "Location"),
        "WorkFor": ("Person", "Organization"),
        "LocatedAt": ("Location", "Location"),
        "OrgBasedIn": ("Organization", "Location"),
    }
)


def designed_rules() -> dict[str, Rules]:
    """The fifteen designed constraints, five per feature."""
    found = {name: Rules(feature.space) for name, feature in FEATURES.items()}
    for relation, (source, target) in DESIGNED.items():
        needs = {
            "source-relation": {"source": source},
            "relation-target": {"target": target},
            "relation-relation": {"reverse": NO_RELATION},
        }
        for name, then in needs.items():
            found[name] = found[name].needs({"relation": relation}, then)
    return found


def designed() -> dict[str, LearnedConstraint]:
    """The designed constraints as networks."""
    return {
        name: LearnedConstraint(rules.network(), FEATURES[name].space, FEATURES[name], {"designed": True})
        for name, rules in designed_rules().items()
    }


def learned(
    passages: Sequence[Labelled], min_support: int = 2, seed: int = 0, hidden: Mapping[str, int] = HIDDEN
) -> dict[str, LearnedConstraint]:
    """The three constraints learned from labelled passages, by feature. If all combinations of a feature are
    valid, its constraint accepts everything."""
    found = {}
    for name, recipe in RECIPES.items():
        rows, feature = combinations(passages, name), FEATURES[name]
        seen = Counter(row for own in rows for row in own)
        if all(seen[point] >= min_support for point in product(*feature.values)):
            anything = RectifierNetwork(np.zeros((1, feature.space.d)), np.zeros(1))
            found[name] = LearnedConstraint(anything, feature.space, feature)
        else:
            own = replace(recipe, hidden=hidden[name], min_support=min_support, seed=seed)
            found[name] = own.learn(rows)
    return found


def combinations(passages: Iterable[Labelled], name: str) -> list[list[tuple[str, ...]]]:
    """The combinations of a feature in each passage, each at most once per pair of candidates."""
    members = FEATURES[name].names
    found = []
    for passage in passages:
        rows: list[tuple[str, ...]] = []
        for i, j in passage.passage.pairs:
            if i < j:
                both = (_values(passage, i, j), _values(passage, j, i))
                rows += dict.fromkeys(tuple(values[member] for member in members) for values in both)
        found.append(rows)
    return found


def support(passages: Iterable[Labelled], name: str) -> Counter[tuple[str, ...]]:
    """The number of pairs of candidates with each combination of a feature."""
    return Counter(row for rows in combinations(passages, name) for row in rows)


def seen_rules(passages: Sequence[Labelled], min_support: int = 2) -> RelationRules:
    """A baseline without networks: a look-up table that allows the combinations of each feature that at least
    `min_support` pairs of candidates show, and forbids all others."""
    broken = np.zeros((len(ENTITIES), len(ENTITIES), len(RELATIONS), len(RELATIONS)), dtype=np.int64)
    for name in FEATURES:
        found = support(passages, name)
        for labels in _labels_of_two():
            broken[labels.at] += sum(found[values] < min_support for values in labels.combinations(name))
    return RelationRules(ENTITIES, RELATIONS, broken)


def combination_counts() -> Floats:
    """(E, E, R, R, P): how often the labels of two candidates and the relations between them show each of the
    P = 24 + 24 + 36 combinations of the three features."""
    names = [(name, point) for name, feature in FEATURES.items() for point in product(*feature.values)]
    number = {point: k for k, point in enumerate(names)}
    E, R = len(ENTITIES), len(RELATIONS)
    counts = np.zeros((E, E, R, R, len(names)))
    for labels in _labels_of_two():
        for name in FEATURES:
            for values in labels.combinations(name):
                counts[(*labels.at, number[name, values])] += 1
    return counts


def wrong_combinations(rules: RelationRules) -> int:
    """The number of the labellings of two candidates that the rules judge otherwise than the designed ones,
    of E * E * R * R = 576."""
    own = RelationRules.of(designed().values(), ENTITIES, RELATIONS)
    return int((rules.allowed != own.allowed).sum())


def sentence_constraint(passages: Sequence[Labelled], min_support: int = 2) -> LearnedConstraint | None:
    """A global constraint, on whether a passage has some relation: learned if (nearly) all passages have one,
    as those that were selected for the published figures; None if at least `min_support` have none.

    Not in the paper.
    """
    rows = [[("some" if one.relations else "none",)] for one in passages]
    if sum(row == [("none",)] for row in rows) >= min_support:
        return None
    return Recipe(SENTENCE, hidden=1, min_support=min_support, name="sentence").learn(rows)


@dataclass(frozen=True)
class _TwoCandidates:
    """The labels of two candidates and the relations between them, as indices."""

    at: tuple[int, int, int, int]

    def combinations(self, name: str) -> list[tuple[str, ...]]:
        """The combinations of a feature in both directions; two equal ones count twice."""
        a, b, r, s = self.at
        found = []
        for source, target, relation, reverse in ((a, b, r, s), (b, a, s, r)):
            values = {
                "source": ENTITIES[source],
                "target": ENTITIES[target],
                "relation": RELATIONS[relation],
                "reverse": RELATIONS[reverse],
            }
            found.append(tuple(values[member] for member in FEATURES[name].names))
        return found


def _labels_of_two() -> Iterator[_TwoCandidates]:
    E, R = range(len(ENTITIES)), range(len(RELATIONS))
    return (_TwoCandidates((a, b, r, s)) for a, b, r, s in product(E, E, R, R))


def certificates(constraints: Constraints) -> dict[str, Comparison]:
    """The comparison of each constraint (a) with the designed one of its feature (b), on all combinations."""
    rules = designed_rules()
    return {name: compare(constraint, rules[name]) for name, constraint in constraints.items()}


def _values(passage: Labelled, i: int, j: int) -> dict[str, str]:
    return {
        "source": passage.entities[i],
        "relation": passage.relation(i, j),
        "target": passage.entities[j],
        "reverse": passage.relation(j, i),
    }


def kept_constraints(
    passages: Sequence[Labelled], min_support: int, kept: Stages
) -> dict[str, LearnedConstraint]:
    """The three constraints learned from labelled passages, learned now or read from their stage."""
    inputs = {"train": hash_passages(passages), "support": min_support}
    return kept.keep("er-constraints", inputs, partial(learned, passages, min_support))
