"""Folders of Parquet files and JSON lines on real Ray and Dask, with a worker killed half-way."""

import json
from functools import partial

import pytest

from lcons_cli.folders import run_folder
from lcons_core import iob2
from lcons_decode import Decoder

pytestmark = pytest.mark.integrations
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LABELS = ["B-X", "I-X", "O"]
OS = "__import__('os')"


@pytest.fixture(params=["local", "ray", "dask"])
def engine(request, monkeypatch):
    """The name of an engine, with a cluster of two workers of this machine for it."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    if request.param == "ray":
        ray = pytest.importorskip("ray")
        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
        yield "ray"
        ray.shutdown()
    elif request.param == "dask":
        dask, distributed = map(pytest.importorskip, ("dask", "distributed"))
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            dask.config.set({"scheduler-address": cluster.scheduler_address}),
        ):
            yield "dask"
    else:
        yield "local"


@pytest.fixture(params=["parquet", "jsonl"])
def write(request, tmp_path):
    """A function that writes a file of the input folder; `.kind` is its ending."""
    (tmp_path / "in").mkdir()

    def write(name, rows):
        path = tmp_path / "in" / f"{name}.{request.param}"
        if request.param == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    write.kind = request.param
    return write


def read(folder, kind):
    """The rows of all files of a folder."""
    files = sorted(folder.glob(f"*.{kind}"))
    if kind == "parquet":
        return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def rows(count, first):
    emission = [[[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], [[0.5, 0.0, 0.0]]]
    return [{"id": first + i, "emission": emission[i % 2], "title": f"row {i}"} for i in range(count)]


def test_a_folder_is_decoded_by_each_engine_alike(engine, write, tmp_path):
    decoder = Decoder([iob2(LABELS)], labels=LABELS)
    for k in range(3):
        write(k, rows(20, 100 * k))
    run_folder(decoder, str(tmp_path / "in"), str(tmp_path / "out"), engine, 2)
    found = {row["id"]: row for row in read(tmp_path / "out", write.kind)}
    assert sorted(found) == [100 * k + i for k in range(3) for i in range(20)]
    assert found[100] == {
        "id": 100,
        "title": "row 0",
        "labels": ["B-X", "I-X"],
        "score": 2.0,
        "status": "optimal",
        "changed": 1,
    }
    assert {row["labels"][0] for row in found.values()} == {"B-X"}
    before = sorted((path.name, path.stat().st_mtime_ns) for path in (tmp_path / "out").glob("*.*"))
    run_folder(decoder, str(tmp_path / "in"), str(tmp_path / "out"), engine, 2)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in (tmp_path / "out").glob("*.*")) == before


@pytest.mark.parametrize("engine", ["ray", "dask"], indirect=True)
def test_the_work_of_a_killed_worker_is_done_again(engine, write, tmp_path):
    """The function is an expression of the columns, which any worker can load."""
    mark = str(tmp_path / "killed")
    doubles = "{'number': number, 'double': [2 * int(str(n)) for n in number]}"
    kill = f"{OS}.mkdir({mark!r}) or {OS}.kill({OS}.getpid(), 9)"
    hit = "250 in [int(str(n)) for n in number]"
    work = partial(eval, f"{kill} if {hit} and not {OS}.path.exists({mark!r}) else {doubles}")
    if engine == "dask":  # Dask asks for the columns of the answer with no rows
        pytest.importorskip("dask.dataframe")
    for k in range(5):
        write(k, [{"number": n} for n in range(100 * k, 100 * k + 100)])
    run_folder(work, str(tmp_path / "in"), str(tmp_path / "out"), engine, None)
    assert (tmp_path / "killed").exists()
    found = sorted(read(tmp_path / "out", write.kind), key=lambda row: row["number"])
    assert found == [{"number": n, "double": 2 * n} for n in range(500)]


def test_a_file_that_is_wrong_leaves_no_output(engine, write, tmp_path):
    write(0, rows(5, 0))
    write(1, [{**row, "emission": [[1.0, 2.0]]} for row in rows(5, 10)])
    decoder = Decoder([iob2(LABELS)], labels=LABELS)
    with pytest.raises(Exception, match="scores"):
        run_folder(decoder, str(tmp_path / "in"), str(tmp_path / "out"), engine, 1)
    assert not list((tmp_path / "out").glob(f"1*.{write.kind}"))
    if engine != "local":
        assert not list((tmp_path / "out").glob(f"*.{write.kind}"))
