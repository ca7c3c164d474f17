"""The diagnosis, on made-up languages whose constraints are known."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, Unsupported, iob2, learn_constraints
from lcons_core.features import Counts, NgramContext, NgramLabels, Tuples
from lcons_tasks.data import Sentence
from lcons_tasks.diagnosis import diagnose, predict
from lcons_tasks.diagnosis._diagnosis import conclude
from lcons_tasks.diagnosis._material import StructureMaterial, shuffled_labels
from lcons_tasks.diagnosis._obedience import Obedience
from lcons_tasks.models._linear_crf import train_linear
from lcons_tasks.stats import Estimate, Resampler

TAGS = "stuvw"
LABELS = "ABCDE"


def language(seed, size, obeys):
    """Sentences of five tags; obeying ones give tag i label i, or the next label after a B."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(size):
        tags = rng.integers(0, 5, rng.integers(3, 12))
        if obeys:
            y = []
            for tag in tags:
                y.append((tag + (bool(y) and y[-1] == 1)) % 5)
        else:
            y = rng.choice(5, len(tags), p=[0.4, 0.3, 0.15, 0.1, 0.05])  # type: ignore[assignment]
        columns = {"pos": tuple(TAGS[tag] for tag in tags)}
        made.append(Sentence(columns["pos"], tuple(LABELS[label] for label in y), columns))
    return made


def noisy(sentences, share, seed=0):
    rng = np.random.default_rng(seed)
    return [
        tuple(LABELS[rng.integers(5)] if rng.random() < share else label for label in s.labels)
        for s in sentences
    ]


@cache
def learned(obeys, feature="pos", n=2, hidden=10):
    train = [sentence.instance for sentence in language(1, 150, obeys)]
    options = {"hidden": hidden, "restarts": 1, "epochs": 60}
    return learn_constraints(train, feature, n=n, negatives=NEGATIVES[feature], **options)


NEGATIVES = {"pos": "relabel", "existence": "flip", "ngram": "unseen"}
TRAIN, HELD_OUT = language(1, 150, True), language(2, 150, True)


@cache
def diagnosed(noise, hidden=10):
    predictions = None if noise is None else noisy(HELD_OUT, noise)
    return diagnose(learned(True, hidden=hidden), TRAIN, HELD_OUT, predictions, negatives="relabel")


def names(diagnosis):
    return [verdict.name for verdict in diagnosis.verdicts]


@pytest.mark.parametrize(("feature", "n"), [("pos", 2), ("existence", 2), ("ngram", 2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_drawn_independently_obey_no_constraint(feature, n, seed):
    train, held_out = language(10 + seed, 20, False), language(20 + seed, 100, False)
    options = {"hidden": 4, "restarts": 1, "epochs": 20}
    instances = [sentence.instance for sentence in train]
    constraint = learn_constraints(instances, feature, n=n, negatives=NEGATIVES[feature], **options)
    found = diagnose(
        constraint, train, held_out, noisy(held_out, 0.3), seed=seed, negatives=NEGATIVES[feature]
    )
    assert names(found) == ["no such constraint"]


def test_where_every_window_occurs_there_is_no_such_constraint():
    train, held_out = language(3, 400, False), language(4, 50, False)
    feature = NgramLabels(tuple(LABELS), n=1)
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 5)), [0.0]), feature.space, feature)
    found = diagnose(everything, train, held_out)
    assert names(found) == ["no such constraint"]
    assert "nothing is ruled out" in str(found)
    assert found.constraint is None


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_a_constant_network_has_not_found_what_exists(bias):
    feature = learned(True).feature
    constant = LearnedConstraint(
        RectifierNetwork(np.zeros((1, feature.space.d)), [bias]), feature.space, feature
    )
    found = diagnose(constant, TRAIN, HELD_OUT, noisy(HELD_OUT, 0.2))
    assert names(found) == ["exists", "not found by the learner", "not obeyed, nor found"]
    assert found.constraint.balanced_accuracy.value == 50


def test_one_unit_cannot_find_what_a_table_holds():
    assert names(diagnosed(None, hidden=1)) == ["exists", "not found by the learner"]


def test_a_model_that_predicts_gold_already_obeys():
    found = diagnosed(0.0)
    assert names(found) == ["exists", "found by the learner", "already obeyed"]
    assert found.obedience.excess == Estimate(0.0, 0.0, 0.0)
    assert found.obedience.headroom.value == 0


