"""Every public function that reads files is fuzzed, from files that it reads without an error."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("fuzz_targets", ROOT / "tools/fuzz_targets.py")
targets = importlib.util.module_from_spec(spec)
# Dataclasses look their module up.
sys.modules[spec.name] = targets
spec.loader.exec_module(targets)


@pytest.fixture(scope="module")
def loaders():
    return targets.loaders()


def test_every_public_reader_has_a_target_or_a_reason(loaders):
    names = (ROOT / "tests/golden/expected/public_names.txt").read_text().split()
    readers = {name for name in names if name.rpartition(".")[2].startswith(("load", "read_"))}
    assert readers <= set(targets.PUBLIC)
    assert {by for by in targets.PUBLIC.values() if " " not in by} <= set(loaders)


def test_the_files_to_begin_from_are_read(loaders, tmp_path):
    for name, loader in loaders.items():
        for number, seed in enumerate(loader.seeds):
            path = tmp_path / f"{name}-{number}" / loader.name
            path.parent.mkdir()
            path.write_bytes(loader.content(seed))
            targets.exhaust(loader.read(path))
