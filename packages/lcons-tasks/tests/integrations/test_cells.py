"""Cells on the workers of a Dask cluster, by the backend that joblib has for it; the tagger in a Dask bag."""

import os
from functools import partial

import pytest

from lcons_core import iob2
from lcons_decode import Hard
from lcons_tasks.apps import ConstrainedTagger, TaggerDecoder
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._run import in_parallel
from lcons_tasks.models import LinearSettings, train_linear

pytestmark = pytest.mark.integrations


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_pieces_run_on_the_workers_of_a_cluster(client):
    from joblib import parallel_config

    def square(number):
        return number * number, os.getpid()

    events = []
    with parallel_config(backend="dask"):
        work = [(str(number), partial(square, number)) for number in (3, 1, 2, 5)]
        found = in_parallel("squares", work, None, lambda *event: events.append(event))
    assert [result for result, _ in found] == [9, 1, 4, 25]
    assert os.getpid() not in {process for _, process in found}
    assert sorted(piece for *_, piece in events) == ["1", "2", "3", "5"]


def test_a_tagger_tags_the_partitions_of_a_frame(client, tmp_path):
    import dask.dataframe
    import pandas as pd

    labels = ("B-NP", "I-NP", "O")
    sentences = [Sentence(("the", "dog", "."), labels, {}), Sentence(("a", "cat", "."), labels, {})]
    model = train_linear(sentences, LinearSettings(iterations=3))
    ConstrainedTagger(model, (Hard(iob2(model.labels), "iob2"),)).save(tmp_path / "tagger")
    tagger = TaggerDecoder(tmp_path / "tagger")

    def on_frame(frame):
        return pd.DataFrame(tagger(frame.to_dict("list")))

    rows = pd.DataFrame({"id": range(6), "words": [["the", "cat", "."]] * 6})
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dask.dataframe.from_pandas(rows, npartitions=2)
        found = frame.map_partitions(on_frame, meta=on_frame(frame._meta)).compute()
    assert [list(y) for y in found["labels"]] == [["B-NP", "I-NP", "O"]] * 6