def test_a_constraint_that_a_noisy_model_breaks_should_help():
    found = diagnosed(0.2)
    assert names(found) == ["exists", "found by the learner", "should help"]
    judged = found.obedience
    assert judged.violations.low > judged.gold_violations.high
    assert judged.error_if_violated > judged.error_otherwise
    assert 0 < judged.headroom.value <= 100 - judged.accuracy + 1e-9


def test_without_predictions_only_the_data_and_the_learner_are_judged():
    found = diagnosed(None)
    assert names(found) == ["exists", "found by the learner"]
    assert found.obedience is None
    assert found.reference_obedience is None


def test_the_scheme_of_labels_is_found_to_exist_and_obeyed_by_a_crf():
    rng = np.random.default_rng(0)

    def chunked(size):
        made = []
        for _ in range(size):
            y = [
                label
                for _ in range(4)
                for label in (["B-X", *["I-X"] * rng.integers(3)], ["O"])[rng.integers(2)]
            ]
            made.append(Sentence(tuple(label[0].lower() for label in y), tuple(y)))
        return made

    train, held_out = chunked(100), chunked(100)
    predictions = predict(train_linear(train), held_out)
    found = diagnose(iob2(["B-X", "I-X", "O"]), train, held_out, predictions)
    assert found.negatives == "unseen"
    assert "exists" in found
    assert "already obeyed" in found


def test_excess_is_what_speaks_for_gold_less_what_speaks_against_it():
    judged = diagnosed(0.2).obedience
    assert judged.excess.value == pytest.approx(judged.for_gold - judged.against_gold)


def test_headroom_counts_wrong_labels_inside_violating_windows_once():
    feature = NgramLabels(("A", "B"), n=2)
    no_bb = LearnedConstraint(RectifierNetwork([[0, 1, 0, 1]], [0.0]), feature.space, feature)
    held_out = [Sentence("wwww", "AAAB"), Sentence("ww", "AB")]
    found = diagnose(no_bb, held_out, held_out, ["BBBA", "AB"])
    judged = found.obedience
    # Windows: BB, BB, BA | AB; the first two violate, and cover three of six tokens, all wrong.
    assert judged.violations.value == 50
    assert judged.headroom.value == pytest.approx(100 * 3 / 6)
    assert judged.error_if_violated == 100
    assert judged.error_otherwise == pytest.approx(100 * (1 + 0) / 2)
    assert judged.false_alarms == 0


def test_sentences_with_unknown_labels_are_left_out_and_counted():
    strange = Sentence("ww", ("A", "Z"), {"pos": "st"})  # type: ignore[dict-item]
    found = diagnose(learned(True), [*TRAIN, strange], [*HELD_OUT, strange, strange])
    covered = found.coverage
    assert (covered.left_out.count, covered.left_out_training.count) == (2, 1)
    assert (found.train_size, found.held_out_size) == (len(TRAIN), len(HELD_OUT))
    said = f"left out: 2 of {len(HELD_OUT) + 2} held-out sentences, which the constraint cannot read"
    assert f"{said} (sentence {len(HELD_OUT) + 1}, unknown label 'Z')" in found.warnings


def test_a_prediction_with_an_unknown_label_is_left_out_too():
    predictions = noisy(HELD_OUT, 0.0)
    predictions[0] = ("Z",) * len(HELD_OUT[0])
    left = diagnose(learned(True), TRAIN, HELD_OUT, predictions).coverage.left_out
    assert (left.count, left.example) == (1, "sentence 1, predicted: unknown label 'Z'")


def test_contexts_that_training_never_saw_are_a_warning():
    moved = [
        Sentence(s.words, s.labels, {"pos": tuple(s.columns["pos"][0] + "!" for _ in s.words)})
        for s in HELD_OUT
    ]
    found = diagnose(learned(True), TRAIN, moved)
    assert found.coverage.other_tokens == found.coverage.unseen_contexts == found.coverage.unseen_psi == 100
    assert any("100.0% of held-out tokens" in warning for warning in found.warnings)
    assert not diagnosed(None).warnings


def test_counts_outside_the_range_of_training_are_a_warning_and_beyond_the_bound_left_out():
    feature = Counts(("A", "B"), high=4)
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, 2)), [0.0]), feature.space, feature)
    train = [Sentence("ww", "AB"), Sentence("www", "AAB")]
    held_out = [Sentence("w" * len(y), y) for y in ("AB", "AAB", "AAAB", "B", "AABB", "AAAAAB")]
    covered = diagnose(everything, train, held_out, [s.labels for s in held_out]).coverage
    # Training has one or two A and one B: AAAB, B (no A) and AABB leave that.
    assert covered.unseen_psi == covered.unseen_predicted == pytest.approx(100 * 3 / 5)
    assert (covered.left_out.count, covered.unseen_columns) == (1, 0)
    assert "label 'A' occurs 5 times" in covered.left_out.example
    assert "60.0% of held-out gold psi are unlike training" in covered.warnings()[0]


