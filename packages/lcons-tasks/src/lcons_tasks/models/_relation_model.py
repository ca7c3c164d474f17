"""The linear model of entities and relations: a weight per attribute and label, of candidates and of pairs.

    score = sum_i sum_{a in candidate i} W[a, e_i] + sum_{i != j} sum_{a in pair (i, j)} V[a, r_ij]

Attributes come from the training passages, and from word vectors if there are any. Constraints are not part
of the score.

Paper: Sec. 4 (Roth and Yih 2004).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Self

import numpy as np

from lcons_core import LearnedConstraint
from lcons_decode import RelationRules, RelationScores
from lcons_decode.kernels._arrays import Floats
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Passage
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models._model_file import (
    Arrays,
    checked_floats,
    damaged,
    read_model,
    read_names,
    write_model,
)
from lcons_tasks.models.phi._candidates import (
    BACKWARD,
    BIAS,
    FORWARD,
    candidate_attributes,
    pair_attributes,
    shared_attributes,
)
from lcons_tasks.models.phi._tokens import Rows


@dataclass(frozen=True, eq=False)
class Attributes:
    """The names of the attributes of candidates and of pairs, and their numbers. Clusters of words, if there
    are any, are attributes of candidates."""

    candidates: tuple[str, ...]
    pairs: tuple[str, ...]
    clusters: Clusters | None = None

    @classmethod
    def of(cls, passages: Iterable[Passage], clusters: Clusters | None = None) -> Self:
        """All attributes of training passages, in the order in which they are first seen."""
        singles: dict[str, None] = {}
        doubles: dict[str, None] = {}
        for passage in passages:
            for i in range(len(passage.spans)):
                singles.update(dict.fromkeys(candidate_attributes(passage, i, clusters)))
            for i, j in passage.pairs:
                doubles.update(dict.fromkeys(pair_attributes(passage, i, j)))
        return cls(tuple(singles), tuple(doubles), clusters)

    def encode(self, passage: Passage) -> tuple[Rows, Rows]:
        """The numbers of the known attributes of a passage's candidates, and of its ordered pairs."""
        candidates, pairs = self._numbers
        n = len(passage.spans)
        singles = [_known(candidate_attributes(passage, i, self.clusters), candidates) for i in range(n)]
        doubles: dict[tuple[int, int], list[int]] = {}
        for i, j in combinations(range(n), 2):
            names = shared_attributes(passage, i, j)
            for pair, order in (((i, j), FORWARD), ((j, i), BACKWARD)):
                doubles[pair] = _known([BIAS, *(order + name for name in names)], pairs)
        return Rows.of(singles), Rows.of([doubles[pair] for pair in passage.pairs])

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The numbers of the attributes of candidates and of pairs, by name."""
        candidates, pairs = (
            {name: k for k, name in enumerate(names)} for names in (self.candidates, self.pairs)
        )
        return candidates, pairs


def _known(names: Sequence[str], numbers: Mapping[str, int]) -> list[int]:
    return [numbers[name] for name in names if name in numbers]


def spread(n: int, values: Floats) -> Floats:
    """(n, n, labels) array of values that come as one row per ordered pair of n candidates."""
    full = np.zeros((n, n, values.shape[1]))
    full[~np.eye(n, dtype=np.bool_)] = values
    return full


@dataclass(frozen=True, eq=False)
class RelationModel:
    """Attributes and their weights, W (candidate attributes, entities) and V (pair attributes, relations)."""

    attributes: Attributes
    W: Floats
    V: Floats

    def scores(self, passage: Passage) -> RelationScores:
        """The scores of a passage's candidates and pairs."""
        candidates, pairs = self.attributes.encode(passage)
        single, double = candidates.sums(self.W), spread(len(passage.spans), pairs.sums(self.V))
        return RelationScores(single, double, entity_labels=ENTITIES, relation_labels=RELATIONS)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model."""
        header = {
            "kind": "relations",
            "entities": list(ENTITIES),
            "relations": list(RELATIONS),
            "candidates": list(self.attributes.candidates),
            "pairs": list(self.attributes.pairs),
        }
        arrays: Arrays = {"W": self.W, "V": self.V}
        if (clusters := self.attributes.clusters) is not None:
            header["clustered"], arrays["clusters"] = list(clusters.words), clusters.ids
        write_model(path, header, arrays)


def load_model(path: str | os.PathLike[str]) -> RelationModel:
    """The model that `save` wrote."""
    header, arrays = read_model(path)
    try:
        labels = {"kind": "relations", "entities": list(ENTITIES), "relations": list(RELATIONS)}
        if {name: header[name] for name in labels} != labels:
            raise ValueError(f"it is no model of the relations {', '.join(RELATIONS)}")
        candidates, pairs = (read_names(header[name], distinct=True) for name in ("candidates", "pairs"))
        shapes = {"W": (len(candidates), len(ENTITIES)), "V": (len(pairs), len(RELATIONS))}
        W, V = checked_floats(arrays, shapes)
        clusters = None
        if "clusters" in arrays:
            clusters = Clusters.from_contents(header["clustered"], arrays["clusters"])
        return RelationModel(Attributes(candidates, pairs, clusters), W, V)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, str(error)) from None


def rules_of(constraints: Mapping[str, LearnedConstraint]) -> RelationRules:
    """Constraints by name as decoders take them: the combinations of labels that they allow."""
    return RelationRules.of(constraints.values(), ENTITIES, RELATIONS)
