"""Cells and pieces on the workers of Dask and Ray, one of which is killed; the tagger in both."""

import os
import signal
from pathlib import Path

import pytest

from lcons_core import LconsError, iob2
from lcons_decode import Hard
from lcons_tasks.apps import ConstrainedTagger, TaggerDecoder
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine import Stages, engine, run_jobs
from lcons_tasks.models import LinearSettings, train_linear

pytestmark = pytest.mark.integrations


@pytest.fixture(autouse=True)
def of_this_machine(monkeypatch):
    """Ray stays on this machine; it is asked to before it is imported."""
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


def squares(marks, stages):
    """Made inside a function, so that it reaches workers by value: they cannot import this module."""

    def run(piece, tell):
        tell(0.5, f"squaring {piece}")
        mark = Path(marks, "killed")
        if piece == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return stages.folder.name, piece * piece

    return run


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_the_pieces_of_a_killed_worker_are_done_again_and_every_piece_reports_once(backend, tmp_path):
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    heard = []
    stages = Stages(tmp_path / "stages")
    with engine(backend, None, 2) as workers:
        assert workers == 2
        # One process of this machine would be enough for `jobs`; the cluster has two.
        found = run_jobs(squares(str(tmp_path), stages), [3, 1, 2, 5], 1, heard.append, stages.folder)
        if backend == "dask":
            texts_are_tagged(tmp_path)
    assert found == [("stages", 9), ("stages", 1), ("stages", 4), ("stages", 25)]
    assert (tmp_path / "killed").exists()
    for index, piece in enumerate([3, 1, 2, 5]):
        own = [(event.share, event.what) for event in heard if event.index == index]
        assert own[-1] == (1.0, "done")
        assert set(own[:-1]) == {(0.5, f"squaring {piece}")}
        assert own.count((1.0, "done")) == 1


def texts_are_tagged(folder):
    """The tagger of a folder, in Dask."""
    import dask.bag

    labels = ("B-NP", "I-NP", "O")
    sentences = [Sentence(("the", "dog", "."), labels, {}), Sentence(("a", "cat", "."), labels, {})]
    model = train_linear(sentences, LinearSettings(iterations=3))
    ConstrainedTagger(model, (Hard(iob2(model.labels), "iob2"),)).save(folder / "tagger")
    rows = [{"words": ["the", "cat", "."], "id": i} for i in range(6)]
    decoder = TaggerDecoder(folder / "tagger")
    found = dask.bag.from_sequence(rows, npartitions=2).map_partitions(decoder).compute()
    assert found == decoder(rows)
    assert found[0]["labels"] == ["B-NP", "I-NP", "O"]


def test_a_scheduler_that_is_not_there_is_one_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(LconsError, match="cannot reach the dask scheduler"), engine("dask", "127.0.0.1:9"):
        pass
