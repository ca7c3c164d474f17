"""Fixtures of the golden tests: the comparison with what is kept, and a folder to run commands in."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from golden_files import EXPECTED, INPUTS, V010, Golden, processor
from golden_runs import RUNS, make_run


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(update=request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def golden_processor(request: pytest.FixtureRequest) -> None:
    """Skips a test where the processor is not of the kind that the figures of runs were made on: networks
    learned from the same data differ in their last bits there, and so may figures."""
    if request.config.getoption("--update-golden"):
        (EXPECTED / "processor.txt").write_text(processor())
    elif (EXPECTED / "processor.txt").read_text() != processor():
        pytest.skip("figures of runs were made on another kind of processor")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that all golden tests share and that is not the user's."""
    return tmp_path_factory.mktemp("golden-cache")


@pytest.fixture(autouse=True)
def fixed_surroundings(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No corpora and no word vectors but the bundled ones, and lines of 80 columns."""
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    monkeypatch.setenv("LCONS_VECTORS", "none")
    monkeypatch.setenv("LCONS_CACHE_DIR", str(cache))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a copy of `inputs`, with what 0.1.0 wrote in `v0.1.0`."""
    here = tmp_path / "here"
    shutil.copytree(INPUTS, here)
    (here / "v0.1.0").symlink_to(V010)
    monkeypatch.chdir(here)
    return here


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A folder with a small run of each task, made once."""
    made = tmp_path_factory.mktemp("golden-runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LCONS_DATA_DIR", raising=False)
        patch.setenv("LCONS_VECTORS", "none")
        patch.setenv("LCONS_CACHE_DIR", str(cache))
        for task in RUNS:
            done = make_run(task, made / task, patch)
            assert done.exit_code == 0, done.output
            (made / f"{task}.stdout").write_text(done.stdout, encoding="utf-8")
    return made
