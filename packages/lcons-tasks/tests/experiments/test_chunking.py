"""The chunking experiment: subsets, recipes, choices, rules behind changes, and a whole run."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_tasks.apps._tagger import load_constrained_tagger
from lcons_tasks.data import find
from lcons_tasks.experiments.chunking._constraints import DECODERS, SOFT, rows_of
from lcons_tasks.experiments.chunking._corpus import load_corpus, subset
from lcons_tasks.experiments.chunking._experiment import EXPERIMENT, PAPER, Options, claims
from lcons_tasks.experiments.chunking._model import BaseModel, tuned, tuned_settings
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import examples
from lcons_tasks.experiments.engine._recipes import learn, recipe
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._rows import ACCURACY, CHOSEN, EXACT
from lcons_tasks.experiments.engine._run import run, write_run

needs_conll2000 = pytest.mark.skipif(find("conll2000") is None, reason="needs CoNLL-2000")

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
    """A small run: its record, the folder that it wrote, and its document."""
    record = run(EXPERIMENT, QUICK, stages, jobs=1)
    folder = tmp_path_factory.mktemp("run")
    return record, folder, write_run(folder, EXPERIMENT, QUICK, record, stages)


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


def test_rows_are_those_of_the_decoders_asked_for():
    assert [row.name for row in rows_of([], ["search"])] == ["exact", "search"]
    names = [row.name for row in rows_of([recipe("pos:3"), recipe("existence:2")])]
    assert {"pos-3 search", "pos-3 exact", "existence-2 search"} <= set(names)
    assert "existence-2 exact" not in names


def test_the_full_table_covers_the_paper():
    options = Options.start(True, "conll2000")
    cells = EXPERIMENT.cells(options)
    assert {cell.ratio for cell in cells} == set(PAPER["ratios"])
    assert set(PAPER["accuracy"]) <= {row.name for row in cells[0].rows}
    assert len(options.seeds) >= 2
    # All of the data is one subset, whatever its kind; the second base model is on the first kind only.
    assert {(c.subset, c.base.name) for c in cells if c.ratio == 1} == {
        ("first", "bilstm"),
        ("first", "bilstm+pos"),
    }
    assert [cell.name for cell in cells if cell.first] == ["bilstm-first-1%-seed1"]


@pytest.mark.parametrize("name", ["bilstm", "linear"])
def test_the_base_model_of_the_table_reads_words_only(name, corpus):
    settings = (("epochs", 1),) if name == "bilstm" else ()
    model = BaseModel(name, settings).train(corpus.train[:10], corpus.dev[:3], None, seed=1)
    words, other_tags = corpus.test[0].words, ["XX"] * len(corpus.test[0])
    assert model.columns == ()
    for x in ({"word": words}, {"word": words, "pos": other_tags}):
        assert (model.scores([x]).emission == model.scores([corpus.test[0].x]).emission).all()


def test_tuned_settings_are_those_that_dev_chose():
    by_ratio = tuned_settings()["conll2000"]["bilstm"]
    assert set(map(float, by_ratio)) == set(PAPER["ratios"])
    for ratio, found in by_ratio.items():
        assert len(found["grid"]) == 8
        best = max(trial["dev"] for trial in found["grid"])
        chosen = [t for t in found["grid"] if {n: t[n] for n in found["chosen"]} == found["chosen"]]
        assert [trial["dev"] for trial in chosen] == [best]
        assert tuned("bilstm", "conll2000", float(ratio)) == BaseModel(
            "bilstm", tuple(sorted(found["chosen"].items()))
        )


def test_constraints_help_on_the_bundled_corpus(stages):
    """The claim of a first run, with the small model: three seeds, all of the training sentences; without the
    rows of baselines, which `quick_run` has."""
    decoders = tuple(name for name in DECODERS if name != "baselines")
    record = run(EXPERIMENT, Options(bases=("linear",), seeds=(1, 2, 3), decoders=decoders), stages, jobs=1)
    assert len(record.cells) == 3
    exact = record.mean(EXACT, ACCURACY)
    for row in ("pos-3 search", "pos-3 exact", "soft pos-3", CHOSEN):
        assert record.mean(row, ACCURACY) > exact + 1


def test_the_tagger_of_a_run_gives_its_predictions(quick_run, corpus, stages):
    _, folder, _ = quick_run
    tagger = load_constrained_tagger(folder / "tagger")
    found = [answer.y for answer in tagger.tag([sentence.x for sentence in corpus.test[:20]])]
    (cell,) = EXPERIMENT.cells(QUICK)
    assert [tuple(y) for y in found] == cell.answers(stages).texts[CHOSEN][:20]


def test_a_rerun_gives_the_same_bytes(quick_run, tmp_path):
    _, folder, _ = quick_run
    elsewhere = Stages(tmp_path / "stages")
    write_run(tmp_path / "run", EXPERIMENT, QUICK, run(EXPERIMENT, QUICK, elsewhere, jobs=2), elsewhere)
    for path in sorted(folder.rglob("*.*")):
        twin = tmp_path / "run" / path.relative_to(folder)
        assert twin.read_bytes() == path.read_bytes(), path


def test_a_second_run_into_a_folder_leaves_nothing_of_the_first(quick_run, stages, tmp_path):
    record, _, _ = quick_run
    write_run(tmp_path, EXPERIMENT, QUICK, record, stages)
    other = replace(QUICK, decoders=("search",), constraints=("pos:2",))
    write_run(tmp_path, EXPERIMENT, other, run(EXPERIMENT, other, stages, jobs=1), stages)
    assert list((tmp_path / "constraints").rglob("*.json")) == []
    assert json.loads((tmp_path / "results.json").read_text())["options"]["decoders"] == ["search"]


def made_cell(ratio, right):
    """A cell of the table with the given right labels per test sentence of four labels, by row."""
    rows = {name: {ACCURACY: 25 * np.mean(counts)} for name, counts in right.items()}
    counts = np.array([[[count, 4] for count in own] for own in right.values()])
    at = {"base": "bilstm", "subset": "first", "ratio": ratio, "seed": 1}
    return RecordCell(f"cell {ratio}", at, rows, {}, {ACCURACY: counts}, tuple(range(40)))


def test_claims_of_the_paper_are_held_against_our_figures():
    low = {"exact": [2] * 40, "search": [2] * 40, "pos-3 search": [3] * 40, "existence-2 search": [2] * 40}
    high = {"exact": [3] * 40, "search": [3] * 40, "pos-3 search": [2] * 40, "existence-2 search": [4] * 40}
    made = [made_cell(0.01, {**low, CHOSEN: [4] * 40}), made_cell(1.0, {**high, CHOSEN: [4] * 40})]
    found = {claim.text: claim for claim in claims(Record(tuple(made)))}
    assert not found["POS-constrained search (n = 3) beats search at every ratio"].held
    assert found["at 1%, POS-constrained search (n = 3) gains +4.41 over exact"].held
    assert not found["label existence (n = 2) does not help"].held
    assert found["the gain of constraints (POS n = 3, over exact) shrinks as data grow"].held
    assert found["at 1%, constraints reach ELMo's 87.09 (chosen on dev)"].held
    assert (
        "1% +25.00 [+25.00, +25.00]"
        in found["POS-constrained search (n = 3) beats search at every ratio"].figures
    )


def test_the_rule_behind_a_change_forbids_what_was_changed(corpus, stages):
    sentence = corpus.test[0]
    constraint = learn(SOFT[1], corpus.train, seed=1)
    before = ["B-VP"] * len(sentence)
    (found,) = examples([sentence], [before], [sentence.labels], {"pos-2": constraint})
    assert "B-VP" in found["rule"]
