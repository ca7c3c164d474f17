"""Parquet files are fuzzed, too, from one that is decoded without an error."""

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


def test_the_file_to_begin_from_is_decoded(tmp_path):
    loader = targets.decode_targets()["parquet"]
    path = tmp_path / loader.name
    path.write_bytes(loader.seeds[0])
    loader.read(path)
    assert (tmp_path / "out").is_file()
