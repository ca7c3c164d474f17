"""The same decoder in Ray Data, Dask, Spark and datasets, as `docs/how-to/scale.md` shows it."""

import os
import shutil
import sys

import numpy as np
import pytest

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import NgramContext
from lcons_decode import Decoder

pytestmark = pytest.mark.integrations

LABELS = ["B-X", "I-X", "O"]
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def sequences(count=60, seed=0):
    """Columns of scores: plain lists, which every library takes."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, count).tolist()
    return {
        "id": list(range(count)),
        "emission": [(rng.integers(-8, 9, (T, 3)) / 4).tolist() for T in lengths],
        "words": [["w"] * T for T in lengths],
    }


def columns_of(table):
    return dict(zip(table.schema.names, table.columns, strict=True))


EMISSION = pa.list_(pa.list_(pa.float64()))
TABLE = pa.table(
    {
        "id": pa.array(sequences()["id"]),
        "emission": pa.array(sequences()["emission"], EMISSION),
        "words": pa.array(sequences()["words"], pa.list_(pa.string())),
    }
)
DECODER = Decoder([iob2(LABELS)], labels=LABELS)


def by_id(rows):
    """Rows as plain data, by id."""
    plain = [{name: getattr(cell, "tolist", lambda: cell)() for name, cell in row.items()} for row in rows]  # noqa: B023
    return {row["id"]: row for row in plain}


@pytest.fixture(scope="module")
def answers():
    """What every engine must give, by id."""
    found = DECODER(sequences())
    rows = [dict(zip(found, cells, strict=True)) for cells in zip(*found.values(), strict=True)]
    assert any(row["changed"] for row in rows)
    return {row["id"]: row for row in rows}


@pytest.mark.parametrize("layout", ["list", "fixed", "float32", "large", "record batch", "slice", "chunks"])
def test_arrow_columns_of_all_layouts_are_answered_alike(answers, layout):
    table = TABLE
    types = {
        "fixed": pa.list_(pa.list_(pa.float64(), 3)),
        "float32": pa.list_(pa.list_(pa.float32())),
        "large": pa.large_list(pa.large_list(pa.float64())),
    }
    if layout in types:
        table = table.set_column(1, "emission", pa.array(sequences()["emission"], types[layout]))
    if layout == "record batch":
        table = table.to_batches()[0]
    if layout == "slice":
        table = table.slice(11, 20)
    if layout == "chunks":
        table = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    found = pa.table(DECODER(columns_of(table))).to_pylist()
    assert found == [answers[i] for i in table.column("id").to_pylist()]


def test_contexts_may_be_dictionaries_of_strings():
    feature = NgramContext(tuple(LABELS), ("w", "v"), 2)
    rng = np.random.default_rng(3)
    network = RectifierNetwork(rng.integers(-16, 17, (2, feature.space.d)) / 8, [0.5, 0.0])
    decoder = Decoder([LearnedConstraint(network, feature.space, feature)], labels=LABELS)
    pos = [[("w", "v")[i % 2] for i, _ in enumerate(words)] for words in sequences()["words"]]
    want = decoder({**sequences(), "pos": pos})
    array = pa.array(pos, pa.list_(pa.string()))
    coded = pa.ListArray.from_arrays(array.offsets, array.values.dictionary_encode())
    for column in (array, coded):
        found = decoder({**columns_of(TABLE), "pos": column})
        assert [found[name] for name in ("labels", "score", "changed")] == [
            want[name] for name in ("labels", "score", "changed")
        ]
    assert any(want["changed"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["a"]), "expected 3 scores per token"),
        (pa.array([[["a"]]]), "expected 3 scores per token"),
        (pa.array([[[1.0, 2.0]]]), "expected 3 scores per token"),
        (pa.array([[[1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]]), "expected 3 scores per token"),
        (pa.array([[[1.0, 2.0, None]]]), "NaN"),
        (pa.array([[[1.0, 2.0, np.inf]]]), "must not contain NaN"),
    ],
)
def test_wrong_arrow_columns_are_one_sentence(column, message):
    with pytest.raises(InvalidInput, match=message):
        DECODER({"emission": column})


def test_datasets_maps_batches(answers):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    data = datasets.Dataset.from_dict(sequences())
    found = data.map(DECODER, batched=True, batch_size=16, remove_columns=["emission"])
    assert {row["id"]: row for row in found} == answers


def on_frame(frame):
    """A frame with the answers, as Dask and Spark want it."""
    return pd.DataFrame(DECODER(frame.to_dict("list")))


def test_dask_maps_partitions_of_frames(answers):
    pytest.importorskip("dask")
    import dask.dataframe

    # Without this, Dask turns cells that are lists into text.
    with dask.config.set({"dataframe.convert-string": False, "scheduler": "threads"}):
        frame = dask.dataframe.from_pandas(TABLE.to_pandas(), npartitions=3, sort=False)
        found = frame.map_partitions(on_frame, meta=on_frame(frame._meta)).compute()
    assert by_id(found.to_dict("records")) == answers


def test_ray_data_maps_batches(answers, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray")
    from ray.data import from_arrow

    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    try:
        found = from_arrow(TABLE).map_batches(DECODER, batch_size=16).take_all()
    finally:
        ray.shutdown()
    assert by_id(found) == answers


def test_spark_maps_frames(answers):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a JVM")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }
    session = sql.SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    try:
        frame = session.createDataFrame(
            pd.DataFrame(sequences()), "id long, emission array<array<double>>, words array<string>"
        )
        schema = (
            "id long, words array<string>, labels array<string>, score double, status string, changed long"
        )
        found = [
            row.asDict() for row in frame.mapInPandas(lambda frames: map(on_frame, frames), schema).collect()
        ]
    finally:
        session.stop()
    assert {row["id"]: row for row in found} == answers
