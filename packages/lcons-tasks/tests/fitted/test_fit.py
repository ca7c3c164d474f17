"""`fit` is honest (no model tags what it has seen), careful (garbage changes nothing) and repeatable."""

import random
from dataclasses import replace

import numpy as np
import pytest
from made_up_drugs import DRUGS, FOODS, KITCHEN, MEDICAL, corpus, sentence, text

from lcons_core import InvalidInput, iob2
from lcons_core.learn._evidence import fold_bounds
from lcons_tasks import FitSettings, Sentence, fit, load_constrained_tagger
from lcons_tasks.fitted import _fit
from lcons_tasks.stats import count_right, f1

TRAIN, TEXT, TEST = corpus(24), text(150), corpus(80, seed=2)
QUICK = FitSettings(folds=3, iterations=30)


@pytest.fixture(scope="module")
def found():
    return fit(TRAIN, TEXT, QUICK)


def figure(tagger, sentences=TEST):
    """The span F1 of a tagger on sentences, in percent."""
    answers = [answer.y for answer in tagger.tag([s.words for s in sentences])]
    return float(f1(count_right([s.labels for s in sentences], answers, spans=True).sum(0)))


def test_unlabelled_text_helps_on_sentences_that_were_never_seen(found):
    plain = fit(TRAIN, settings=FitSettings.plain())
    assert plain.base == plain.figure
    assert figure(found) > figure(plain) + 3


def test_the_first_figure_is_that_of_the_base_model_and_the_last_that_of_all_parts(found):
    parts = [one.part for one in found.contributions]
    assert parts[0] == "base model"
    assert parts[1] == "label scheme iob2"
    assert "consistency over unlabelled text" in parts
    assert found.figure - found.base == pytest.approx(found.gain.mean)
    assert found.measure == "span F1"
    assert (found.labelled, found.unlabelled) == (24, 150)


def test_the_base_figure_is_that_of_models_trained_without_each_fold(found):
    gold, answers = [], []
    for first, stop in fold_bounds(len(TRAIN), 3):
        rest = [*TRAIN[:first], *TRAIN[stop:]]
        own = fit(rest, settings=FitSettings(parts=(), folds=2, penalties=((0.1, 0.1),), iterations=30))
        answers += [answer.y for answer in own.tag([s.words for s in TRAIN[first:stop]])]
        gold += [s.labels for s in TRAIN[first:stop]]
    assert found.base == pytest.approx(float(f1(count_right(gold, answers, spans=True).sum(0))))


def test_answers_are_valid_iob2(found):
    rng = random.Random(0)
    words = sorted({w for s in TRAIN for w in s.words} | {"zork", "Xy-9", "."})
    answers = found.tag([rng.choices(words, k=rng.randrange(1, 9)) for _ in range(100)])
    scheme = iob2(found.tagger.model.labels)
    assert all(scheme.satisfied(answer.y) for answer in answers)
    assert any("I-DRUG" in answer.y for answer in answers)


def test_shuffled_text_is_not_believed():
    rng = random.Random(0)
    words = [word for one in TEXT for word in one]
    rng.shuffle(words)
    garbage = [words[i : i + 4] for i in range(0, len(words), 4)]
    found = fit(TRAIN, garbage, QUICK)
    plain = fit(TRAIN, settings=FitSettings(parts=("scheme",), folds=3, iterations=30))
    assert found.figure >= found.base - 1e-9
    assert figure(found) >= figure(plain) - 3


def test_labels_of_one_style_are_not_made_worse_by_text_of_another():
    """Little is left to gain by the folds, and the text, in which drugs are cooked, is against the labels."""
    rng = random.Random(3)
    kinds = [rng.choice(((KITCHEN, DRUGS), (MEDICAL, FOODS))) for _ in range(150)]
    other = [sentence(rng.choice(frames), rng.choice(names), "drug").words for frames, names in kinds]
    one_style = corpus(60, neutral=0.0)
    found = fit(one_style, other, QUICK)
    assert found.base > 90
    assert figure(found) >= figure(fit(one_style, settings=FitSettings.plain()))


