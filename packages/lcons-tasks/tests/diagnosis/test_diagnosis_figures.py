"""The figures of a diagnosis, counted again by hand on drawn data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    Instance,
    LearnedConstraint,
    RectifierNetwork,
    SparsePsi,
    binary,
    count,
    iob2,
    one_hot,
)
from lcons_core._psi import PsiRows
from lcons_core.features import Counts, Existence, NgramLabels, Scope, Tuples
from lcons_tasks.diagnosis._coverage import LeftOut, coverage
from lcons_tasks.diagnosis._material import StructureMaterial, TableMaterial, shuffled_members
from lcons_tasks.diagnosis._obedience import Predicted, obedience
from lcons_tasks.diagnosis._references import Reference, seen_in_training
from lcons_tasks.diagnosis._samples import corrupted, one_changed, psi_of
from lcons_tasks.own_data import PsiTable
from lcons_tasks.stats import Resampler, chunk_f1

SPACE = FeatureSpace(
    [one_hot("kind", "abc", other=True), binary("bit", "xy"), count("number", ("n",), high=3)]
)
NONE = LeftOut(0, 0)

points = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1), st.integers(0, 3)), min_size=1
)
sequences = st.lists(st.text("AB", min_size=2, max_size=5), min_size=1, max_size=5)
pairs = st.lists(st.lists(st.tuples(st.sampled_from("PL"), st.sampled_from("kn")), max_size=4), min_size=1)


def weights(d):
    return st.lists(st.integers(-2, 2), min_size=d, max_size=d)


def instances(ys):
    return [Instance({}, list(y)) for y in ys]


def joined(lists):
    return [item for one in lists for item in one]


def constraint(feature, row):
    return LearnedConstraint(RectifierNetwork([row], [0.0]), feature.space, feature)


@given(points, st.integers(0, 99))
def test_one_changed_changes_exactly_one_value_of_each_part(values, seed):
    values = np.array(values)
    gold = PsiRows.of(psi_of(SPACE, values), np.arange(len(values)))
    made = one_changed(SPACE, gold, np.random.default_rng(seed))
    differ = SPACE.assignments(made.psi) != values[made.owner]
    assert len(made) == len(gold)
    assert (differ.sum(1) == 1).all()


@given(points, points)
def test_seen_in_training_is_the_very_psi_or_the_range_of_each_column(known, asked):
    before, now = (np.unique(SPACE.vectors(np.array(values)), axis=0) for values in (known, asked))
    psi, rows = SparsePsi.from_dense(before), SparsePsi.from_dense(now)
    very = [any(np.array_equal(row, old) for old in before) for row in now]
    assert seen_in_training(psi, Scope.LOCAL)(rows).tolist() == very
    ranges = ((before.min(0) <= now) & (now <= before.max(0))).all(1)
    assert seen_in_training(psi, Scope.GLOBAL)(rows).tolist() == ranges.tolist()


@given(pairs, pairs, weights(4))
def test_the_coverage_of_pairs_is_the_share_of_pairs_that_training_has(train, held_out, row):
    train, held_out = [("P", "k"), *joined(train)], [("L", "n"), *joined(held_out)]
    feature = Tuples(("source", "relation"), ("PL", "kn"))
    judge = constraint(feature, row)
    material = StructureMaterial(feature, instances([train]), instances([held_out]), "unseen", tuples=True)
    gold = Reference("", judge.network.accepts)
    found = coverage(material, gold, material.learned, NONE, NONE)
    new = np.array([pair not in train for pair in held_out])
    bad = np.array([not judge.satisfied([pair]) for pair in held_out])
    assert found.unseen_psi == pytest.approx(100 * new.mean())
    assert found.unseen_predicted == 0
    assert found.rejected == pytest.approx(100 * bad.mean())
    assert found.rejected_unseen == (pytest.approx(100 * bad[new].mean()) if new.any() else None)
    assert found.rejected_seen == (pytest.approx(100 * bad[~new].mean()) if (~new).any() else None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2), st.integers(1, 9))
def test_the_coverage_of_vectors_is_the_share_inside_the_range_of_valid_ones(rows, trained):
    space = FeatureSpace([count("count", "ab", high=3)])
    X = np.array(rows, dtype=float)
    parts = np.split(X, [min(trained, len(X) - 1)])
    tables = [PsiTable(("a", "b"), part, np.ones(len(part), dtype=bool)) for part in parts]
    material = TableMaterial(space, *tables, "unseen")  # type: ignore[call-arg]
    found = coverage(material, Reference("", lambda psi: np.ones(len(psi), dtype=bool)), None, NONE, NONE)
    before, now = tables[0].X, tables[1].X
    outside = ((now < before.min(0)) | (now > before.max(0))).any(1)
    assert found.unseen_psi == pytest.approx(100 * outside.mean())
    assert found.unseen_columns == int((now.any(0) & ~before.any(0)).sum())


@pytest.mark.parametrize(
    "feature",
    [
        NgramLabels(("A", "B"), n=1),
        NgramLabels(("A", "B"), n=2),
        NgramLabels(("A", "B"), n=2, pad=True),
        Counts(("A", "B"), high=9),
        Existence(("A", "B"), n=1),
    ],
    ids=str,
)
@settings(max_examples=25)
@given(data=st.data(), gold=sequences)
def test_obedience_is_what_is_counted_by_hand(feature, data, gold):
    predictions = [data.draw(st.text("AB", min_size=len(y), max_size=len(y))) for y in gold]
    judge = constraint(feature, data.draw(weights(feature.space.d)))
    given_ = Predicted.of_structures(feature, instances(gold), predictions)
    found = obedience(Reference("it", judge.network.accepts), given_, Resampler(len(gold), 0))
    rows = []
    caught = 0
    for y, z in zip(gold, predictions, strict=True):
        bad, gold_bad = (set(judge.violations(list(labels)).tolist()) for labels in (z, y))
        wrong = [a != b for a, b in zip(y, z, strict=True)]
        corrected = set()
        for part in range(len(feature.psi(list(z)))):
            inside = list(range(len(y)))
            if isinstance(feature, NgramLabels):
                inside = [t for t, _ in feature.label_terms(len(y), part)]
            rows.append((part in bad, part in gold_bad, sum(wrong[t] for t in inside) / len(inside)))
            corrected |= {t for t in inside if part in bad and wrong[t]}
        caught += len(corrected)
    alarm, gold_alarm, errors = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    tokens = sum(map(len, gold))
    right = sum(a == b for y, z in zip(gold, predictions, strict=True) for a, b in zip(y, z, strict=True))
    assert found.accuracy == pytest.approx(100 * right / tokens)
    assert found.violations.value == pytest.approx(100 * alarm.mean())
    assert found.gold_violations.value == pytest.approx(100 * gold_alarm.mean())
    assert found.excess.value == pytest.approx(found.for_gold - found.against_gold)
    assert found.for_gold == pytest.approx(100 * (alarm * (1 - gold_alarm)).mean())
    assert found.false_alarms == pytest.approx(100 * (alarm * (errors == 0)).mean())
    assert found.headroom.value == pytest.approx(100 * caught / tokens)
    for share, among in ((found.error_if_violated, alarm == 1), (found.error_otherwise, alarm == 0)):
        assert share == (pytest.approx(100 * errors[among].mean()) if among.any() else None)


def test_span_f1_and_its_headroom_are_those_of_corrected_labels():
    gold = [("B-X", "I-X", "O", "B-X"), ("O", "B-X", "I-X", "O")]
    predictions = [("O", "I-X", "O", "B-X"), ("O", "B-X", "O", "O")]
    feature = iob2(("B-X", "I-X", "O")).feature
    found = obedience(
        Reference("it", iob2(("B-X", "I-X", "O")).network.accepts),
        Predicted.of_structures(feature, instances(gold), predictions),
        Resampler(2, 0),
    )
    corrected = [gold[0], predictions[1]]
    before, after = (100 * chunk_f1(gold, side).f1 for side in (predictions, corrected))
    assert found.f1.value == pytest.approx(before)
    assert found.headroom_f1.value == pytest.approx(after - before)
    plain = Predicted.of_structures(NgramLabels(("A", "B"), n=1), instances(["AB"]), ["AA"])
    assert obedience(Reference("it", lambda psi: np.ones(len(psi), bool)), plain, Resampler(1, 0)).f1 is None


@given(pairs, st.data())
def test_obedience_of_tuples_is_what_is_counted_by_hand(gold, data):
    gold = [[("P", "k")], *gold]
    feature = Tuples(("source", "relation"), ("PL", "kn"))
    judge = constraint(feature, data.draw(weights(4)))
    drawn = st.tuples(st.sampled_from("PL"), st.sampled_from("kn"))
    predictions = [data.draw(st.lists(drawn, min_size=len(y), max_size=len(y))) for y in gold]
    found = obedience(
        Reference("it", judge.network.accepts),
        Predicted.of_structures(feature, instances(gold), predictions),
        Resampler(len(gold), 0),
    )
    flat, told = joined(gold), joined(predictions)
    bad = np.array([not judge.satisfied([pair]) for pair in told])
    wrong = np.array([a != b for a, b in zip(flat, told, strict=True)])
    assert found.accuracy == pytest.approx(100 * (1 - wrong.mean()))
    assert found.violations.value == pytest.approx(100 * bad.mean())
    assert found.gold_violations.value == pytest.approx(
        100 * np.mean([not judge.satisfied([pair]) for pair in flat])
    )
    assert found.headroom.value == pytest.approx(100 * (bad & wrong).mean())
    assert found.false_alarms == pytest.approx(100 * (bad & ~wrong).mean())


@given(pairs, st.integers(0, 9))
def test_shuffled_members_keep_sizes_and_how_often_each_value_is(ys, seed):
    mixed = shuffled_members(instances(ys), np.random.default_rng(seed))
    assert [len(one.y) for one in mixed] == [len(y) for y in ys]
    before, after = joined(ys), joined(one.y for one in mixed)
    for member in (0, 1):
        assert sorted(pair[member] for pair in before) == sorted(pair[member] for pair in after)


def test_corrupted_windows_of_perturbed_sequences_are_those_that_changed():
    feature = NgramLabels(("A", "B", "C"), n=2)
    rng = np.random.default_rng(0)
    structures = instances(["".join(rng.choice(list("ABC"), 6)) for _ in range(50)])
    gold = StructureMaterial(feature, structures, structures, "perturb").gold
    made = corrupted(feature, structures, gold, "perturb", seed=0)
    # One label is in one window at the ends, in two elsewhere.
    assert set(np.bincount(made.owner, minlength=50).tolist()) == {1, 2}
