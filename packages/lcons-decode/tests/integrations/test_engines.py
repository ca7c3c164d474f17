"""The same decoder in Ray Data, Dask, datasets and Spark; shards on real clusters, with a worker killed."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from lcons_core import LconsError, iob2
from lcons_decode import Decoder
from lcons_decode.shards import MANIFEST, ShardDecoder, cluster, run_shards

pytestmark = pytest.mark.integrations

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from shard_works import Doubles  # noqa: E402

LABELS = ["B-X", "I-X", "O"]
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module", autouse=True)
def workers_find_this_folder():
    """Worker processes import `shard_works`; Ray is asked to stay on this machine before it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")])))
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


def sequences(count=60, seed=0):
    """Rows of scores: plain lists, which every library takes."""
    rng = np.random.default_rng(seed)
    return [
        {"id": i, "emission": (rng.integers(-8, 9, (T, 3)) / 4).tolist(), "words": ["w"] * T}
        for i, T in enumerate(rng.integers(0, 6, count).tolist())
    ]


EMISSION = pa.list_(pa.list_(pa.float64()))


def table_of(rows):
    return pa.table(
        {
            "id": pa.array([row["id"] for row in rows]),
            "emission": pa.array([row["emission"] for row in rows], EMISSION),
            "words": pa.array([row["words"] for row in rows], pa.list_(pa.string())),
        }
    )


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    path = tmp_path_factory.mktemp("constraints") / "iob2.json"
    iob2(LABELS).save(path)
    return Decoder([str(path)], labels=LABELS)


@pytest.fixture(scope="module")
def answers(decoder):
    """The answers for the records, by id: what every engine must give."""
    return {row["id"]: row for row in decoder(sequences())}


def rows_of(frame_or_table):
    table = frame_or_table if hasattr(frame_or_table, "to_pylist") else pa.Table.from_pandas(frame_or_table)
    return {row["id"]: row for row in table.to_pylist()}


@pytest.mark.parametrize("inner", ["list", "fixed", "float32", "large", "record batch", "slice", "chunks"])
def test_arrow_tables_of_all_layouts_are_answered_alike(decoder, answers, inner):
    rows = sequences()
    table = table_of(rows)
    types = {
        "fixed": pa.list_(pa.list_(pa.float64(), 3)),
        "float32": pa.list_(pa.list_(pa.float32())),
        "large": pa.large_list(pa.large_list(pa.float64())),
    }
    if inner in types:
        column = pa.array([row["emission"] for row in rows], types[inner])
        table = table.set_column(1, "emission", column)
    if inner == "record batch":
        table = table.to_batches()[0]
    if inner == "slice":
        table = table.slice(11, 20)
    if inner == "chunks":
        table = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    found = decoder(table)
    assert type(found) is type(table)
    wanted = {row["id"]: answers[row["id"]] for row in table.select(["id"]).to_pylist()}
    assert rows_of(found) == wanted


def test_contexts_may_be_dictionaries_of_strings():
    from lcons_core import LearnedConstraint, RectifierNetwork
    from lcons_core.features import NgramContext

    feature = NgramContext(tuple(LABELS), ("w", "v"), 2)
    rng = np.random.default_rng(3)
    network = RectifierNetwork(rng.integers(-16, 17, (2, feature.space.d)) / 8, [0.5, 0.0])
    decoder = Decoder([LearnedConstraint(network, feature.space, feature)], labels=LABELS)
    rows = [{**row, "pos": [("w", "v")[i % 2] for i, _ in enumerate(row["words"])]} for row in sequences()]
    pos = pa.array([row["pos"] for row in rows], pa.list_(pa.string()))
    values = pos.values.dictionary_encode()
    coded = pa.ListArray.from_arrays(pos.offsets, values)
    table = table_of(rows)
    found = [rows_of(decoder(table.append_column("pos", own)).drop_columns("pos")) for own in (pos, coded)]
    wanted = {row["id"]: {name: row[name] for name in row if name != "pos"} for row in decoder(rows)}
    assert found == [wanted, wanted]
    assert any(row["changed"] for row in wanted.values())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([["a"]]), "expected lists in 'emission'"),
        (pa.array([[["a"]]]), "expected lists of lists of numbers"),
        (pa.array([[[1.0, 2.0]]]), "expected 3 scores per token in 'emission', one per label, found 2"),
        (pa.array([[[1.0, 2.0, None]]]), "found 1 nulls"),
        (pa.array([None], EMISSION), "found 1 nulls"),
        (pa.array([[[1.0, 2.0, np.inf]]]), "must not contain NaN"),
    ],
)
def test_wrong_arrow_columns_are_one_sentence(decoder, column, message):
    with pytest.raises(LconsError, match=message):
        decoder(pa.table({"emission": column}))
    with pytest.raises(LconsError, match="expected a column 'emission', found id"):
        decoder(pa.table({"id": [1]}))


