"""A constraint feature of one's own, outside the packages: learn, explain, save, load and decode with it.

A kind is a frozen dataclass that is a `lcons_core.features.ConstraintFeature`. A package registers it under
its name, so that constraint files can name it:

    [project.entry-points."lcons.features"]
    ends = "the_package:Ends"
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    DamagedFile,
    FeatureSpace,
    LearnedConstraint,
    SparsePsi,
    explain,
    learn_constraints,
    load,
    one_hot,
    save,
)
from lcons_core._instance import read_instance, read_instances
from lcons_core.features import ConstraintFeature, Scope
from lcons_core.features._feature import DEFINED, GroundedRow
from lcons_decode import ChainScores, brute, decode_global
from lcons_decode.ilp import decode_ilp


@dataclass(frozen=True)
class Ends(ConstraintFeature):
    """The first and the last label of a sequence, together: onehot(y_1) onehot(y_T)."""

    kind = "ends"
    scope = Scope.GLOBAL
    column = "word"
    labels: tuple[str, ...] = field()

    @cached_property
    def space(self) -> FeatureSpace:
        """Two blocks, `first` and `last`."""
        return FeatureSpace([one_hot("first", self.labels), one_hot("last", self.labels)])

    def psi(self, structure: Any) -> SparsePsi:
        """One row; none for an empty sequence, which satisfies everything."""
        y = read_instance(structure, self.column).y
        ends = [(self.labels.index(y[0]), len(self.labels) + self.labels.index(y[-1]))] if len(y) else []
        return SparsePsi.from_indices(ends, self.space.d)

    def ground(self, structure: Any) -> list[GroundedRow]:
        """The row as a function of the indicators (position, label); integer programs need it, others not."""
        last = len(read_instance(structure, self.column).y) - 1
        at = [(0, label) for label in self.labels] + [(last, label) for label in self.labels]
        return [GroundedRow({}, {j: (variable,) for j, variable in enumerate(at)}, {})] if last >= 0 else []

    @classmethod
    def from_instances(cls, instances: Iterable[Any]) -> Self:
        """The labels of the training structures."""
        found = read_instances(instances, cls.column)
        return cls(tuple(sorted({label for instance in found for label in instance.y})))


QUOTED = [
    ["open", "text", "close"],
    ["open", "close", "text", "close"],
    ["open", "close"],
    ["text"],
    ["text", "open", "text", "close", "text"],
    ["text", "text"],
]


@pytest.fixture(scope="module")
def constraint() -> LearnedConstraint:
    """What opens with a quote closes with one, and nothing else does, from examples."""
    return learn_constraints(QUOTED, Ends.from_instances(QUOTED), hidden=2)


def install(folder: Path, module: str) -> Path:
    """The folder, with what an installed package leaves in it for its entry points."""
    metadata = folder / "quotes-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: quotes\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[lcons.features]\nends = {module}:Ends\n")
    return folder


@pytest.fixture
def saved(constraint, tmp_path, monkeypatch) -> Path:
    """The constraint in a file, written where the kind is registered."""
    with monkeypatch.context() as installed:
        installed.syspath_prepend(install(tmp_path / "packages", __name__))
        save(constraint, tmp_path / "ends.json")
    return tmp_path / "ends.json"


def test_it_is_learned_with_and_said_in_words(constraint):
    assert all(constraint.satisfied(y) for y in QUOTED)
    assert not constraint.satisfied(["open", "text"])
    assert not constraint.satisfied(["text", "close"])
    assert constraint.satisfied([])
    assert "open needs last close" in str(explain(constraint))


def test_a_file_that_names_it_loads_where_it_is_registered(constraint, saved, tmp_path, monkeypatch):
    assert load(saved) == constraint  # its class is defined here
    monkeypatch.delitem(DEFINED, "ends")
    with pytest.raises(DamagedFile):
        load(saved)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    again = load(saved)
    assert (again.feature, again.space) == (constraint.feature, constraint.space)
    assert [again.satisfied(y) for y in QUOTED] == [True] * len(QUOTED)
    assert not again.satisfied(["open", "text"])


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.integers(-8, 8)] * 3), min_size=1, max_size=5))
def test_decoders_that_have_never_heard_of_it_are_exact_under_it(constraint, emission):
    scores = ChainScores(emission, labels=["open", "text", "close"])
    best = brute(scores, [constraint])
    found = decode_global(scores, [constraint])
    assert (found.score, found.status) == (best.score, best.status)
    assert constraint.satisfied(found.y)
    assert decode_ilp(scores, [constraint]).score == best.score
