"""`OneClass`: what its generators draw, what it chooses, and what it guarantees."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from lcons_contrib.calibrate.one_class import GENERATORS, Domain, OneClass
from lcons_core import ConstraintLearner, FeatureSpace, InvalidInput, NotFitted, one_hot
from lcons_core._blocks import Requirement

QUICK = ConstraintLearner((1, 2), restarts=2, epochs=100)
COLOURS = FeatureSpace(
    [one_hot("colour", ["red", "blue", "green"]), one_hot("size", ["small", "large"])],
    [Requirement("size", "large", "colour", ("red", "blue"))],
)


def bits(number, d=8, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (number, d)) * 1.0


def at_most_two(psi):
    return psi.sum(1) <= 2


MIXED = np.column_stack([bits(60, 2), np.arange(60) % 5 + 3, np.linspace(-1.5, 2.5, 60)])


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_stay_in_the_domain(name):
    domain = Domain.of(MIXED[:, :3] if name == "unseen" else MIXED, None)
    positives = MIXED[:, : len(domain.low)]
    drawn = GENERATORS[name](domain, positives, np.random.default_rng(0), 500)
    assert ((drawn >= domain.low) & (drawn <= domain.high)).all()
    assert np.isin(drawn[:, :2], [0, 1]).all()
    assert set(drawn[:, 2]) == {3, 4, 5, 6, 7}
    if name != "unseen":
        assert (domain.low[3], domain.high[3]) == (-2.5, 3.5)
    again = GENERATORS[name](domain, positives, np.random.default_rng(0), 500)
    np.testing.assert_array_equal(drawn, again)


@pytest.mark.parametrize("name", GENERATORS)
def test_in_a_space_one_hot_blocks_change_together_and_impossible_points_are_dropped(name):
    positives = COLOURS.vectors(np.array([[0, 0], [1, 1], [2, 0]]))
    domain = Domain.of(positives, COLOURS)
    drawn = domain.psi(GENERATORS[name](domain, domain.coordinates(positives), np.random.default_rng(0), 300))
    assert len(drawn)
    assert COLOURS.contains(drawn).all()


def test_a_rule_is_found_from_valid_points_alone():
    valid = bits(800, 7)
    valid = valid[at_most_two(valid)]
    model = OneClass(0.1, learner=QUICK).fit(valid)
    every = Domain.of(valid, None).every()
    assert len(every) == 128
    assert (model.predict(every) == np.where(at_most_two(every), 1, -1)).mean() > 0.97
    np.testing.assert_array_equal(model.decision_function(every) >= 0, model.predict(every) == 1)
    np.testing.assert_array_equal(model.predict(scipy.sparse.csr_array(every)), model.predict(every))
    assert model.calibration_.alpha == 0.1
    assert model.calibration_.structures == len(valid) // 5
    assert not model.network_.rounded


def test_the_choice_has_the_smallest_sum_of_rejected_positives_and_accepted_references():
    # One valid point per colour: a change of one axis is always invalid, uniform points mostly.
    valid = COLOURS.vectors(np.array([[0, 0], [1, 1], [2, 0]] * 8))
    model = OneClass(0.2, space=COLOURS, learner=QUICK).fit(valid)
    assert [(row["negatives"], row["hidden"]) for row in model.results_] == [
        (name, K) for K in (1, 2) for name in GENERATORS
    ]
    for row in model.results_:
        accepted = [row[reference] for reference in ("uniform", "marginals", "change")]
        assert row["sum"] == pytest.approx(row["rejected"] + np.mean(accepted))
        assert row["rejected"] <= 0.2
    best = min(model.results_, key=lambda row: row["sum"])
    assert (model.negatives_, model.hidden_) == (best["negatives"], best["hidden"])


def test_one_generator_and_one_K_need_no_choice_and_reruns_are_bit_identical():
    valid = bits(300)
    valid = valid[at_most_two(valid)]
    settings = {"negatives": "uniform", "learner": ConstraintLearner(1, restarts=2, epochs=100)}
    models = [OneClass(0.2, **settings).fit(valid) for _ in range(2)]
    assert models[0].network_ == models[1].network_
    assert (models[0].results_, models[0].negatives_, models[0].hidden_) == ([], "uniform", 1)


def test_it_follows_the_conventions_of_scikit_learn():
    model = OneClass(0.1, seed=3)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(alpha=0.2).alpha == 0.2
    with pytest.raises(NotFitted):
        model.predict([[0.0]])


def test_too_few_points_and_large_domains_are_refused():
    for model, points in ((OneClass(0.05), bits(30)), (OneClass(negatives="unseen"), bits(100, 20))):
        with pytest.raises(InvalidInput):
            model.fit(points)
