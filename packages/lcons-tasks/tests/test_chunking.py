"""The chunking experiment: subsets, recipes, choices, rules behind changes, and a whole run."""

import json
import os

import numpy as np
import pytest

from lcons_core import LearnedConstraint, load
from lcons_core.errors import InvalidInput
from lcons_tasks.chunking import paper
from lcons_tasks.chunking.cell import CHOSEN, rejected_gold
from lcons_tasks.chunking.choice import choose
from lcons_tasks.chunking.corpus import load_corpus, subset
from lcons_tasks.chunking.decoders import rows_of
from lcons_tasks.chunking.examples import examples
from lcons_tasks.chunking.features import SOFT, learn, recipe
from lcons_tasks.chunking.model import BASES, BaseModel, tuned, tuned_settings
from lcons_tasks.chunking.report import PREDICTIONS, bracketed, write_run
from lcons_tasks.chunking.summary import groups
from lcons_tasks.chunking.task import Options, cells_of, plan, run
from lcons_tasks.corpus import read_columns
from lcons_tasks.experiment.stages import Stages
from lcons_tasks.tagging.constrained_tagger import load_constrained_tagger

needs_conll2000 = pytest.mark.skipif("LCONS_DATA_DIR" not in os.environ, reason="needs LCONS_DATA_DIR")

QUICK = Options(ratios=(0.25,), seeds=(1,), bases=("linear",))


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("bundled")


@pytest.fixture(scope="module", autouse=True)
def no_vectors():
    before = os.environ.get("LCONS_VECTORS")
    os.environ["LCONS_VECTORS"] = "none"
    yield
    os.environ.pop("LCONS_VECTORS") if before is None else os.environ.update(LCONS_VECTORS=before)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture(scope="module")
def quick_run(stages, tmp_path_factory):
    """A small run, and the folder that it wrote."""
    filled = run(QUICK, stages, jobs=1)
    folder = tmp_path_factory.mktemp("run")
    return filled, folder, write_run(folder, QUICK, filled, stages)


def test_the_first_subset_is_a_prefix_of_train_and_of_dev(corpus):
    train, dev = subset(corpus, 0.1)
    assert train == corpus.train[:21]
    assert dev == corpus.dev[:6]
    assert subset(corpus, 1.0) == (corpus.train, corpus.dev)
    assert subset(corpus, 1e-6) == (corpus.train[:1], corpus.dev[:1])


def test_nested_subsets_grow_with_the_ratio_and_differ_by_seed(corpus):
    small, large = (set(map(id, subset(corpus, r, "nested", seed=1)[0])) for r in (0.2, 0.6))
    assert small < large
    assert subset(corpus, 0.2, "nested", 1)[0] != subset(corpus, 0.2, "nested", 2)[0]
    assert subset(corpus, 1.0, "nested", 1)[0] == corpus.train


@pytest.mark.parametrize(("ratio", "kind"), [(0, "first"), (1.5, "first"), (0.5, "random")])
def test_an_impossible_subset_is_refused(corpus, ratio, kind):
    with pytest.raises(InvalidInput):
        subset(corpus, ratio, kind)


def test_a_corpus_that_is_not_there_is_refused_in_one_sentence():
    with pytest.raises(InvalidInput, match=r"train.txt, dev.txt and test.txt"):
        load_corpus("no-such-corpus")


@needs_conll2000
def test_conll2000_is_divided_as_in_the_paper():
    corpus = load_corpus("conll2000")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [8000, 936, 2012]
    train, dev = subset(corpus, 0.01)
    assert (len(train), len(dev)) == (80, 9)
    assert train[0] == corpus.train[0]


@pytest.mark.parametrize(
    "text", ["pos:2", "pos:3", "existence:2", "ngram:2", "ngram:3", "punctuation:2", "counts"]
)
def test_every_feature_can_be_learned_for_any_labels(corpus, text):
    sentences = corpus.train[:30]
    constraint = learn(recipe(text), sentences, seed=1)
    assert isinstance(constraint, LearnedConstraint)
    assert constraint.provenance["training_accuracy"] > 0.7
    assert set(constraint.feature.labels) == {label for s in sentences for label in s.labels}
    assert constraint.provenance["recipe"] == recipe(text).to_dict()


@pytest.mark.parametrize("text", ["shape:3", "pos:x", ""])
def test_an_unknown_constraint_is_refused_in_one_sentence(text):
    with pytest.raises(InvalidInput, match="existence"):
        recipe(text)


def test_held_out_gold_with_unknown_labels_is_left_out_and_counted(corpus):
    constraint = learn(recipe("pos:2"), corpus.train[:5], seed=1)
    known = set(constraint.feature.labels)
    found = rejected_gold(constraint, corpus.dev)
    assert found["unknown"] == sum(not known.issuperset(s.labels) for s in corpus.dev) > 0
    assert 0 < found["parts"] < found["sentences"] <= 100


def test_the_default_stands_unless_dev_speaks_clearly_against_it():
    default, other = np.full(100, 18), np.full(100, 18)
    other[0] = 20
    assert choose([default, other], default=0) == 0
    assert choose([default, default + 1], default=0) == 1
    assert choose([[5], [9]], default=0) == 0


