"""The same decoder in Ray Data, Dask, Spark and datasets, as `docs/how-to/scale.md` shows it."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import NgramContext
from lcons_decode import Decoder

pytestmark = pytest.mark.integrations

LABELS = ["B-X", "I-X", "O"]
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


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
    "column",
    [
        pa.array(["a"]),
        pa.array([[["a"]]]),
        pa.array([[[1.0, 2.0]]]),
        pa.array([[[1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]]),
        pa.array([[[1.0, 2.0, None]]]),
        pa.array([[[1.0, 2.0, np.inf]]]),
    ],
)
def test_wrong_arrow_columns_are_refused(column):
    with pytest.raises(InvalidInput):
        DECODER({"emission": column})


PAGE = Path(__file__).resolve().parents[4] / "docs/how-to/scale.md"
BLOCKS = dict(re.findall(r"^([\w ]+):\n\n```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("library", ["Ray Data", "Dask", "Spark", "datasets"])
def test_the_code_of_the_page_gives_the_same_answers(library, answers, tmp_path, monkeypatch):
    pytest.importorskip({"Ray Data": "ray", "Spark": "pyspark"}.get(library, library.lower()))
    if library == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs a JVM")
    monkeypatch.chdir(tmp_path)
    for name, value in {"RAY_USAGE_STATS_ENABLED": "0", "PYSPARK_PYTHON": sys.executable}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "scores").mkdir()
    for k in range(3):
        pq.write_table(TABLE.drop_columns("words").slice(20 * k, 20), tmp_path / f"scores/{k}.parquet")
    exec(BLOCKS[library], {"__name__": "__main__", "decoder": DECODER})
    found = [
        row
        for file in (tmp_path / "labels").glob("*.parquet")
        for row in pq.ParquetFile(file).read().to_pylist()
    ]
    want = {i: {name: row[name] for name in row if name != "words"} for i, row in answers.items()}
    assert {row["id"]: row for row in found} == want
