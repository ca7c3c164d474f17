"""The suite: samples of sets, rows of one sample, gains over cells, and a whole run that is kept."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_tasks.data import Sentence, write_columns
from lcons_tasks.data._columns import Columns
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import run, write_run
from lcons_tasks.experiments.suite._answers import FIGURE
from lcons_tasks.experiments.suite._corpus import LabelledSet, has_suite, load_set, set_names
from lcons_tasks.experiments.suite._experiment import EXPERIMENT, Options, claims
from lcons_tasks.experiments.suite._measures import Gains
from lcons_tasks.experiments.suite._model import (
    ALL,
    ENCODED,
    MAIN,
    PLAIN,
    ROWS,
    SELF_TRAINING,
    TUNED,
    Given,
    answer,
)
from lcons_tasks.fitted import FitSettings, fit

pytestmark = pytest.mark.xdist_group("suite")

DRUGS = ["aspirin", "ibuprofen", "morphine", "codeine", "heparin", "insulin", "warfarin", "digoxin"]
FRAMES = [
    ("give", "*", "at", "night"),
    ("the", "dose", "of", "*", "was", "high"),
    ("*", "helped", "him"),
    ("stop", "*", "now"),
    ("he", "was", "well"),
]


def sentences(seed: int, n: int, spans: bool) -> list[Sentence]:
    """Sentences with drugs, labelled as spans or each word by a tag."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        frame, drug = rng.choice(FRAMES), [rng.choice(DRUGS), *(["sodium"] if rng.random() < 0.3 else [])]
        words, labels = [], []
        for word in frame:
            words += drug if word == "*" else [word]
            own = ["B-DRUG", "I-DRUG"] if spans else ["NAME", "NAME"]
            labels += (
                own[: len(drug)]
                if word == "*"
                else ["O" if spans else "VERB" if word in "give stop was" else "X"]
            )
        found.append(Sentence(tuple(words), tuple(labels)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two sets: spans with dev sentences, and tags without."""
    folder = tmp_path_factory.mktemp("sets")
    for name, spans in (("drugs", True), ("tags", False)):
        (folder / name).mkdir()
        for seed, part in enumerate(("train", "dev", "test")):
            if spans or part != "dev":
                path = folder / name / f"{part}.conll"
                write_columns(path, sentences(seed, 60 if part == "train" else 20, spans), Columns())
    return folder


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    return Stages(tmp_path_factory.mktemp("stages"))


def numbered(n: int) -> LabelledSet:
    pool = tuple(Sentence((str(i),), ("O",)) for i in range(n))
    return LabelledSet("numbers", pool, pool[:1])


@pytest.mark.parametrize(("n", "size", "firsts"), [(2000, 25, [0, 300, 600]), (350, 200, [0, 200, 50])])
def test_samples_start_at_offsets_and_wrap_round(n, size, firsts):
    found = numbered(n)
    for start, first in enumerate(firsts):
        labelled, texts = found.sample(size, start)
        order = [int(words[0]) for words in ([one.words for one in labelled] + list(texts))]
        assert order == [(first + i) % n for i in range(n)]
        assert len(labelled) == size


def test_unlabelled_text_is_the_next_three_thousand_sentences():
    _, texts = numbered(5000).sample(100, 1)
    assert (len(texts), texts[0], texts[-1]) == (3000, ("400",), ("3399",))


def test_every_folder_of_the_data_folder_is_a_set(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LCONS_DATA_DIR", str(tmp_path))
    assert not has_suite()
    assert Options.start(False).corpus == "bundled"
    (tmp_path / "suite").symlink_to(folder)
    assert set_names("suite") == ("drugs", "tags")
    assert Options.start(False).corpus == "suite"
    assert Options.start(False).sizes == (25, 50, 100, 200)


def test_the_bundled_sets_are_spans_without_tags():
    for name in set_names("bundled"):
        found = load_set("bundled", name)
        assert found.spans
        assert not any(one.columns for one in found.pool)
    assert len(load_set("bundled", "citation").test) == 94


def test_unknown_sets_and_folders_are_refused(folder, tmp_path):
    with pytest.raises(InvalidInput, match="drugs, tags"):
        load_set(str(folder), "other")
    for wrong in (str(tmp_path), str(tmp_path / "none")):
        with pytest.raises(InvalidInput, match="found"):
            set_names(wrong)


@pytest.fixture(scope="module")
def given(folder) -> Given:
    found = load_set(str(folder), "drugs")
    labelled, texts = found.sample(10, 0)
    return Given(labelled, texts, tuple(one.words for one in found.test))


@pytest.fixture(scope="module")
def made(given, stages):
    return {row: answer(row, given, stages) for row in ROWS}


def test_plain_is_the_plain_fit(made, given):
    found = fit(given.labelled, given.texts, FitSettings.plain())
    assert made[PLAIN].labels == tuple(one.y for one in found.tag(given.words))


def test_self_training_adds_half_of_the_text(given, monkeypatch, tmp_path):
    from lcons_tasks.experiments.suite import _model

    sizes, kept = [], _model.Base  # type: ignore[attr-defined]

    def watch(labelled, *rest):
        sizes.append(len(labelled))
        return kept(labelled, *rest)

    monkeypatch.setattr(_model, "Base", watch)
    answer(SELF_TRAINING, given, Stages(tmp_path))
    assert sizes == [10, 10 + len(given.texts) // 2]


@pytest.mark.parametrize("row", [SELF_TRAINING, TUNED, ALL])
def test_rows_need_no_unlabelled_text(row, given, stages):
    alone = replace(given, texts=())
    assert len(answer(row, alone, stages).labels) == len(given.words)


def cell(name: str, size: int, start: int, better: int) -> RecordCell:
    """A cell of 40 sentences with one span each, of which plain and tuned find 10, and all finds more."""
    right = {PLAIN: 10, TUNED: 10, ALL: 10 + better}
    counts = np.array([[[int(i < n), 1, 1] for i in range(40)] for n in right.values()])
    rows = {row: {FIGURE: 100 * n / 40} for row, n in right.items()}
    at = {"set": name, "size": size, "start": start}
    facts = {"offset": start, "measure": "span F1", "unlabelled": 5, "test": 40, "sha256": "0" * 64}
    return RecordCell(f"{name}-{size}-{start}", at, rows, facts, {FIGURE: counts}, tuple(range(40)))


def test_gains_are_means_over_starting_points_and_then_over_sets_and_sizes():
    cells = (cell("a", 25, 0, 20), cell("a", 25, 1, 10), cell("b", 25, 0, -8), cell("b", 50, 0, 0))
    found = Gains.of(Record(cells), ALL, TUNED)
    by_sample = {key: one.mean for key, one in found.by_sample().items()}
    assert by_sample == pytest.approx({("a", 25): 37.5, ("b", 25): -20.0, ("b", 50): 0.0})
    assert found.mean().mean == pytest.approx((37.5 - 20) / 3)
    assert found.mean(sets=["b"]).mean == pytest.approx(-10)
    assert found.mean(sizes=[25]).mean == pytest.approx(8.75)
    assert found.mean(sets=["c"]) is None
    assert found.each()[0].low > 0 > found.each()[2].high


def test_a_worse_cell_is_named():
    record = Record((cell("a", 25, 0, 30), cell("b", 25, 0, -8)))
    wanted, tuned, plain = claims(record)
    assert wanted.held
    assert not tuned.held
    assert not plain.held
    assert tuned.figures.startswith("b N = 25 -20.00")


def whole(folder, out, stages, **more):
    options = Options(str(folder), sizes=(10,), starts=2, **more)
    record = run(EXPERIMENT, options, stages, 1)
    write_run(out, EXPERIMENT, options, record, stages)
    return record


@pytest.fixture(scope="module")
def done(folder, stages, tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    return out, whole(folder, out, stages)


def test_a_run_has_every_set_and_start_and_all_their_figures(done):
    out, record = done
    assert [(c.at["set"], c.facts["offset"]) for c in record.cells] == [
        ("drugs", 0),
        ("drugs", 15),
        ("tags", 0),
        ("tags", 15),
    ]
    assert record.told("measure") == ["span F1"] * 2 + ["token accuracy"] * 2
    report = (out / "report.md").read_text()
    assert "The worst pair is" in report
    assert (out / "report.html").is_file()
    figures = [float(line.split(",")[-1]) for line in (out / "figures.csv").read_text().splitlines()[1:]]
    assert figures == pytest.approx(
        [cell.rows[row][FIGURE] for cell in record.cells for row in MAIN], abs=1e-4
    )
    assert len(json.loads((out / "results.json").read_text())["claims"]) == 3


def test_what_is_kept_is_not_made_again_and_more_rows_are_added(done, folder, stages, tmp_path, monkeypatch):
    out, _ = done
    monkeypatch.setattr("lcons_tasks.experiments.suite._model.fit", None)
    whole(folder, tmp_path / "again", stages)
    assert (tmp_path / "again/results.json").read_bytes() == (out / "results.json").read_bytes()
    record = whole(folder, tmp_path / "more", stages, rows=(SELF_TRAINING,))
    assert record.rows == [*MAIN, SELF_TRAINING]


def test_sizes_that_leave_no_text_have_no_cells(folder):
    cells = EXPERIMENT.cells(Options(str(folder), sizes=(10, 60), starts=1))
    assert [(one.name, one.size) for one in cells] == [("drugs", 10), ("tags", 10)]
    with pytest.raises(InvalidInput, match="smaller"):
        EXPERIMENT.document(Options(), Record(()))


def test_a_whole_run_has_all_rows_and_an_encoder_adds_its_own(folder):
    assert Options.start(True, str(folder)).rows == ROWS
    assert Options(str(folder), encoder="some").rows == (*MAIN, *ENCODED)
    assert not set(ENCODED) & set(Options(str(folder)).rows)
