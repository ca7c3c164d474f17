"""The citation experiment: tokens and fields, splits, rows, gains, claims, and a whole run."""

from itertools import groupby

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_tasks.apps._tagger import load_constrained_tagger
from lcons_tasks.apps.references import parse
from lcons_tasks.data import find, read_references
from lcons_tasks.data._references import Reference, Segment
from lcons_tasks.data.text._clues import CLUE
from lcons_tasks.experiments.citation._constraints import (
    PAPER,
    default_weights,
    rows_of,
)
from lcons_tasks.experiments.citation._corpus import label_tokens, load_corpus
from lcons_tasks.experiments.citation._experiment import EXPERIMENT, Options, claims
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._labelling import choose_weights
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._rows import ACCURACY, EXACT
from lcons_tasks.experiments.engine._run import run, write_run

CORA = find("cora") or ()
needs_cora = pytest.mark.skipif(not CORA, reason="needs Cora")

QUICK = Options(seeds=(1,), bases=("words-brief",), decoders=("exact", "soft", "designed"))


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture(scope="module")
def corpus(stages):
    return load_corpus("bundled", stages)


@pytest.fixture(scope="module")
def quick_run(stages, tmp_path_factory):
    """A small run: its record, the folder that it wrote, and its document."""
    record = run(EXPERIMENT, QUICK, stages, jobs=1)
    folder = tmp_path_factory.mktemp("run")
    return record, folder, write_run(folder, EXPERIMENT, QUICK, record, stages)


def test_text_outside_any_field_belongs_to_the_field_before_and_at_the_start_to_the_first():
    segments = (Segment(None, "["), Segment("note", "3]"), Segment(None, "."), Segment("title", "On x."))
    words, labels = label_tokens(Reference(segments))
    assert words == ("[", "3", "]", ".", "On", "x", ".")
    assert labels == ("note",) * 4 + ("title",) * 3


@needs_cora
def test_cora_has_the_known_references_and_tokens():
    references = list(read_references(CORA[0]))
    assert len(references) == 500
    assert sum(len(label_tokens(reference)[0]) for reference in references) == 19182


def test_a_file_of_ones_own_is_tagged_once_and_kept(stages, tmp_path, monkeypatch):
    path = tmp_path / "own.txt"
    path.write_text("<author> A. Turing. </author> <date> 1950. </date>\n" * 12, encoding="utf-8")
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))

    class Tagger:
        name = "a tagger"

        def tags_many(self, texts):
            return [["NNP"] * len(words) for words in texts]

    monkeypatch.setattr("lcons_tasks.experiments.citation._corpus.find_pos_tagger", Tagger)
    first = load_corpus(str(path), stages)
    assert first.tagger == "a tagger"
    monkeypatch.setattr("lcons_tasks.experiments.citation._corpus.find_pos_tagger", None)
    assert load_corpus(str(path), stages).references == first.references


def test_a_corpus_that_is_not_there_is_refused(stages):
    with pytest.raises(InvalidInput):
        load_corpus("nowhere", stages)


def test_splits_are_disjoint_and_differ_by_seed(corpus):
    whole = corpus.split(1)
    assert sorted(i for part in whole for i in part) == list(range(len(corpus.references)))
    assert corpus.split(1) == whole != corpus.split(2)


def test_other_k_are_for_the_first_base_only():
    cells = EXPERIMENT.cells(Options(seeds=(1,), bases=("words", "reference"), hidden=(10, 5)))
    assert [any("K=5" in row.name for row in cell.rows) for cell in cells] == [True, False]


def test_weights_stay_unless_dev_speaks_clearly_against_them():
    flat = [5, 6, 7]
    assert choose_weights(lambda weights: flat, (1.0, 2.0)) == (1.0, 2.0)
    noisy = {2.0: [9, 1, 9], 1.0: [6, 6, 6]}
    assert choose_weights(lambda weights: noisy.get(weights[0], [0, 0, 0]), (1.0,)) == (1.0,)
    # Both together first, then each by itself.
    target = {(4.0, 4.0): [7, 7, 7], (4.0, 0.0): [8, 8, 8]}
    assert choose_weights(lambda weights: target.get(weights, [1, 1, 1]), (1.0, 1.0)) == (4.0, 0.0)


def test_the_parser_that_is_left_behind_is_the_model_under_clues(quick_run, corpus, stages):
    record, folder, _ = quick_run
    parser = load_constrained_tagger(folder / "parser")
    assert parser.columns == (CLUE,)
    (row,) = [row for row in rows_of() if row.name == "soft clues"]
    assert [use.weight for use in parser.constraints] == [
        2 * weight for weight in default_weights(row, "words-brief")
    ]
    xs = [corpus.references[i].x for i in record.first.units]
    exact = EXPERIMENT.cells(QUICK)[0].answers(stages).texts[EXACT]
    assert [tuple(answer.y) for answer in parser.alone.tag(xs)] == exact
    line = " ".join(xs[0]["word"])
    (parsed,) = parse(parser, [line])
    assert [field for field, _ in parsed.pieces] == [field for field, _ in groupby(parser.tag(xs[:1])[0].y)]


def test_the_papers_claims_are_about_its_rows():
    figures = {**dict.fromkeys(PAPER, 88.0), **dict.fromkeys(("C1", "C2", "C3"), 90.0)}
    rows = {f"{name} search": {ACCURACY: figure} for name, figure in figures.items()}
    rows |= {"exact": {ACCURACY: 86.0}, "pos search K=5": {ACCURACY: 87.0}}
    counts = np.array([[[row[ACCURACY], 100]] * 3 for row in rows.values()], dtype=int)
    record = Record((RecordCell("a", {}, rows, {}, {ACCURACY: counts}, (0, 1, 2)),))
    found = {claim.text: claim for claim in claims(record)}
    assert "C3 search +4.00 [+4.00, +4.00]" in found["every constrained search beats exact"].figures
    assert found["combining constraints helps (the best combination beats the best single feature)"].held
    assert not found["all six combined gains +4.4 over exact"].held
    assert not found["K hardly matters (pos: within half a point)"].held
