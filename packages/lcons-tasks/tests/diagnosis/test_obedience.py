"""Obedience is what is counted by hand on drawn data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import Instance, LearnedConstraint, RectifierNetwork
from lcons_core.features import Counts, Existence, NgramLabels
from lcons_tasks.diagnosis._obedience import Predicted, obedience
from lcons_tasks.diagnosis._references import Reference
from lcons_tasks.stats import Resampler

sequences = st.lists(st.text("AB", min_size=2, max_size=5), min_size=1, max_size=5)


def instances(ys):
    return [Instance({}, list(y)) for y in ys]


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
    row = data.draw(st.lists(st.integers(-2, 2), min_size=feature.space.d, max_size=feature.space.d))
    judge = LearnedConstraint(RectifierNetwork([row], [0.0]), feature.space, feature)
    given_ = Predicted.of(feature, instances(gold), instances(predictions))
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
    assert found.excess.value == pytest.approx(100 * (alarm.mean() - gold_alarm.mean()))
    assert found.headroom.value == pytest.approx(100 * caught / tokens)
    for share, among in ((found.error_if_violated, alarm == 1), (found.error_otherwise, alarm == 0)):
        assert share == (pytest.approx(100 * errors[among].mean()) if among.any() else None)