def test_datasets_maps_batches(decoder, answers):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    found = datasets.Dataset.from_list(sequences()).map(
        decoder, batched=True, batch_size=16, remove_columns=["emission"]
    )
    assert {row["id"]: row for row in found} == answers


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as own,
        distributed.Client(own) as client,
    ):
        yield client


def test_dask_maps_partitions_of_frames_and_of_bags(decoder, answers, dask_client):
    import dask.bag
    import dask.dataframe

    rows = sequences()
    bag = dask.bag.from_sequence(rows, npartitions=3).map_partitions(decoder)
    assert {row["id"]: row for row in bag.compute()} == answers
    frame = table_of(rows).to_pandas()
    # Without this, Dask turns cells that are lists into text.
    with dask.config.set({"dataframe.convert-string": False}):
        parts = dask.dataframe.from_pandas(frame, npartitions=3, sort=False)
        found = parts.map_partitions(decoder, meta=decoder(frame.iloc[:0])).compute()
    assert rows_of(found.reset_index(drop=True)) == answers


@pytest.fixture(scope="module")
def ray_session():
    ray = pytest.importorskip("ray")
    with cluster("ray", None, 2):
        yield ray


@pytest.mark.parametrize("batch_format", ["numpy", "pyarrow", "pandas"])
def test_ray_data_maps_batches(decoder, answers, ray_session, batch_format):
    from ray.data import DataContext, from_arrow

    DataContext.get_current().enable_progress_bars = False
    found = from_arrow(table_of(sequences())).map_batches(decoder, batch_size=16, batch_format=batch_format)
    assert {row["id"]: json.loads(json.dumps(row, default=list)) for row in found.take_all()} == answers
    assert ray_session.nodes()[0]["NodeManagerAddress"] == "127.0.0.1"


def test_spark_maps_frames(decoder, answers):
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
            sequences(), "id long, emission array<array<double>>, words array<string>"
        )
        schema = (
            "id long, words array<string>, labels array<string>, score double, status string, changed long"
        )
        found = [row.asDict() for row in frame.mapInPandas(decoder, schema).collect()]
    finally:
        session.stop()
    assert {row["id"]: row for row in found} == answers


# Shards.


@pytest.fixture
def parquet(tmp_path):
    """Three shards of scores, with the labels in the metadata."""
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(3):
        table = table_of(sequences(50 + k, seed=k))
        model = json.dumps({"labels": LABELS, "transition": np.eye(3).tolist()})
        pq.write_table(table.replace_schema_metadata({"lcons": model}), folder / f"{k}.parquet")
    return folder


def content(out):
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.startswith(".lcons-")
    }


