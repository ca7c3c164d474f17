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
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

from lcons_core import LearnedConstraint, Recipe, Rules, compare
from lcons_core.features import Tuples
from lcons_core.reason._compare import Comparison
from lcons_tasks.data._passage import ENTITIES, NO_RELATION, RELATIONS, Labelled, members

Constraints = dict[str, LearnedConstraint]

FEATURES: Mapping[str, Tuples] = {
    "source-relation": Tuples(("source", "relation"), (ENTITIES, RELATIONS)),
    "relation-target": Tuples(("relation", "target"), (RELATIONS, ENTITIES)),
    "relation-relation": Tuples(("relation", "reverse"), (RELATIONS, RELATIONS)),
}

# The paper does not search K: it states one K per feature.
HIDDEN: Mapping[str, int] = {"source-relation": 2, "relation-target": 2, "relation-relation": 1}

# The designed constraints: relation -> (source, target); the reverse of each is NoRel.
DESIGNED: Mapping[str, tuple[str, str]] = {
    "Kill": ("Person", "Person"),
    "LiveIn": ("Person", "Location"),
    "WorkFor": ("Person", "Organization"),
    "LocatedAt": ("Location", "Location"),
    "OrgBasedIn": ("Organization", "Location"),
}


def designed_rules() -> dict[str, Rules]:
    """The fifteen designed constraints, five per feature."""
    rules = {name: Rules(feature.space) for name, feature in FEATURES.items()}
    for relation, (source, target) in DESIGNED.items():
        needs = {
            "source-relation": {"source": source},
            "relation-target": {"target": target},
            "relation-relation": {"reverse": NO_RELATION},
        }
        for name, then in needs.items():
            rules[name] = rules[name].needs({"relation": relation}, then)
    return rules


def designed() -> Constraints:
    """The designed constraints as networks."""
    return {
        name: LearnedConstraint(rules.network(), rules.space, FEATURES[name], {"designed": True})
        for name, rules in designed_rules().items()
    }


def learned(passages: Sequence[Labelled], min_support: int = 2, seed: int = 0) -> Constraints:
    """The three constraints learned from labelled passages, by feature. If all combinations of a feature are
    valid, its constraint accepts everything."""
    constraints = {}
    for name, feature in FEATURES.items():
        if len(_valid(passages, name, min_support)) == len(list(product(*feature.values))):
            network = Rules(feature.space).network()
            constraints[name] = LearnedConstraint(network, feature.space, feature)
        else:
            recipe = Recipe(feature, hidden=HIDDEN[name], name=name, min_support=min_support, seed=seed)
            constraints[name] = recipe.learn(shown(passages, name))
    return constraints


def table(passages: Sequence[Labelled], min_support: int = 2) -> Constraints:
    """A baseline without learning: look-up tables that allow the combinations of each feature that at least
    `min_support` pairs of candidates show, and forbid all others."""
    constraints = {}
    for name, feature in FEATURES.items():
        allowed = [
            dict(zip(feature.names, point, strict=True)) for point in _valid(passages, name, min_support)
        ]
        network = Rules(feature.space, allowed=allowed).network()
        constraints[name] = LearnedConstraint(network, feature.space, feature)
    return constraints


def shown(passages: Iterable[Labelled], name: str) -> list[list[tuple[str, ...]]]:
    """The combinations of a feature in each passage, each at most once per pair of candidates."""
    names = FEATURES[name].names
    rows: list[list[tuple[str, ...]]] = []
    for passage in passages:
        rows.append([])
        for i, j in combinations(range(len(passage.entities)), 2):
            both = (members(passage.entities, passage.relations, *pair) for pair in ((i, j), (j, i)))
            rows[-1] += dict.fromkeys(tuple(labels[name] for name in names) for labels in both)
    return rows


def _valid(passages: Iterable[Labelled], name: str, min_support: int) -> list[tuple[str, ...]]:
    """The combinations of a feature that at least `min_support` pairs of candidates show."""
    support = Counter(point for rows in shown(passages, name) for point in rows)
    return [point for point, count in support.items() if count >= min_support]


def certificates(constraints: Mapping[str, LearnedConstraint]) -> dict[str, Comparison]:
    """The comparison of each constraint (a) with the designed one of its feature (b), on all combinations."""
    rules = designed_rules()
    return {name: compare(constraint, rules[name]) for name, constraint in constraints.items()}
