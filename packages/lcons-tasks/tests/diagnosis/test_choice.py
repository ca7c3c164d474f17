"""What is chosen on gold labels is the simplest use of constraints that is about as good as the best."""

import json
import statistics

import numpy as np
import pytest

from lcons_core import Instance, InvalidInput, LearnedConstraint, Recipe, RectifierNetwork, iob2
from lcons_core.features import Counts
from lcons_decode import ChainScores, Hard, Scored, Soft, constrained_viterbi, forbidden_ngrams
from lcons_tasks import choose, diagnose, learn
from lcons_tasks.own_data import Structures
from lcons_tasks.stats import Interval, chunk_f1

LABELS = ("B-X", "I-X", "O")
# Without constraints each of these begins with a wrong label: an I after O.
BROKEN = [[0.5, 0.0, 1.0], [0.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
GOLD = ("B-X", "I-X", "O")
SCHEME = Hard(iob2(LABELS), "iob2")


def scored(*emissions, labels=LABELS):
    return [Scored(ChainScores(emission, labels=labels)) for emission in emissions]


def test_what_helps_is_chosen_with_its_gain():
    found = choose(scored(*[BROKEN] * 10), [SCHEME], [GOLD] * 10)
    assert [use.name for use in found.uses] == ["iob2"]
    assert (found.measure, found.sequences, found.folds) == ("span F1", 10, 5)
    assert (found.gain.mean, found.gain.low) == (pytest.approx(100), pytest.approx(100))
    # Everything from the smallest sufficient weight on is equally good, and that weight is the simplest.
    good = [option for option in found.options if option.mean == 100]
    assert len(good) > 1
    assert found.chosen == good[0]
    assert [option.mean for option in found.options] == sorted(option.mean for option in found.options)


def test_means_are_those_of_the_decoder_fold_by_fold():
    rng = np.random.default_rng(0)
    emissions = rng.normal(size=(17, 4, 3))
    gold = [tuple(rng.choice(LABELS, 4)) for _ in emissions]
    found = choose(scored(*emissions), [SCHEME], gold, weights=(0.5,), folds=4, cost="sigmoid")
    assert [str(option) for option in found.options] == [
        "nothing",
        "iob2: soft, weight 0.5, cost sigmoid",
        "iob2: hard",
    ]
    uses = [[], [Soft(SCHEME.constraint, 0.5)], [SCHEME]]
    for option, use in zip(found.options, uses, strict=True):
        answers = [constrained_viterbi(one.scores, use).y for one in scored(*emissions)]
        folds = ((0, 5), (5, 9), (9, 13), (13, 17))
        expected = np.mean([100 * chunk_f1(gold[a:b], answers[a:b]).f1 for a, b in folds])
        assert option.mean == pytest.approx(expected)


def test_nothing_is_chosen_where_nothing_helps():
    fine = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]
    harmful = Hard(forbidden_ngrams(LABELS, [("B-X", "I-X")]), "no spans of two")
    for constraint in (SCHEME, harmful):
        found = choose(scored(*[fine] * 6), [constraint], [GOLD] * 6)
        assert (str(found.chosen), found.uses, str(found.gain)) == ("nothing", (), "+0.00 [+0.00, +0.00]")


def test_a_constraint_that_gold_breaks_is_chosen_soft():
    # In every fold two sequences need the rule, and one, with clear scores, breaks it.
    clear = [[0.0, 0.0, 30.0], [0.0, 30.0, 0.0], [0.0, 0.0, 30.0]]
    emissions, gold = [BROKEN, BROKEN, clear] * 5, [GOLD, GOLD, ("O", "I-X", "O")] * 5
    found = choose(scored(*emissions), [SCHEME], gold)
    assert isinstance(found.uses[0], Soft)
    assert found.chosen.mean == 100
    hard = next(option for option in found.options if str(option) == "iob2: hard")
    assert hard.mean < 100


def simplest(by_fold):
    """The first option within one standard error of the best; by_fold: F1 of each option in each fold."""
    best = max(by_fold, key=statistics.mean)
    for i, own in enumerate(by_fold):
        behind = [a - b for a, b in zip(best, own, strict=True)]
        # A difference in one fold alone is exactly one standard error.
        if statistics.mean(behind) <= 1.000001 * statistics.stdev(behind) / len(behind) ** 0.5:
            return i
    return None


@pytest.mark.parametrize("seed", [2, 8, 11, 18])  # folds choose differently
def test_the_gain_is_measured_on_folds_that_did_not_choose(seed):
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(20, 4, 3))
    gold = [("B-X", "I-X", "O", "O") if rng.random() < 0.7 else ("O",) * 4 for _ in emissions]
    gold[0] = ("O", "I-X", "O", "O")  # so that soft comes before hard
    found = choose(scored(*emissions), [SCHEME], gold)
    answers = [
        [constrained_viterbi(one.scores, option.uses).y for one in scored(*emissions)]
        for option in found.options
    ]
    folds = [slice(first, first + 4) for first in range(0, 20, 4)]
    by_fold = [[chunk_f1(gold[fold], own[fold]).f1 for fold in folds] for own in answers]
    honest, chosen = [], set()
    for f, fold in enumerate(folds):
        i = simplest([own[:f] + own[f + 1 :] for own in by_fold])
        chosen.add(i)
        honest += answers[i][fold]
    assert len(chosen) > 1
    expected = 100 * (chunk_f1(gold, honest).f1 - chunk_f1(gold, answers[0]).f1)
    assert found.nested.mean == pytest.approx(expected)
    assert found.chosen == found.options[simplest(by_fold) if expected > 0 else 0]
    assert found.gain == (found.nested if found.uses else Interval(0, 0, 0))