def test_parquet_shards_are_decoded_as_json_lines_are(parquet, tmp_path):
    work = ShardDecoder(Decoder([iob2(LABELS)]))
    found = run_shards(parquet, tmp_path / "out", work, jobs=1)
    assert found.failed == ()
    lines = tmp_path / "lines"
    lines.mkdir()
    for k in range(3):
        rows = [{"labels": LABELS, "transition": np.eye(3).tolist()}, *sequences(50 + k, seed=k)]
        (lines / f"{k}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_shards(lines, tmp_path / "out of lines", work, jobs=1)
    for k in range(3):
        table = pq.read_table(tmp_path / f"out/{k}.parquet")
        text = (tmp_path / f"out of lines/{k}.jsonl").read_text()
        assert table.to_pylist() == [json.loads(line) for line in text.splitlines()]
        assert table.schema.names == ["id", "words", "labels", "score", "status", "changed"]
    whole = pq.read_table(tmp_path / "out")
    assert whole.num_rows == json.loads((tmp_path / "out" / MANIFEST).read_text())["counts"]["sequences"]


def test_steps_and_row_groups_do_not_change_the_rows(parquet, tmp_path, monkeypatch):
    import lcons_decode.shards._parquet as module

    work = ShardDecoder(Decoder([iob2(LABELS)]))
    run_shards(parquet, tmp_path / "out", work, jobs=1)
    monkeypatch.setattr(module, "STEP_ROWS", 7)
    monkeypatch.setattr(module, "GROUP_ROWS", 20)
    run_shards(parquet, tmp_path / "small", work, jobs=1)
    for k in range(3):
        small, whole = (pq.ParquetFile(tmp_path / name / f"{k}.parquet") for name in ("small", "out"))
        assert small.read().equals(whole.read())
        assert small.num_row_groups == 3


def test_bad_parquet_shards_are_named_and_the_others_finish(parquet, tmp_path):
    good = (parquet / "0.parquet").read_bytes()
    (parquet / "cut.parquet").write_bytes(good[: len(good) // 2])
    damaged = bytearray(good)
    damaged[4:200] = bytes(196)
    (parquet / "damaged.parquet").write_bytes(damaged)
    (parquet / "name.parquet").write_bytes(good.replace(b"words", b"\x94ords"))
    pq.write_table(pq.read_table(parquet / "1.parquet").drop_columns("words"), parquet / "less.parquet")
    pq.write_table(
        table_of(sequences())
        .slice(0, 0)
        .replace_schema_metadata({"lcons": '{"labels": ["B-X", "I-X", "O"]}'}),
        parquet / "none.parquet",
    )
    work = ShardDecoder(Decoder([iob2(LABELS)]))
    found = run_shards(parquet, tmp_path / "out", work, jobs=1)
    why = {one.shard: one.why for one in found.failed}
    assert sorted(why) == ["cut.parquet", "damaged.parquet", "less.parquet", "name.parquet"]
    for name in ("cut.parquet", "damaged.parquet", "name.parquet"):
        assert why[name].startswith(f"{name}: expected a Parquet file, found damage (")
    assert why["less.parquet"] == (
        "less.parquet: expected the columns of the other shards, found others ('words' (list<element:"
        " string>) missing); write the same columns in each shard."
    )
    assert len(found.finished) == 4
    for name in why:
        (parquet / name).write_bytes(good)
    again = run_shards(parquet, tmp_path / "out", work, jobs=1)
    assert sorted(one.shard for one in again.finished if not one.before) == sorted(why)


@pytest.fixture
def numbers(tmp_path):
    folder = tmp_path / "numbers"
    folder.mkdir()
    for k in range(5):
        rows = range(100 * k, 100 * k + 100)
        pq.write_table(pa.table({"number": list(rows)}), folder / f"{k}.parquet")
    run_shards(folder, tmp_path / "expected", Doubles(str(tmp_path)), jobs=1)
    return folder


def test_dask_does_the_shards_of_a_killed_worker_again(numbers, tmp_path, dask_client):
    address = dask_client.scheduler.address
    found = run_shards(
        numbers, tmp_path / "out", Doubles(str(tmp_path), kill=250), backend="dask", address=address
    )
    assert (tmp_path / "killed").exists()
    assert found.failed == ()
    assert content(tmp_path / "out") == content(tmp_path / "expected")


def test_ray_does_the_shards_of_a_killed_worker_again(numbers, tmp_path, ray_session):
    found = run_shards(numbers, tmp_path / "out", Doubles(str(tmp_path), kill=250), backend="ray")
    assert (tmp_path / "killed").exists()
    assert found.failed == ()
    assert content(tmp_path / "out") == content(tmp_path / "expected")


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_scheduler_that_is_not_there_is_one_sentence(numbers, tmp_path, backend):
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    work = Doubles(str(tmp_path))
    with pytest.raises(LconsError, match=f"cannot reach the {backend} scheduler at 127.0.0.1:9"):
        run_shards(numbers, tmp_path / "out", work, backend=backend, address="127.0.0.1:9")
    with pytest.raises(LconsError, match="as HOST:PORT, found 'nowhere'"):
        run_shards(numbers, tmp_path / "out", work, backend=backend, address="nowhere")