def test_rows_are_those_of_the_decoders_asked_for():
    assert [row.name for row in rows_of([], ["search"])] == ["exact", "search"]
    names = [row.name for row in rows_of([recipe("pos:3"), recipe("existence:2")])]
    assert {"pos-3 search", "pos-3 exact", "existence-2 search"} <= set(names)
    assert "existence-2 exact" not in names
    with pytest.raises(InvalidInput, match="constrained-exact"):
        rows_of([], ["magic"])


def test_the_full_table_covers_the_paper():
    options = Options.full("conll2000")
    cells = cells_of(options)
    assert {cell.ratio for cell in cells} == set(paper.RATIOS)
    assert set(paper.ACCURACY) <= {row.name for row in cells[0].rows}
    assert len(options.seeds) >= 2
    # All of the data is one subset, whatever its kind; the second base model is on the first kind only.
    assert {(c.subset, c.base.name) for c in cells if c.ratio == 1} == {
        ("first", "bilstm"),
        ("first", "bilstm+pos"),
    }
    assert len(plan(cells)) == len(set(plan(cells)))


def test_the_base_model_of_the_table_reads_words_only():
    assert BASES["bilstm"][1] == BASES["linear"][1] == ()


def test_options_that_make_no_sense_are_refused():
    for wrong in ({"bases": ("magic",)}, {"subsets": ("all",)}, {"beam": 0}, {"seeds": ()}):
        with pytest.raises(InvalidInput):
            Options(**wrong)


def test_tuned_settings_are_those_that_dev_chose():
    by_ratio = tuned_settings()["conll2000"]["bilstm"]
    assert set(map(float, by_ratio)) == set(paper.RATIOS)
    for ratio, found in by_ratio.items():
        assert len(found["grid"]) == 8
        best = max(trial["dev"] for trial in found["grid"])
        chosen = [t for t in found["grid"] if {n: t[n] for n in found["chosen"]} == found["chosen"]]
        assert [trial["dev"] for trial in chosen] == [best]
        assert tuned("bilstm", "conll2000", float(ratio)) == BaseModel(
            "bilstm", tuple(sorted(found["chosen"].items()))
        )


def test_constraints_help_on_the_bundled_corpus(stages):
    """The claim of a first run, with the small model: five seeds, all of the training sentences."""
    filled = run(Options(bases=("linear",)), stages, jobs=1)
    (group,) = groups(filled)
    assert len(group.by_ratio[1.0]) == 5
    exact = group.mean("exact", 1.0)
    for row in ("pos-3 search", "pos-3 exact", "soft pos-3", CHOSEN):
        assert group.mean(row, 1.0) > exact + 1


def test_a_run_writes_what_it_found(quick_run, corpus):
    _, folder, report = quick_run
    results = json.loads((folder / "results.json").read_text())
    assert results["corpus"]["name"] == "bundled"
    assert "**bundled**" in report
    (cell,) = results["cells"]
    row = cell["rows"][CHOSEN]
    predicted = list(read_columns(folder / "predictions/linear-first-25%-seed1.txt", PREDICTIONS))
    assert [s.words for s in predicted] == [s.words for s in corpus.test]
    assert [s.columns["gold"] for s in predicted] == [s.labels for s in corpus.test]
    right = [a == b for s in predicted for a, b in zip(s.columns["gold"], s.labels, strict=True)]
    assert 100 * np.mean(right) == pytest.approx(row["test"])
    assert load(folder / "constraints/first-25%-seed1/pos-3.json").feature.n == 3
    assert cell["parameters"]["trained"] > 1000
    assert cell["constraints"]["pos-3"]["parameters"] < 3000
    assert (folder / "report.md").read_text() == report


def test_the_tagger_of_a_run_gives_its_predictions(quick_run, corpus):
    filled, folder, _ = quick_run
    tagger = load_constrained_tagger(folder / "tagger")
    answers = tagger.tag([sentence.x for sentence in corpus.test[:20]])
    found = [label for answer in answers for label in answer.y]
    labels = filled[0].labels
    assert found == [labels[i] for i in filled[0].predictions[CHOSEN][: len(found)]]


def test_a_rerun_gives_the_same_bytes(quick_run, tmp_path):
    _, folder, report = quick_run
    elsewhere = Stages(tmp_path / "stages")
    assert write_run(tmp_path / "run", QUICK, run(QUICK, elsewhere, jobs=2), elsewhere) == report
    for name in ("results.json", "report.md", "tagger/model.npz", "constraints/first-25%-seed1/pos-3.json"):
        assert (tmp_path / "run" / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_rule_behind_a_change_forbids_what_was_changed(corpus, stages):
    sentence = corpus.test[0]
    constraint = learn(SOFT[1], corpus.train, seed=1)
    before = ["B-VP"] * len(sentence)
    (found,) = examples([sentence], [before], [sentence.labels], {"pos-2": constraint})
    assert found.gain > 0
    assert found.rule.startswith("forbidden: ")
    assert "B-VP" in found.rule
    assert "< 0, so it is forbidden" in found.why


def test_unchanged_sentences_are_no_examples(corpus):
    labels = [sentence.labels for sentence in corpus.test]
    assert examples(corpus.test, labels, labels, {}) == []


def test_brackets_keep_every_word():
    assert bracketed(["a", "b", "c"], ["O", "I-NP", "B-NP"]) == "a [NP b] [NP c]"
