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
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lcons_core import Comparison, LearnedConstraint, Recipe, Rules, compare, load, save
from lcons_core.features import Tuples
from lcons_core.learn import ER_HIDDEN
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

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {name: Recipe(feature, hidden=ER_HIDDEN[name], name=name) for name, feature in FEATURES.items()}
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
    passages: Sequence[Labelled], min_support: int = 2, seed: int = 0, hidden: Mapping[str, int] = ER_HIDDEN
) -> dict[str, LearnedConstraint]:
    """The three constraints learned from labelled passages, by feature."""
    return {
        name: replace(recipe, hidden=hidden[name], min_support=min_support, seed=seed).learn(
            combinations(passages, name)
        )
        for name, recipe in RECIPES.items()
    }


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

    def make(folder: Path) -> None:
        for feature, constraint in learned(passages, min_support).items():
            save(constraint, folder / f"{feature}.json")

    def read(folder: Path) -> dict[str, LearnedConstraint]:
        return {feature: load(folder / f"{feature}.json") for feature in FEATURES}

    inputs = {"train": hash_passages(passages), "support": min_support}
    return kept.keep("er-constraints", inputs, make, read)