@pytest.mark.parametrize("resemblance", [1.0, 9.0])  # however much the folds resemble each other
def test_the_guard_returns_to_the_base_model_where_the_whole_is_worse(resemblance, monkeypatch):
    monkeypatch.setattr(_fit, "resemblance", lambda words, texts, folds: resemblance)
    monkeypatch.setattr(_fit._Work, "_with_text", spoilt)
    found = fit(corpus(60), TEXT, replace(QUICK, penalties=QUICK.penalties[:1]))
    assert found.base > 40
    assert found.contributions[-1].part.startswith("base model again")
    assert found.figure == found.base
    assert found.tagger.constraints == ()
    assert not found.tagger.model.tables  # type: ignore[attr-defined]


def spoilt(self, plain):
    """Weights under which every label is O."""
    self.steps.add("spoilt", [("O",) * len(s) for s in self.sentences])
    held = [replace(b, emission=b.emission + 99.0 * (np.array(b.labels) == "O")) for b in plain.held]
    return replace(plain, held=tuple(held), weights=(0.5, 0.0, 0.0))


def test_the_same_seed_gives_the_same_bytes(found, tmp_path):
    found.save(tmp_path / "one")
    fit(TRAIN, TEXT, QUICK).save(tmp_path / "two")
    for path in sorted((tmp_path / "one").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_a_saved_tagger_gives_the_same_answers(found, tmp_path):
    found.save(tmp_path / "tagger")
    loaded = load_constrained_tagger(tmp_path / "tagger")
    xs = [s.words for s in TEST]
    assert [(a.y, a.score) for a in loaded.tag(xs)] == [(a.y, a.score) for a in found.tag(xs)]
    assert loaded.columns == ()
    loaded.save(tmp_path / "tagger")
    assert not (tmp_path / "tagger/report.md").exists()


def test_what_is_said_is_what_the_tagger_does(found):
    assert 1 <= len(found.rules) <= 10
    assert any("I-DRUG" in rule for rule in found.rules)
    assert any("is B-DRUG in" in rule for rule in found.rules)
    assert 1 <= len(found.changed) <= 5
    for one in found.changed:
        assert one.before != one.after
        assert Sentence(one.words, one.gold) in TRAIN
    said = found.to_dict()
    assert said["fitted"] == found.figure
    assert said["chosen"]["hard"][0] == "iob2"


def test_progress_counts_up_to_the_end():
    steps = []
    fit(TRAIN, TEXT, QUICK, progress=lambda what, done, total: steps.append((what, done, total)))
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert {total for *_, total in steps} == {len(steps)}
    assert steps[-1][0] == "training on all sentences"


def test_labels_that_are_no_spans_are_judged_by_accuracy():
    train = [Sentence(s.words, tuple("DRUG" if y != "O" else "WORD" for y in s.labels)) for s in TRAIN]
    found = fit(train, TEXT, QUICK)
    assert found.measure == "token accuracy"
    assert "label scheme" not in " ".join(one.part for one in found.contributions)
    assert found.figure > 70


def test_a_label_of_one_sentence_only_is_no_trouble():
    odd = Sentence(("so", "said", "Ann"), ("O", "O", "B-PERSON"))
    for train in ([*TRAIN[:8], odd], [odd, *TRAIN[:8]]):
        found = fit(train, TEXT[:30], FitSettings(folds=2, iterations=10))
        assert len(found.tag([["Ann", "took", "aspirin"]])[0].y) == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda: fit([]),
        lambda: fit(TRAIN[:1]),
        lambda: fit([TRAIN[0], Sentence((), ())]),
        lambda: fit(TRAIN, ["some text"]),  # type: ignore[list-item]
        lambda: fit([Sentence((f"w{i}", "x"), (f"L{i}", "O")) for i in range(1000)]),
        lambda: FitSettings(encoder="a", vectors="b"),
        lambda: FitSettings(parts=("magic",)),
        lambda: FitSettings(folds=1),
    ],
)
def test_settings_and_sentences_that_cannot_be_used_are_refused(call):
    with pytest.raises(InvalidInput):
        call()