def test_nothing_is_chosen_where_choosing_did_not_gain():
    # The rule helps in all folds but the last, where it costs more than all of them gain.
    helped, harmed = [BROKEN] * 2, [[[0.0, 0.0, 1.0], [0.0, 1.2, 0.0], [0.0, 0.0, 1.0]]] * 2
    emissions = [*helped, *harmed] * 4 + harmed * 2
    right, wrong = [GOLD] * 2, [("O", "O", "O")] * 2
    gold = (right + wrong) * 4 + [("O", "I-X", "O")] * 4
    found = choose(scored(*emissions), [SCHEME], gold, weights=())
    best = max(found.options, key=lambda option: option.mean)
    assert str(best) == "iob2: hard"
    assert found.nested.mean < 0
    assert (str(found.chosen), str(found.gain)) == ("nothing", "+0.00 [+0.00, +0.00]")


def test_labels_that_are_no_spans_are_measured_by_accuracy():
    labels = ("NN", "VB")
    rule = Hard(forbidden_ngrams(labels, [("NN", "NN")]), "no NN after NN")
    found = choose(scored(*[[[1.0, 0.0], [0.3, 0.0]]] * 5, labels=labels), [rule], [("NN", "VB")] * 5)
    assert found.measure == "token accuracy"
    assert (found.options[0].mean, found.chosen.mean) == (50, 100)
    assert found.gain.mean == pytest.approx(50)


def test_the_column_gold_is_read_and_sequences_without_it_are_left_out():
    with_gold = [Scored(one.scores, {"gold": GOLD}) for one in scored(*[BROKEN] * 6)]
    found = choose([*scored(BROKEN), *with_gold], [SCHEME])
    assert (found.sequences, bool(found.uses)) == (6, True)


def test_global_constraints_can_be_chosen():
    feature = Counts(LABELS, high=4)
    some = LearnedConstraint(RectifierNetwork([[-2.0, 0.0, 0.0]], [2.0]), feature.space, feature)
    assert [some.satisfied(Instance({}, y)) for y in (GOLD, ("O", "I-X", "O"))] == [True, False]
    found = choose(scored(*[BROKEN] * 5), [Hard(some, "some B-X")], [GOLD] * 5)
    assert [use.name for use in found.uses] == ["some B-X"]


def test_the_same_data_give_the_same_choice_as_plain_data():
    seen = []
    found = choose(scored(*[BROKEN] * 5), [SCHEME], [GOLD] * 5, progress=lambda *now: seen.append(now))
    again = choose(scored(*[BROKEN] * 5), [SCHEME], [GOLD] * 5)
    assert found.to_dict() == again.to_dict() == json.loads(json.dumps(found.to_dict()))
    # With weight 0.5 both labellings have the score 5.5, and the gold one is the first.
    assert found.to_dict()["constraints"] == [{"name": "iob2", "weight": 0.5, "cost": "hinge"}]
    assert seen == [(i, 7) for i in range(1, 8)]


@pytest.mark.parametrize(
    "changes",
    [
        {"gold": [GOLD] * 4},
        {"gold": [GOLD[:2]] * 6},
        {"gold": None},
        {"folds": 2},
        {"folds": 7},
        {"weights": (0.0, 1.0)},
        {"constraints": [Soft(SCHEME.constraint, 0.5, "s")]},
    ],
)
def test_what_cannot_be_chosen_from_is_refused(changes):
    given = {"constraints": [SCHEME], "gold": [GOLD] * 6, **changes}
    with pytest.raises(InvalidInput):
        choose(scored(*[BROKEN] * 6), **given)


def test_hard_is_chosen_where_gold_labels_allow_it():
    """With gold labels of many windows, none broken, hard is as good as soft and needs no weight."""
    few, many = (choose(scored(*[BROKEN] * n), [SCHEME], [GOLD] * n) for n in (10, 60))
    assert (few.recommendation.use, many.recommendation.use) == ("soft", "hard")
    assert many.recommendation.weight is None


@pytest.mark.parametrize("noise", [0.3, 2.0])
@pytest.mark.parametrize("obeys", [True, False])
def test_learn_diagnose_and_choose_never_contradict_each_other(noise, obeys):
    """On the same gold labels and scores: all that say how say the same; diagnose quotes choose."""
    rng = np.random.default_rng(0)
    gold = [tuple(y) for _ in range(60) for y in (("B-X", "I-X", "O", "B-X", "O"), ("O", "O", "B-X", "I-X"))]
    if not obeys:
        gold = [("O", "I-X", "O", "O") if i % 9 == 0 else y for i, y in enumerate(gold)]
    emissions = [
        rng.normal(0, noise, (len(y), 3)) + [[label == v for v in LABELS] for label in y] for y in gold
    ]
    data = Structures(tuple(Instance({}, y) for y in gold))
    regular = Structures(tuple(one for one in data.instances if one.y[1:2] != ("I-X",) or one.y[0] != "O"))
    by_labels = learn(regular, Recipe(hidden=3), data)
    constraint = by_labels.constraint
    chosen = choose(scored(*emissions), [Hard(constraint, "learned")], gold).recommendation
    diagnosed = diagnose(constraint, regular, data, scored(*emissions))
    assert (diagnosed.use, diagnosed.weight, diagnosed.advice) == (chosen.use, chosen.weight, str(chosen))
    assert by_labels.recommendation.use == ("hard" if obeys else "soft")
    assert chosen.use in ("nothing", by_labels.recommendation.use)
