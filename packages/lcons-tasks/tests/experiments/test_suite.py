"""The suite: samples of sets, rows of one sample, gains over cells, and a whole run that is kept."""

import json
import random

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_tasks.data import Sentence, write_columns
from lcons_tasks.data._columns import Columns
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import run, write_run
from lcons_tasks.experiments.suite._answers import ALL, ENCODED, FIGURE, PLAIN, ROWS, TUNED, Cell, label
from lcons_tasks.experiments.suite._corpus import LabelledSet, has_suite, load_set, set_names
from lcons_tasks.experiments.suite._experiment import EXPERIMENT, Options
from lcons_tasks.experiments.suite._measures import Gains
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
    rng, drawn = random.Random(seed), []
    for _ in range(n):
        drug = [rng.choice(DRUGS), *(["sodium"] if rng.random() < 0.3 else [])]
        names = ["B-DRUG", "I-DRUG"][: len(drug)] if spans else ["NAME"] * len(drug)
        pairs = [
            (drug, names) if word == "*" else ([word], ["O" if spans else "X"]) for word in rng.choice(FRAMES)
        ]
        words, labels = (tuple(one for part in side for one in part) for side in zip(*pairs, strict=True))
        drawn.append(Sentence(words, labels))
    return drawn


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


@pytest.mark.parametrize(
    ("n", "size", "firsts"), [(2000, 25, [0, 300, 600]), (350, 200, [0, 200, 50]), (5000, 100, [0, 300, 600])]
)
def test_samples_start_at_offsets_and_wrap_round(n, size, firsts):
    pool = tuple(Sentence((str(i),), ("O",)) for i in range(n))
    numbers = LabelledSet("numbers", pool, pool[:1])
    for start, first in enumerate(firsts):
        labelled, texts = numbers.sample(size, start)
        order = [int(words[0]) for words in ([one.words for one in labelled] + list(texts))]
        assert order == [(first + i) % n for i in range(min(n, size + 3000))]
        assert len(labelled) == size


def test_every_folder_of_the_data_folder_is_a_set(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LCONS_DATA_DIR", str(tmp_path))
    assert not has_suite()
    assert Options.start(False).corpus == "bundled"
    (tmp_path / "suite").symlink_to(folder)
    assert set_names("suite") == ("drugs", "tags")
    assert Options.start(True) == Options("suite", sizes=(25, 50, 100, 200))


def test_the_bundled_sets_are_spans_without_tags_and_unknown_ones_are_refused(folder, tmp_path):
    for name in set_names("bundled"):
        bundled = load_set("bundled", name)
        assert bundled.spans
        assert not any(one.columns for one in bundled.pool)
    with pytest.raises(InvalidInput):
        load_set(str(folder), "other")
    for wrong in (str(tmp_path), str(tmp_path / "none")):
        with pytest.raises(InvalidInput):
            set_names(wrong)


def test_plain_is_the_plain_fit_and_no_row_needs_unlabelled_text(folder):
    drugs = load_set(str(folder), "drugs")
    labelled, texts = drugs.sample(10, 0)
    words = tuple(one.words for one in drugs.test)
    cell = Cell(str(folder), "drugs", 10, 0)
    tagged = fit(labelled, texts, FitSettings.plain()).tag(words)
    assert label(cell, PLAIN, labelled, texts, words) == tuple(tuple(one.y) for one in tagged)
    for row in ROWS:
        assert len(label(cell, row, labelled, (), words)) == len(words)


def cell_of(name: str, size: int, start: int, better: int) -> RecordCell:
    """A cell of 40 sentences with one span each, of which plain and tuned find 10, and all finds more."""
    right = {PLAIN: 10, TUNED: 10, ALL: 10 + better}
    counts = np.array([[[int(i < n), 1, 1] for i in range(40)] for n in right.values()])
    rows = {row: {FIGURE: 100 * n / 40} for row, n in right.items()}
    at = {"set": name, "size": size, "start": start}
    facts = {"offset": start, "measure": "span F1", "unlabelled": 5, "test": 40, "sha256": "0" * 64}
    return RecordCell(f"{name}-{size}-{start}", at, rows, facts, {FIGURE: counts}, tuple(range(40)))


def test_gains_are_means_over_starting_points_and_then_over_sets_and_sizes():
    cells = (
        cell_of("a", 25, 0, 20),
        cell_of("a", 25, 1, 10),
        cell_of("b", 25, 0, -8),
        cell_of("b", 50, 0, 0),
    )
    gains = Gains.of(Record(cells), ALL, TUNED)
    by_sample = {key: one.mean for key, one in gains.by_sample().items()}
    assert by_sample == pytest.approx({("a", 25): 37.5, ("b", 25): -20.0, ("b", 50): 0.0})
    assert gains.mean().mean == pytest.approx((37.5 - 20) / 3)
    assert gains.mean("b").mean == pytest.approx(-10)
    assert gains.mean(size=25).mean == pytest.approx(8.75)
    assert gains.mean("c") is None
    assert gains.each()[0].low > 0 > gains.each()[2].high


def test_a_worse_cell_is_named(folder):
    document = EXPERIMENT.document(
        Options(str(folder)), Record((cell_of("a", 25, 0, 30), cell_of("b", 25, 0, -8)))
    )
    (block,) = [section.blocks[0] for section in document.sections if section.title == "Claims"]
    wanted, tuned, plain = block.claims
    assert [wanted.held, tuned.held, plain.held] == [True, False, False]
    assert tuned.figures.startswith("b N = 25 -20.00")


def test_a_run_has_every_set_and_start_and_is_not_made_again(folder, stages, tmp_path, monkeypatch):
    options = Options(str(folder), sizes=(10,), starts=2)
    for out in ("run", "again"):
        record = run(EXPERIMENT, options, stages, 1)
        write_run(tmp_path / out, EXPERIMENT, options, record, stages)
        monkeypatch.setattr("lcons_tasks.experiments.suite._answers.fit", None)
    places = [("drugs", 0), ("drugs", 15), ("tags", 0), ("tags", 15)]
    assert [(c.at["set"], c.facts["offset"]) for c in record.cells] == places
    assert record.told("measure") == ["span F1"] * 2 + ["token accuracy"] * 2
    results = [(tmp_path / out / "results.json").read_bytes() for out in ("run", "again")]
    assert results[0] == results[1]
    assert len(json.loads(results[0])["claims"]) == 3
    figures = (tmp_path / "run/figures.csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[-1]) for line in figures] == pytest.approx(
        [cell.rows[row][FIGURE] for cell in record.cells for row in ROWS], abs=1e-4
    )


def test_sizes_that_leave_no_text_have_no_cells_and_an_encoder_adds_rows(folder):
    cells = EXPERIMENT.cells(Options(str(folder), sizes=(10, 60), starts=1, encoder="some"))
    assert [(cell.name, cell.size) for cell in cells] == [("drugs", 10), ("tags", 10)]
    assert cells[0].rows == (*ROWS, *ENCODED)
    with pytest.raises(InvalidInput):
        EXPERIMENT.document(Options(), Record(()))
