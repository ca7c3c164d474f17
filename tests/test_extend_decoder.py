"""A decoder of one's own, outside the packages: a function of `ChainScores` and constraints.

`ChainConstraints.of` reads constraints of any kind, hard and soft, local and global, and answers for whole
labellings: `violations(y, x)`, by name and position, and `penalty(y, x)`. A `Decoding` is what all decoders
answer. Whether a decoder does what it claims is asked of `brute`, which tries every labelling.
"""

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import Counts
from lcons_decode import ChainConstraints, ChainScores, Decoding, Hard, Soft, Status, brute, viterbi

LABELS = ("B-X", "I-X", "O")


def climb(
    scores: ChainScores, constraints: Iterable[LearnedConstraint | Hard | Soft] = (), x=None, *, span: int = 2
) -> Decoding:
    """Local search: from the best labelling without constraints, changes at most `span` adjacent labels as
    long as that breaks fewer hard constraints or, breaking as many, scores more."""
    compiled = ChainConstraints.of(constraints, scores.labels)

    def worth(y: tuple[str, ...]) -> tuple[int, float]:
        return -len(compiled.violations(y, x)), scores.score(y) + compiled.penalty(y, x)

    y = viterbi(scores).y
    best, steps = worth(y), 0
    while True:
        after = max(neighbours(y, scores.labels, span), key=worth, default=y)
        if worth(after) <= best:
            break
        y, best, steps = after, worth(after), steps + 1
    violations = compiled.violations(y, x)
    status = Status.RELAXED if violations else Status.HEURISTIC
    return Decoding(y, best[1], status, {"steps": steps}, violations)


def neighbours(y: tuple[str, ...], labels: tuple[str, ...], span: int) -> Iterator[tuple[str, ...]]:
    """The labellings that differ from y within `span` adjacent labels."""
    length = min(span, len(y))
    for first in range(len(y) - length + 1):
        for some in product(labels, repeat=length):
            yield (*y[:first], *some, *y[first + length :])


def at_most_one_span() -> LearnedConstraint:
    """1 - ReLU(how often B-X occurs) >= 0, about the whole labelling."""
    feature = Counts(LABELS, high=8)
    return LearnedConstraint(RectifierNetwork([[1.0, 0.0, 0.0]], [0.0]), feature.space, feature)


@st.composite
def chains(draw):
    """Scores of up to four tokens, in sixteenths, so that sums are exact."""
    T, rng = draw(st.integers(0, 4)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = ((T, len(LABELS)), (len(LABELS), len(LABELS)), (len(LABELS),), (len(LABELS),))
    return ChainScores(*(rng.integers(-16, 17, shape) / 16 for shape in shapes), labels=LABELS)


CONSTRAINTS = {
    "none": [],
    "hard": [iob2(LABELS)],
    "soft": [Soft(iob2(LABELS), 0.75)],
    "global": [at_most_one_span()],
    "all": [Hard(iob2(LABELS)), Hard(at_most_one_span(), "one span"), Soft(iob2(LABELS), 2.0, "soft")],
}

kinds_of_constraints = pytest.mark.parametrize("constraints", CONSTRAINTS.values(), ids=CONSTRAINTS)


@kinds_of_constraints
@settings(max_examples=40)
@given(scores=chains())
def test_where_every_labelling_is_near_it_is_exact(scores, constraints):
    best, found = brute(scores, constraints), climb(scores, constraints, span=4)
    assert len(found.violations) == len(best.violations)
    assert found.score == pytest.approx(best.score, abs=1e-9)


@kinds_of_constraints
@settings(max_examples=40)
@given(scores=chains())
def test_elsewhere_it_is_never_better_and_says_what_it_found(scores, constraints):
    best, found = brute(scores, constraints), climb(scores, constraints)
    compiled = ChainConstraints.of(constraints, scores.labels)
    assert (-len(found.violations), found.score) <= (-len(best.violations), best.score + 1e-9)
    assert found.violations == compiled.violations(found.y)
    assert found.score == scores.score(found.y) + compiled.penalty(found.y)
    assert (found.status is Status.RELAXED) == bool(found.violations)
