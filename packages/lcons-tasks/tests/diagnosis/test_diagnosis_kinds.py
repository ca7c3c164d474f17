"""The diagnosis of tuples, psi vectors and features of one's own, on data whose constraints are known."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import pytest

from lcons_core import (
    FeatureSpace,
    Instance,
    InvalidInput,
    LearnedConstraint,
    Recipe,
    RectifierNetwork,
    SparsePsi,
    binary,
    one_hot,
)
from lcons_core._instance import read_instance
from lcons_core.features import ConstraintFeature, Scope
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis import diagnose
from lcons_tasks.diagnosis._given import NOT_USED
from lcons_tasks.own_data import PsiTable, Structures, learn

SOURCES, RELATIONS = ("Person", "Place", "Firm", "None"), ("no", "kill", "live", "at", "based")
ALLOWED = {"Person": ("no", "kill", "live"), "Place": ("no", "at"), "Firm": ("no", "based"), "None": ("no",)}
SMALL = {"restarts": 2, "epochs": 200}


def documents(seed, size, obeys=True):
    """Structures of one to five (source, relation) pairs, allowed ones or any."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(size):
        sources = rng.choice(SOURCES, rng.integers(1, 6), p=[0.4, 0.3, 0.2, 0.1])
        skewed = [0.4, 0.3, 0.15, 0.1, 0.05]
        made.append(
            tuple(
                (str(s), str(rng.choice(ALLOWED[s]) if obeys else rng.choice(RELATIONS, p=skewed)))
                for s in sources
            )
        )
    return Structures(tuple(Instance({}, y) for y in made), tuples=True)


def noisy(data, share, seed=0):
    rng = np.random.default_rng(seed)
    return [
        tuple((s, str(rng.choice(RELATIONS)) if rng.random() < share else r) for s, r in one.y)
        for one in data.instances
    ]


TRAIN, HELD_OUT = documents(1, 120), documents(2, 60)


@cache
def pairs(obeys=True):
    return learn(documents(1, 120, obeys), Recipe(hidden=3, names=("source", "relation"))).constraint


def rows(seed, size, obeys=True):
    """0/1 vectors of eight columns; valid are those with at most three ones, or any."""
    rng = np.random.default_rng(seed)
    X = (rng.random((size, 8)) < 0.45).astype(float)
    valid = X.sum(1) <= 3 if obeys else rng.random(size) < 0.5
    return PsiTable(tuple("abcdefgh"), X, valid)


@cache
def table_constraint(obeys=True, **settings):
    return learn(rows(1, 200, obeys), Recipe(hidden=2, **settings)).constraint


def names(found):
    return [verdict.name for verdict in found.verdicts]


def test_pairs_that_obey_a_constraint_have_one_that_was_found():
    found = diagnose(pairs(), TRAIN, HELD_OUT)
    assert names(found) == ["exists", "found by the learner"]
    assert (found.feature, found.negatives, found.units) == ("tuples", "unseen", "structures")
    assert "over shuffled members" in found.verdicts[0].because
    assert not found.warnings


@pytest.mark.parametrize("seed", [0, 1])
def test_members_drawn_independently_obey_no_constraint(seed):
    train, held_out = documents(10 + seed, 8, False), documents(20 + seed, 80, False)
    constraint = learn(train, Recipe(hidden=3)).constraint
    assert names(diagnose(constraint, train, held_out, seed=seed)) == ["no such constraint"]


def test_a_model_of_pairs_obeys_or_should_be_helped():
    assert names(diagnose(pairs(), TRAIN, HELD_OUT, [one.y for one in HELD_OUT.instances])) == [
        "exists",
        "found by the learner",
        "already obeyed",
    ]
    found = diagnose(pairs(), TRAIN, HELD_OUT, noisy(HELD_OUT, 0.3))
    assert names(found) == ["exists", "found by the learner", "should help"]
    judged = found.obedience
    right = [
        a == b
        for one, y in zip(HELD_OUT.instances, noisy(HELD_OUT, 0.3), strict=True)
        for a, b in zip(one.y, y, strict=True)
    ]
    assert (judged.error_if_violated, judged.false_alarms) == (100, 0)
    assert judged.headroom.value == pytest.approx(judged.violations.value)
    assert judged.accuracy == pytest.approx(100 * np.mean(right))


