"""Shards of Parquet are fuzzed, too, from files that are decoded without an error."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integrations

spec = importlib.util.spec_from_file_location(
    "fuzz_targets", Path(__file__).resolve().parents[2] / "tools/fuzz_targets.py"
)
targets = importlib.util.module_from_spec(spec)
# Dataclasses look their module up.
sys.modules[spec.name] = targets
spec.loader.exec_module(targets)


@pytest.mark.parametrize("name", ["shard-parquet", "shard-table"])
def test_the_files_to_begin_from_are_decoded(name, tmp_path):
    loader = targets.decode_targets()[name]
    for number, seed in enumerate(loader.seeds):
        path = tmp_path / str(number) / loader.name
        path.parent.mkdir()
        path.write_bytes(loader.content(seed))
        loader.read(path)
        assert (path.parent / "out/s.parquet").is_file()
