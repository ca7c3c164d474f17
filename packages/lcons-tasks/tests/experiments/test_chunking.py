"""The chunking experiment: parts of the corpus, base models, choices, claims, and a whole run."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lcons_tasks.apps._tagger import load_constrained_tagger
from lcons_tasks.data import find
from lcons_tasks.experiments.chunking._constraints import choices, rows_of
from lcons_tasks.experiments.chunking._corpus import load_corpus
from lcons_tasks.experiments.chunking._experiment import EXPERIMENT, PAPER, Options, claims
from lcons_tasks.experiments.chunking._model import BaseModel
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._rows import ACCURACY, CHOSEN
from lcons_tasks.experiments.engine._run import run, write_run

needs_conll2000 = pytest.mark.skipif(find("conll2000") is None, reason="needs CoNLL-2000")

QUICK = Options(ratios=(0.25,), seeds=(1,), bases=("linear",))


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("bundled")


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture(scope="module")
def quick_run(stages, tmp_path_factory):
    """A small run: its record, the folder that it wrote, and its document."""
    record = run(EXPERIMENT, QUICK, stages, jobs=1)
    folder = tmp_path_factory.mktemp("run")
    return record, folder, write_run(folder, EXPERIMENT, QUICK, record, stages)


def test_a_ratio_takes_the_first_of_train_and_of_dev(corpus):
    assert corpus.subset(0.1) == (corpus.train[:21], corpus.dev[:6])
    assert corpus.subset(1.0) == (corpus.train, corpus.dev)
    assert corpus.subset(1e-6) == (corpus.train[:1], corpus.dev[:1])


@needs_conll2000
def test_conll2000_is_divided_as_in_the_paper():
    corpus = load_corpus("conll2000")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [8000, 936, 2012]
    assert [len(part) for part in corpus.subset(0.01)] == [80, 9]


def test_the_full_table_covers_the_paper():
    options = Options.start(True, "conll2000")
    cells = EXPERIMENT.cells(options)
    assert {cell.ratio for cell in cells} == set(PAPER["ratios"])
    assert set(PAPER["accuracy"]) <= {row.name for row in cells[0].rows}
    assert len(options.seeds) >= 2
    assert [cell.name for cell in cells if cell.first] == ["bilstm-1%-seed1"]


@pytest.mark.parametrize("name", ["bilstm", "linear"])
def test_the_base_model_of_the_table_reads_words_only(name, corpus, stages):
    settings = (("epochs", 1),) if name == "bilstm" else ()
    model = BaseModel(name, settings).train(corpus.train[:10], corpus.dev[:3], None, 1, stages)
    words, other_tags = corpus.test[0].words, ["XX"] * len(corpus.test[0])
    assert model.columns == ()
    for x in ({"word": words}, {"word": words, "pos": other_tags}):
        assert (model.scores([x]).emission == model.scores([corpus.test[0].x]).emission).all()


def test_settings_are_those_of_the_nearest_tuned_ratio():
    assert BaseModel.tuned("bilstm", "conll2000", 0.3) == BaseModel.tuned("bilstm", "conll2000", 0.25)
    assert dict(BaseModel.tuned("bilstm", "conll2000", 1.0).settings)["learning_rate"] == 0.001
    assert BaseModel.tuned("linear", "conll2000", 1.0) == BaseModel("linear")


def test_a_default_stays_unless_dev_is_clearly_for_another():
    """All are equally good in the first case; in the second, one weight of one row is clearly better."""
    rows = rows_of([], ["soft"])
    name = lambda setting: (setting[0].name, setting[1])  # noqa: E731
    same = choices(rows, False, lambda row, weights: np.array([5, 5, 5]))
    assert name(same[CHOSEN]) == name(same["soft pos-1+2"]) == ("soft pos-1+2", (8.0, 8.0))
    assert name(choices(rows, True, lambda row, weights: np.array([5, 5, 5]))[CHOSEN])[1] == (2.0, 2.0)
    better = choices(rows, False, lambda row, weights: np.array([5, 5, 5]) + (weights == (4.0,)))
    assert name(better[CHOSEN]) == ("soft pos-2", (4.0,))
    assert name(better["soft pos-3"]) == ("soft pos-3", (4.0,))


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
    at = {"base": "bilstm", "ratio": ratio, "seed": 1}
    return RecordCell(f"cell {ratio}", at, rows, {}, {ACCURACY: counts}, tuple(range(40)))


def test_a_gain_that_shrinks_as_data_grow_is_a_claim_that_holds():
    low, high = {"exact": [2] * 40, "pos-3 search": [3] * 40}, {"exact": [3] * 40, "pos-3 search": [2] * 40}
    cells = (made_cell(0.01, low), made_cell(1.0, high))
    found = {claim.text: claim.held for claim in claims(Record(cells))}
    assert found["the gain of constraints (POS n = 3, over exact) shrinks as data grow"]
    assert found["at 1%, POS-constrained search (n = 3) gains +4.41 over exact"]
