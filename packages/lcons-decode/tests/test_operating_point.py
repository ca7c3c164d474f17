"""Operating points: biases as stated, files as privacy filters ship them, and guarantees that hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from lcons_core import InvalidInput, LconsError, bioes
from lcons_decode import (
    ChainScores,
    Guarantee,
    NotCertified,
    OperatingPoint,
    Scored,
    Soft,
    TransitionBiases,
    brute,
    constrained_viterbi,
    constrained_viterbi_batch,
    forbidden_ngrams,
    operating_point,
)
from lcons_decode._certificate import CAUTIONS, Trial, binomial_tail, choose
from lcons_decode._operating_point import BIASES
from lcons_decode.files import load_operating_points, save_operating_points

LABELS = ("O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y")
SHIPPED = {f"transition_bias_{name}": 0.5 * i for i, name in enumerate(BIASES)}


def bias_by_definition(biases: TransitionBiases, before: str, after: str) -> float:
    """The table of the module, row by row."""
    a, b, same = before[0], after[0], before[2:] == after[2:]
    if a == "O":
        return biases.background_stay if b == "O" else biases.background_to_start if b in "BS" else 0.0
    if a in "BI":
        kinds = {"I": biases.inside_to_continue, "E": biases.inside_to_end}
        return kinds.get(b, 0.0) if same else 0.0
    return biases.end_to_background if b == "O" else biases.end_to_start if b in "BS" else 0.0


@settings(max_examples=30)
@given(st.lists(st.integers(-8, 8), min_size=6, max_size=6), st.integers(0, 2**20))
def test_each_transition_has_the_bias_of_its_kind_and_decoding_is_exact(values, seed):
    biases = TransitionBiases(*(value / 4 for value in values))
    found = biases.transition(LABELS)
    for i, before in enumerate(LABELS):
        for j, after in enumerate(LABELS):
            assert found[i, j] == bias_by_definition(biases, before, after)
    rng = np.random.default_rng(seed)
    scores = ChainScores(rng.integers(-4, 5, (3, 5)).astype(float), labels=LABELS[:5])
    point = OperatingPoint(biases)
    y = constrained_viterbi(point.added_to(scores), point.constraints(scores.labels)).y
    assert bioes(scores.labels).satisfied(y)
    best = brute(point.added_to(scores), [bioes(scores.labels)])
    assert point.added_to(scores).score(y) == best.score
    own = sum(bias_by_definition(biases, a, b) for a, b in pairwise(y))
    assert best.score == pytest.approx(scores.score(y) + own)


def test_caution_is_taken_from_every_o_half_at_each_side():
    biases = TransitionBiases.of_caution(2.0)
    for y in (["O", "S-X", "O", "O"], ["S-X", "O", "B-X", "E-X"], ["O"], ["S-X", "S-Y"]):
        own = sum(bias_by_definition(biases, a, b) for a, b in pairwise(y))
        sides = sum((t > 0) + (t < len(y) - 1) for t, label in enumerate(y) if label == "O")
        assert own == -sides


def test_letters_of_bilou_are_read_as_those_of_bioes():
    biases = TransitionBiases(1, 2, 3, 4, 5, 6)
    bilou = [label.replace("E-", "L-").replace("S-", "U-") for label in LABELS]
    np.testing.assert_array_equal(biases.transition(bilou), biases.transition(LABELS))


@pytest.mark.parametrize("labels", [["O", "B-X", "I-X"], ["B-X", "E-X"], ["O", "author"], ["O", "E_X"]])
def test_labels_that_mark_no_ends_are_refused(labels):
    with pytest.raises(InvalidInput, match="expected BIOES labels"):
        TransitionBiases().transition(labels)


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None])
def test_a_bias_is_a_finite_number(value):
    with pytest.raises(InvalidInput, match="expected a finite number as the bias end_to_start"):
        TransitionBiases(end_to_start=value)


def test_a_shipped_file_is_read_and_written_as_it_is(tmp_path):
    path = tmp_path / "viterbi_calibration.json"
    path.write_text(json.dumps({"operating_points": {"default": {"biases": SHIPPED}}}))
    found = load_operating_points(path)
    assert found == {"default": OperatingPoint(TransitionBiases(*(0.5 * i for i in range(6))))}
    save_operating_points(path, {"default": found["default"].biases})
    assert json.loads(path.read_text()) == {"operating_points": {"default": {"biases": SHIPPED}}}


def test_factor_and_guarantee_survive_a_file(tmp_path):
    known = Guarantee(0.99, 0.95, "entity", "covered", 700, 1, 0.007, 0.05)
    points = {"cautious": OperatingPoint(TransitionBiases(-1.5), 0.5, known), "default": OperatingPoint()}
    save_operating_points(tmp_path / "points.json", points)
    assert load_operating_points(tmp_path / "points.json") == points
    with pytest.raises(LconsError, match="cannot write"):
        save_operating_points(tmp_path / "none" / "points.json", points)
    with pytest.raises(InvalidInput, match="found none"):
        save_operating_points(tmp_path / "points.json", {})


KNOWN = {"recall": 0.9, "confidence": 0.9, "unit": "entity", "missed": "covered", "units": 3, "misses": 0}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "the file has no `operating_points`"),
        ("{", "it is not JSON"),
        ("\xff", "utf-8"),
        ({"operating_points": {}}, "`operating_points` has no point"),
        ({"operating_points": {"default": {}}}, "the point 'default' has no `biases`"),
        ({"operating_points": {"a": {"biases": {}}}}, "has no `transition_bias_background_stay`"),
        ({"operating_points": {"a": {"biases": {**SHIPPED, "x": 1}}}}, "unknown member 'x'"),
        ({"operating_points": {"a": {"biases": SHIPPED, "x": 1}}}, "unknown member 'x'"),
        ({"operating_points": {"a": {"biases": dict.fromkeys(SHIPPED, "1")}}}, "expected a finite number"),
        ({"operating_points": {"a": {"biases": SHIPPED, "soft_factor": -1}}}, "expected a factor"),
        ({"operating_points": {"a": {"biases": SHIPPED, "guarantee": {}}}}, "has no `recall`"),
        (
            {
                "operating_points": {
                    "a": {"biases": SHIPPED, "guarantee": {**KNOWN, "p_value": 2.0, "level": 1}}
                }
            },
            "expected shares from 0 to 1",
        ),
        (
            {
                "operating_points": {
                    "a": {"biases": SHIPPED, "guarantee": {**KNOWN, "p_value": "0", "level": 1}}
                }
            },
            "`p_value` of the point 'a' is '0'",
        ),
        ({"operating_points": {"a": {"biases": SHIPPED}}, "version": 1}, "unknown member 'version'"),
    ],
)
def test_another_file_is_refused_in_one_sentence(tmp_path, content, reason):
    path = tmp_path / "points.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInput, match=reason) as error:
        load_operating_points(path)
    assert "viterbi_calibration.json" in str(error.value)


def test_files_that_are_missing_or_too_large(tmp_path):
    with pytest.raises(InvalidInput, match="No such file"):
        load_operating_points(tmp_path / "none.json")
    (tmp_path / "large.json").write_bytes(b" " * (2**20 + 1))
    with pytest.raises(InvalidInput, match="larger than 1,048,576 bytes"):
        load_operating_points(tmp_path / "large.json")


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([0.001, 0.01, 0.05, 0.3, 0.9]))
def test_p_values_are_tails_of_the_binomial(misses, units, share):
    wanted = 1.0 if misses >= units else binom.cdf(misses, units, share)
    assert binomial_tail(misses, units, share) == pytest.approx(wanted, rel=1e-9, abs=1e-300)


def made(count: int, seed: int, noise: float = 1.5):
    """Sentences whose scores are gold plus noise, so that some entities are missed without a bias."""
    rng = np.random.default_rng(seed)
    dev = []
    for _ in range(count):
        y: list[str] = []
        while len(y) < 6:
            y += [["O"], ["O"], ["S-X"], ["B-X", "E-X"], ["B-X", "I-X", "E-X"]][rng.integers(5)]
        emission = rng.normal(0, noise, (len(y), 5))
        for t, label in enumerate(y):
            emission[t, LABELS.index(label)] += 3
        dev.append((ChainScores(emission, labels=LABELS[:5]), y))
    return dev


def test_the_point_is_the_best_certified_one_and_its_counts_are_those_of_decoding():
    dev = made(150, 0)
    cautions = CAUTIONS[::4]
    point = operating_point(dev, recall=0.9, biases=[TransitionBiases.of_caution(c) for c in cautions])
    assert isinstance(point, OperatingPoint)
    known = point.guarantee
    assert known is not None
    results = {}
    for caution in cautions:
        own = OperatingPoint(TransitionBiases.of_caution(caution))
        missed = right = found = gold = 0
        biased = [own.added_to(scores) for scores, _ in dev]
        answers = constrained_viterbi_batch(biased, own.constraints(LABELS[:5]))
        for (_, y), labels in zip(dev, (answer.y for answer in answers), strict=True):
            there, claimed = spans(y), spans(labels)
            missed += sum("O" in labels[first : last + 1] for first, last in there)
            right, found, gold = right + len(there & claimed), found + len(claimed), gold + len(there)
        results[own.biases] = missed, 2 * right / (found + gold), gold
    certified = []
    for biases, (missed, f1, gold) in results.items():
        if binom.cdf(missed, gold, 1 - 0.9) > 0.05:
            break
        certified.append((f1, -biases.background_stay, biases))
    best = max(f1 for f1, _, _ in certified)
    assert point.biases == min((c, b) for f1, c, b in certified if f1 == best)[1]
    assert (known.misses, known.units) == (results[point.biases][0], results[point.biases][2])
    assert known.p_value <= known.level == pytest.approx(0.05)
    assert "at most 10% of the entities are missed, with a confidence of 95%" in str(known)


def spans(y):
    """(first, last) of each entity of valid BIOES, of one type."""
    ends = [t for t, label in enumerate(y) if label[0] in "ES"]
    return {(max(s for s in range(t + 1) if y[s][0] in "BS"), t) for t in ends}


@pytest.mark.parametrize("unit", ["entity", "sentence"])
def test_a_point_that_misses_too_much_is_certified_at_most_as_often_as_stated(unit):
    """The rate of a point is its share of misses in a population, from which dev sentences are drawn."""
    trials, wrong, certified = 400, 0, 0
    recall = 0.965 if unit == "entity" else 0.92
    points = [OperatingPoint(TransitionBiases.of_caution(c)) for c in (3.0, 2.0, 1.5, 1.0, 0.5, 0.0)]
    population = [(Scored(scores), tuple(y)) for scores, y in made(400, 1)]
    trial = Trial(population, [], unit, "covered")
    rates = {point.biases: trial.judge(point)[0] / trial.units for point in points}
    assert min(rates.values()) < 1 - recall < max(rates.values())
    rng = np.random.default_rng(2)
    for _ in range(trials):
        found = choose(trial.draw(rng.integers(0, len(population), 100)), [points], recall, 0.8)
        certified += found.certified
        wrong += found.certified and rates[found.biases] > 1 - recall
    assert wrong <= binom.ppf(0.999, trials, 0.2)
    assert certified > trials / 2


def test_a_draw_of_sentences_is_judged_as_if_it_were_given():
    dev = made(30, 5)
    trial = Trial([(Scored(scores), tuple(y)) for scores, y in dev], [], "entity", "covered")
    rows = np.array([3, 3, 7, 20, 29])
    points = [OperatingPoint(TransitionBiases.of_caution(c)) for c in (2.0, 0.0)]
    trial.judge(points[0])
    given = operating_point([dev[i] for i in rows], 0.5, biases=[point.biases for point in points])
    assert choose(trial.draw(rows), [points], 0.5, 0.95) == given


def test_soft_weights_are_chosen_too_and_each_factor_has_its_share_of_the_level():
    dev = made(150, 3)
    soft = Soft(forbidden_ngrams(LABELS[:5], [("S-X", "S-X"), ("O", "O")]), 4.0)
    points = [TransitionBiases.of_caution(c) for c in (4.0, 2.0, 1.0, 0.0)]
    point = operating_point(dev, recall=0.9, constraints=[soft], biases=points, factors=(1.0, 0.25, 0.0))
    assert isinstance(point, OperatingPoint)
    assert point.factor in (1.0, 0.25, 0.0)
    assert point.guarantee.level == pytest.approx(0.05 / 3)
    uses = point.constraints(LABELS[:5], [soft])
    assert uses[1].weight == 4.0 * point.factor


def test_exact_spans_are_tested_point_by_point():
    points = [TransitionBiases.of_caution(c) for c in (2.0, 1.0, 0.0)]
    point = operating_point(made(300, 4, noise=0.7), recall=0.9, missed="exact", biases=points)
    assert isinstance(point, OperatingPoint)
    assert point.guarantee.level == pytest.approx(0.05 / 3)


def test_what_cannot_be_certified_is_a_value_that_states_what_to_try():
    few = operating_point(made(5, 0), recall=0.99)
    assert isinstance(few, NotCertified)
    assert not few.certified
    assert few.needed == 299
    assert "it needs at least 299 entities without a miss, found" in str(few)
    hard = operating_point(made(200, 0), recall=0.95, missed="exact", unit="sentence", confidence=0.5)
    assert isinstance(hard, NotCertified)
    assert "sentences with entities; lower `recall` to about" in str(hard)
    lower = math.floor(1000 * hard.attainable) / 1000
    assert operating_point(made(200, 0), lower, missed="exact", unit="sentence", confidence=0.5).certified
    none = operating_point([(ChainScores(np.zeros((1, 5)), labels=LABELS[:5]), ["O"])])
    assert isinstance(none, NotCertified)
    assert none.units == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recall": 1.0}, "`recall` must be between 0 and 1"),
        ({"confidence": 0}, "`confidence` must be between 0 and 1"),
        ({"unit": "token"}, "`unit` is one of entity, sentence"),
        ({"missed": "half"}, "`missed` is one of covered, exact"),
        ({"biases": ()}, "expected dev sentences, biases and factors"),
    ],
)
def test_wrong_arguments(change, reason):
    with pytest.raises(InvalidInput, match=reason):
        operating_point(made(3, 0), **change)


def test_gold_labels_of_another_length_are_refused():
    [(scores, y)] = made(1, 0)
    with pytest.raises(InvalidInput, match="dev sentence 1, found"):
        operating_point([(scores, y[1:])])
    assert replace(OperatingPoint(), factor=2.0).factor == 2.0
