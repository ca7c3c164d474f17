"""Draws under constraints have exactly the conditional distribution: compared with enumeration, without
drawing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from chain_strategies import chains, columns, learned, local_uses
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, TooLarge, Unsupported, iob2
from lcons_core.features import Counts, Existence
from lcons_decode import (
    AutoregressiveSampler,
    ChainConstraints,
    ChainScores,
    Hard,
    LabelLattice,
    Soft,
    marginals,
    sample,
)

NEAR = 1e-9


@st.composite
def cases(draw, max_T=3, min_T=0):
    """Scores, local constraints of both kinds, and hard ones on whole sequences, one with a label more."""
    scores = draw(chains(max_T=max_T, max_L=3, min_T=min_T))
    uses = draw(local_uses(scores.labels, min_size=0, max_size=2, max_n=3))
    for i in range(draw(st.integers(0, 2))):
        known = scores.L == 1 or draw(st.booleans())
        labels = scores.labels if known else (*scores.labels[1:], "e")
        feature = draw(
            st.one_of(
                st.builds(Existence, st.just(labels), st.integers(1, 2)),
                st.builds(Counts, st.just(labels), st.just(8), st.booleans()),
            )
        )
        uses.append(Hard(draw(learned(feature)), f"g{i}"))
    return scores, uses, draw(columns(len(scores)))


def enumerated(scores, uses, x) -> dict[tuple[str, ...], float]:
    """The probability of each labelling, by the definitions; empty if there is none."""
    compiled = ChainConstraints.of(uses, scores.labels)
    totals = {
        y: scores.score(y) + compiled.penalty(y, x)
        for y in product(scores.labels, repeat=len(scores))
        if not compiled.violations(y, x)
    }
    totals = {y: total for y, total in totals.items() if total > -np.inf}
    top = max(totals.values(), default=0.0)
    weights = {y: np.exp(total - top) for y, total in totals.items()}
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def divergence(law: dict, other: dict) -> float:
    """KL(law || other)."""
    return sum(p * (np.log(p) - np.log(other[y])) for y, p in law.items() if p > 0)


def law_of(lattice: LabelLattice) -> dict[tuple[str, ...], float]:
    """What `sample` draws from: the product of the probabilities of its choices."""
    found = {}
    for y in product(range(len(lattice.labels)), repeat=len(lattice)):
        state, total = lattice.start, 1.0
        for label in y:
            total *= lattice.probability(state)[label]
            if not total:
                break
            state = lattice.step(state, label)
        if total:
            found[tuple(lattice.labels[label] for label in y)] = float(total)
    return found


@given(cases())
@settings(max_examples=60)
def test_the_law_of_draws_is_that_of_enumeration(case):
    scores, uses, x = case
    wanted = enumerated(scores, uses, x)
    lattice = LabelLattice.of(scores, uses, x)
    assert (lattice.log_partition == -np.inf) == (not wanted)
    if not wanted:
        with pytest.raises(InvalidInput, match="no labelling satisfies"):
            sample(scores, uses, x)
        return
    law = law_of(lattice)
    assert set(law) == set(wanted)
    assert abs(divergence(wanted, law)) < NEAR
    assert abs(divergence(law, wanted)) < NEAR
    for y, p in wanted.items():
        assert np.exp(lattice.log_probability(y)) == pytest.approx(p, abs=1e-12)
    assert set(sample(scores, uses, x, count=20)) <= set(wanted)


@given(cases(min_T=1), st.integers(0, 2**16))
@settings(max_examples=40)
def test_a_trial_of_an_autoregressive_model_returns_labellings_in_the_right_proportions(case, seed):
    """Before any draw, and after some: the bounds have changed, and the proportions have not."""
    scores, uses, x = case
    T, labels = len(scores), scores.labels
    rng = np.random.default_rng(seed)
    table: dict[tuple[str, ...], np.ndarray] = {}

    def following(prefix):
        return table.setdefault(prefix, np.log(rng.dirichlet(np.ones(len(labels) + 1)))[: len(labels)])

    free = ChainScores(np.zeros((T, len(labels))), labels=labels)
    compiled = ChainConstraints.of(uses, labels)
    wanted = {}
    for y in enumerated(free, uses, x):
        model = sum(following(y[:t])[labels.index(y[t])] for t in range(T))
        wanted[y] = np.exp(model + compiled.penalty(y, x))
    if not wanted:
        with pytest.raises(InvalidInput, match="no labelling of"):
            AutoregressiveSampler(following, T, labels, uses, x)
        return
    total = sum(wanted.values())
    wanted = {y: weight / total for y, weight in wanted.items()}
    sampler = AutoregressiveSampler(following, T, labels, uses, x, most=3 if seed % 2 else 2**10)
    shares = []
    for draws in (0, 3, 20):
        for _ in range(draws):
            assert sampler.draw(rng).y in wanted
        law = {}
        for y in wanted:
            given_labels = iter(labels.index(name) for name in y)
            _, _, proposed, accepted = sampler.walk(lambda options, own=given_labels: next(own))
            assert accepted <= 1e-9
            law[y] = np.exp(proposed + accepted)
        shares.append(sum(law.values()))
        assert abs(divergence(wanted, {y: p / shares[-1] for y, p in law.items()})) < NEAR
    assert shares[0] <= shares[1] + 1e-9 <= shares[2] + 2e-9 <= 1 + 1e-8


def test_masking_is_another_distribution():
    """Half of the mass after A leads nowhere, which masking does not know."""
    labels = ("A", "B")
    both = Existence(labels)
    needs_a_and_b = LearnedConstraint(
        RectifierNetwork([[-2.0, 0.0], [0.0, -2.0]], [2.0, 2.0]), both.space, both
    )
    following = {(): np.log([0.5, 0.5]), ("A",): np.log([0.9, 0.1]), ("B",): np.log([0.5, 0.5])}
    sampler = AutoregressiveSampler(following.__getitem__, 2, labels, [needs_a_and_b])
    rng = np.random.default_rng(0)
    share = np.mean([sampler.draw(rng).y == ("A", "B") for _ in range(4000)])
    assert abs(share - 1 / 6) < 0.03  # masking would give 1/2
    assert sampler.draw(rng).trials == 1


@given(chains(max_T=4, min_T=1), st.data())
@settings(max_examples=15)
def test_without_global_constraints_the_sums_are_those_of_marginals(scores, data):
    uses = data.draw(local_uses(scores.labels, max_n=3))
    x = data.draw(columns(len(scores)))
    wanted = marginals(scores, uses, x)
    lattice = LabelLattice.of(scores, uses, x)
    if np.isfinite(wanted.log_partition):
        assert lattice.log_partition == pytest.approx(wanted.log_partition, abs=1e-9)
    else:
        assert lattice.log_partition == wanted.log_partition


def test_draws_repeat_with_a_seed_and_follow_the_law():
    scores = ChainScores([[1.0, 0.5, 0.0]] * 4, labels=["B", "I", "O"])
    first, again, other = (sample(scores, [iob2(scores.labels)], count=4000, seed=s) for s in (1, 1, 2))
    assert first == again != other
    law = enumerated(scores, [Hard(iob2(scores.labels))], None)
    counts = {y: first.count(y) for y in law}
    chi = sum((counts[y] - 4000 * p) ** 2 / (4000 * p) for y, p in law.items())
    assert chi < len(law) + 6 * np.sqrt(2 * len(law))


def test_what_a_lattice_cannot_do_is_refused_by_name(monkeypatch):
    scores = ChainScores(np.zeros((3, 2)), labels=["A", "B"])
    exists = Existence(("A", "B"))
    some = LearnedConstraint(RectifierNetwork([[1.0, 1.0]], [0.0]), exists.space, exists)
    with pytest.raises(Unsupported, match="'few' is a soft constraint on whole sequences"):
        LabelLattice.of(scores, [Soft(some, 1.0, "few")])
    monkeypatch.setattr("lcons_decode.chains._label_lattice.MAX_NUMBERS", 20)
    with pytest.raises(TooLarge, match="has 30 numbers, above the limit of 20"):
        LabelLattice.of(scores)
    monkeypatch.undo()
    lattice = LabelLattice.of(scores)
    with pytest.raises(InvalidInput, match="one label for each of 3 tokens, found 1"):
        lattice.log_probability(["A"])
    with pytest.raises(InvalidInput, match="unknown label 'C'"):
        lattice.log_probability(["A", "C", "A"])
    with pytest.raises(InvalidInput, match="sum to at most one"):
        AutoregressiveSampler(lambda prefix: np.zeros(2), 3, ["A", "B"]).draw(np.random.default_rng(0))
    nothing = AutoregressiveSampler(lambda prefix: np.full(2, -np.inf), 3, ["A", "B"])
    with pytest.raises(InvalidInput, match="any probability"):
        nothing.draw(np.random.default_rng(0))
    empty = AutoregressiveSampler(lambda prefix: np.zeros(2), 0, ["A", "B"])
    assert empty.draw(np.random.default_rng(0)).y == ()