def test_pairs_that_training_never_had_are_a_warning():
    swapped = Structures(tuple(Instance({}, (("None", "kill"), ("Person", "no"))) for _ in range(20)), True)
    found = diagnose(pairs(), TRAIN, swapped, [one.y for one in swapped.instances])
    assert found.coverage.unseen_psi == found.coverage.unseen_predicted == 50
    assert found.warnings[:2] == (
        "50.0% of held-out gold psi are unlike training; the constraint rejects 100.0% of these, and 0.0%"
        " of the others",
        "50.0% of predicted psi are unlike training",
    )


def test_where_shuffled_pairs_are_told_as_well_there_is_no_such_constraint():
    data = Structures((Instance({}, (("P", "k"), ("L", "n"), ("P", "n"))),), tuples=True)
    constraint = learn(data, Recipe(hidden=1)).constraint
    found = diagnose(constraint, data, data)
    assert found.shuffled.balanced_accuracy.value == 100
    assert found.verdicts[0].because.startswith("skill 0.00 [0.00, 0.00]% over shuffled members, not clearly")


def test_vectors_that_obey_a_constraint_have_one_that_was_found():
    found = diagnose(table_constraint(), rows(1, 200), rows(2, 100))
    assert names(found) == ["exists", "found by the learner"]
    assert (found.feature, found.negatives, found.units) == ("psi of 8 columns", "given", "rows")
    assert "over a shuffled column `valid`" in found.verdicts[0].because
    assert found.report().startswith(
        "psi of 8 columns; invalid rows as given; seed 0\n200 training and 100 held-out rows"
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_vectors_that_are_valid_by_chance_obey_no_constraint(seed):
    found = diagnose(table_constraint(False), rows(1, 200, False), rows(2, 200, False), seed=seed)
    assert names(found) == ["no such constraint"]


def test_a_network_that_accepts_all_vectors_has_not_found_what_exists():
    space = table_constraint().space
    constant = LearnedConstraint(RectifierNetwork(np.zeros((1, 8)), [0.0]), space)
    assert names(diagnose(constant, rows(1, 200), rows(2, 100))) == ["exists", "not found by the learner"]


def test_predicted_vectors_are_judged_beside_the_valid_ones():
    held_out = rows(2, 100)
    gold = held_out.X[held_out.valid]
    answers = np.where(np.random.default_rng(0).random(gold.shape) < 0.2, 1 - gold, gold)
    table = PsiTable(held_out.names, answers, np.zeros(len(gold), dtype=bool))
    found = diagnose(table_constraint(), rows(1, 200), held_out, table)
    assert names(found) == ["exists", "found by the learner", "should help"]
    judged = found.obedience
    wrong, broken = (answers != gold).any(1), answers.sum(1) > 3
    assert judged.accuracy == pytest.approx(100 * np.mean(~wrong))
    assert judged.violations.value == pytest.approx(100 * np.mean(broken))
    assert judged.headroom.value == pytest.approx(100 * np.mean(wrong & broken))
    with pytest.raises(InvalidInput, match="a predicted row for each of"):
        diagnose(table_constraint(), rows(1, 200), held_out, held_out)


def test_vectors_outside_the_range_of_training_are_a_warning():
    names_ = ("a", "b")
    train = PsiTable(names_, np.array([[1.0, 0], [2, 1], [5, 5]]), np.array([True, True, False]))
    held_out = PsiTable(
        names_, np.array([[1.0, 1], [3, 1], [0, 0], [9, 9]]), np.array([True, True, True, False])
    )
    constraint = learn(train, Recipe(hidden=1)).constraint
    covered = diagnose(constraint, train, held_out).coverage
    # Valid in training: a is 1 or 2 and b 0 or 1; so (3, 1) and (0, 0) leave that.
    assert covered.unseen_psi == pytest.approx(100 * 2 / 3)
    assert "66.7% of held-out gold psi are unlike training" in covered.warnings()[0]


def test_blocks_of_a_space_are_columns_called_by_block_and_value():
    space = FeatureSpace([one_hot("source", ("P", "L")), binary("bit", ("on",))])
    constraint = LearnedConstraint(RectifierNetwork([[0, 1, 1]], [0.0]), space)
    X = np.array([[1.0, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]] * 10)
    table = PsiTable(("source=P", "source=L", "on"), X, X[:, 1:].sum(1) < 2)
    found = diagnose(constraint, table, table)
    assert names(found) == ["exists", "found by the learner"]
    assert found.constraint.balanced_accuracy.value == 100


def test_a_table_of_valid_vectors_is_corrupted_by_the_source_that_was_recorded():
    def doubled(seed, size):
        X = np.random.default_rng(seed).integers(0, 2, (size, 4)).repeat(2, axis=1)
        return PsiTable(tuple("abcdefgh"), X.astype(float), np.ones(size, dtype=bool))

    train, held_out = doubled(1, 60), doubled(2, 60)
    constraint = learn(train, Recipe(hidden=4, negatives="flip")).constraint
    found = diagnose(constraint, train, held_out)
    assert (found.negatives, names(found)) == ("flip", ["exists", "found by the learner"])
    assert "over shuffled columns" in found.verdicts[0].because
    some = replace(held_out, valid=np.arange(60) < 40)
    found = diagnose(constraint, train, some)
    assert (found.not_asked, found.held_out_size) == ((NOT_USED,), 40)


def test_what_a_table_cannot_answer_is_said_and_the_rest_is_answered():
    train, held_out = rows(1, 200), rows(2, 100)
    valid = held_out.take(held_out.valid)
    for given in ((train, valid), (train.take(train.valid), valid)):
        found = diagnose(table_constraint(), *given, valid)
        assert not found.verdicts
        (said,) = found.not_asked
        assert said.startswith("whether such a constraint exists and was found: expected invalid")
        assert found.obedience.accuracy == 100
        assert f"gold that the constraint rejects: {found.coverage.rejected:.1f}%" in found.report()
        assert found.coverage.rejected == found.obedience.gold_violations.value


@dataclass(frozen=True)
class Steps(ConstraintFeature):
    """A feature of one's own: each label but the first, and whether it repeats the one before."""

    kind = "steps"
    scope = Scope.LOCAL
    column = "word"

    @cached_property
    def space(self):
        return FeatureSpace([one_hot("label", "ABC"), binary("same", ("same",))])

    def psi(self, structure):
        y = read_instance(structure, self.column).y
        return SparsePsi.from_indices(
            [["ABC".index(y[t])] + [3] * (y[t] == y[t - 1]) for t in range(1, len(y))], 4
        )

    @classmethod
    def from_instances(cls, *structures, **options):
        return cls()


def test_a_feature_of_ones_own_is_diagnosed_too():
    rng = np.random.default_rng(0)

    def made(size):
        """No label but C follows itself."""
        found = []
        for _ in range(size):
            y = ["A"]
            while len(y) < 8:
                y.append(str(rng.choice([label for label in "ABC" if label != y[-1] or label == "C"])))
            found.append(Sentence("w" * 8, y))
        return found

    train, held_out = made(80), made(80)
    constraint = LearnedConstraint(RectifierNetwork([[1, 1, 0, 1]], [0.0]), Steps().space, Steps())
    wrong = [("A", *s.labels[1:-1], s.labels[-2]) for s in held_out]
    found = diagnose(constraint, train, held_out, wrong)
    assert "exists" in found
    assert found.constraint.gold_accepted == 100
    judged = found.obedience
    broken = [a == b != "C" for y in wrong for a, b in pairwise(y)]
    assert judged.violations.value == pytest.approx(100 * np.mean(broken))
    # It does not say what a part covers, so that a violation is charged with the whole sequence.
    errors = [y[-1] != s.labels[-1] for s, y in zip(held_out, wrong, strict=True)]
    charged = [e and y[-1] != "C" for e, y in zip(errors, wrong, strict=True)]
    assert judged.headroom.value == pytest.approx(100 * np.mean(charged) / 8)