def test_psi_columns_that_training_never_saw_are_a_warning():
    constraint = learn_constraints([list("AB"), list("BA")] * 5, "existence", n=2, negatives="flip", hidden=2)
    train = [Sentence("ww", "AB"), Sentence("ww", "BA")] * 5
    found = diagnose(constraint, train, [Sentence("ww", "AA"), Sentence("ww", "AB")])
    assert (found.coverage.unseen_psi, found.coverage.unseen_columns) == (50, 1)
    assert any("50.0% of held-out gold psi" in warning for warning in found.warnings)


def test_the_same_seed_gives_the_same_diagnosis_and_it_is_plain_data():
    first = diagnosed(0.2)
    again = diagnose(learned(True), TRAIN, HELD_OUT, noisy(HELD_OUT, 0.2), negatives="relabel")
    assert again == first
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["verdicts"][0]["name"] == "exists"


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (lambda: diagnosed(None), "try it as a "),
        (lambda: diagnosed(0.0), "leave it out, because the predictions already obey it"),
        (lambda: diagnosed(None, hidden=1), "do not use it as it is, but learn it again"),
        (lambda: diagnose(learned(False), language(1, 150, False), language(2, 150, False)), "leave it out"),
    ],
)
def test_the_report_ends_in_advice_that_follows_the_verdicts(found, advice):
    found = found()
    assert found.advice.startswith(advice)
    assert found.report().splitlines()[-1] == f"advice: {found.advice}"
    assert found.weight is None


def test_a_constraint_that_gold_obeys_is_advised_hard():
    feature = NgramLabels(("A", "B"), n=2)
    no_bb = LearnedConstraint(RectifierNetwork([[0, 1, 0, 1]], [0.0]), feature.space, feature)
    rng = np.random.default_rng(0)
    gold = ["".join("AB" if rng.random() < 0.5 else "AA" for _ in range(10)) for _ in range(200)]
    held_out = [Sentence("w" * len(y), tuple(y)) for y in gold]
    wrong = ["".join("B" if rng.random() < 0.3 else label for label in y) for y in gold]
    found = diagnose(no_bb, held_out, held_out, wrong)
    assert "should help" in found
    assert found.advice.startswith("use it as a hard constraint, because predictions violate it in ")
    assert diagnose(no_bb, held_out, held_out[:3], wrong[:3]).weight > 0


def test_a_constraint_that_rejects_gold_is_advised_soft_with_the_weight_that_makes_both_as_frequent():
    constraint, predictions = learned(True), noisy(HELD_OUT, 0.3)
    gold = [replace(s, labels=y) for s, y in zip(HELD_OUT, noisy(HELD_OUT, 0.06, seed=1), strict=True)]
    found = diagnose(constraint, TRAIN, gold, predictions)
    assert found.advice.startswith(f"use it as a soft constraint, with a weight of about {found.weight:g},")
    psi = [constraint.feature.psi((s.x, y)).dense() for s, y in zip(gold, predictions, strict=True)]
    margins = constraint.network.margin(np.concatenate(psi))
    costs, bad = np.logaddexp(0, -margins), margins < 0
    v, g = (share.value / 100 for share in (found.obedience.violations, found.obedience.gold_violations))
    penalty = np.exp(-found.weight * (costs[bad].mean() - costs[~bad].mean()))
    assert v * penalty / (v * penalty + 1 - v) == pytest.approx(g, rel=0.1)


def test_labels_that_differ_between_training_and_held_out_data_are_a_warning():
    train = [Sentence("www", ("A", "B", "C"))] * 20
    found = diagnose(allowing("ABCD"), train, [Sentence("www", ("A", "B", "D"))] * 20)
    said = " ".join(found.warnings)
    assert "labels of held-out data that are not in training: D" in said
    assert "labels of training that are not in held-out data: C; nothing is measured" in said
    rare = [*train, Sentence("w", ("D",))]
    assert not any("labels of" in text for text in diagnose(allowing("ABCD"), rare, train).warnings)


def allowing(labels):
    """A constraint on label pairs that allows everything."""
    feature = NgramLabels(tuple(labels), n=2)
    network = RectifierNetwork(np.zeros((1, feature.space.d)), [0.0])
    return LearnedConstraint(network, feature.space, feature)


def test_data_of_another_kind_than_the_feature_reads_are_refused():
    pairs = Tuples(("source", "relation"), (("P", "L"), ("N", "K")))
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 4)), [0.0]), pairs.space, pairs)
    with pytest.raises(
        InvalidInput, match=r"found 0 and 0 \(sentence 1, expected tuples \(source, relation\)"
    ):
        diagnose(constraint, TRAIN, HELD_OUT)
    with pytest.raises(Unsupported, match="expected a table of psi vectors"):
        diagnose(replace(constraint, feature=None), TRAIN, HELD_OUT)


def test_the_source_of_negatives_is_the_recorded_one_or_else_the_papers():
    recorded = replace(learned(True), provenance={"recipe": {"negatives": "relabel"}})
    assert diagnose(recorded, TRAIN, HELD_OUT).negatives == "relabel"
    assert diagnose(replace(recorded, provenance={}), TRAIN, HELD_OUT).negatives == "apart"
    for strange in ({"recipe": {"negatives": ["relabel"]}}, {"recipe": "relabel"}):
        assert diagnose(replace(recorded, provenance=strange), TRAIN, HELD_OUT).negatives == "apart"


def test_shuffling_keeps_lengths_inputs_and_label_frequencies():
    instances = [sentence.instance for sentence in TRAIN]
    mixed = shuffled_labels(instances, np.random.default_rng(0))
    assert [s.x for s in mixed] == [s.x for s in instances]
    assert [len(s.y) for s in mixed] == [len(s.y) for s in instances]
    assert sorted(v for s in mixed for v in s.y) == sorted(v for s in instances for v in s.y)
    assert [s.y for s in mixed] != [list(s.y) for s in instances]


@pytest.mark.parametrize("source", ["relabel", "apart", "unseen"])
def test_corrupted_windows_keep_their_contexts_and_belong_to_their_sentences(source):
    feature = NgramContext.from_instances([s.instance for s in TRAIN], n=1)
    instances = [sentence.instance for sentence in TRAIN]
    sample = StructureMaterial(feature, instances, instances, source).sample(seed=0)
    gold, corrupted = (feature.space.assignments(parts.psi) for parts in (sample.gold, sample.corrupted))
    assert np.array_equal(gold[:, 0], corrupted[:, 0])
    assert np.array_equal(sample.gold.owner, sample.corrupted.owner)


def test_intervals_narrow_with_more_sentences():
    def width(size):
        half = np.arange(size) % 2
        found = Estimate.of(Resampler(size, 0).ratio(half, np.ones(size)))
        return found.high - found.low

    assert width(1000) < width(100) / 2
    assert Estimate.of(Resampler(3, 0).ratio([0, 0, 0], [0, 0, 0])) is None


def sure(value):
    return Estimate(value, value - 1, value + 1)


def judged(excess, lift=10.0, judge="the constraint"):
    return Obedience(judge, 90, sure(5), sure(2), sure(excess), 4, 1, 0, 30, 10, sure(lift), sure(3))


@pytest.mark.parametrize(
    ("skill", "found", "excess", "lift", "expected"),
    [
        (2.5, 90, 3, 10, ["no such constraint"]),
        (5, 90, 3, 10, ["exists, but rules out little", "found by the learner", "should help"]),
        (10.5, 90, 3, 10, ["exists, but rules out little", "found by the learner", "should help"]),
        (50, 90, 3, 10, ["exists", "found by the learner", "should help"]),
        (50, 90, 0.5, 10, ["exists", "found by the learner", "already obeyed"]),
        (50, 90, 3, 0.5, ["exists", "found by the learner", "not obeyed, but no help"]),
        (50, 49.5, 3, 10, ["exists", "found by the learner", "should help"]),
        (50, 20, 3, 10, ["exists", "not found by the learner", "not obeyed, nor found"]),
    ],
)
def test_verdicts_need_whole_intervals(skill, found, excess, lift, expected):
    reached = conclude(sure(skill), sure(found), judged(excess, lift), judged(3))
    assert [verdict.name for verdict in reached] == expected


def test_where_the_learner_failed_the_best_reference_judges_obedience():
    reached = conclude(sure(50), sure(20), judged(3), judged(-3, judge="network, K = 64"))
    assert [verdict.name for verdict in reached][1:] == ["not found by the learner", "already obeyed"]
    assert reached[-1].because.startswith("`network, K = 64` rejects")
