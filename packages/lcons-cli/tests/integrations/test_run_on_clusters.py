"""`lcons run` on workers of Dask and Ray writes the same files as on this machine alone."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from lcons_cli.main import main

pytestmark = pytest.mark.integrations

# Two cells with little work.
CELLS = ("--corpus", "bundled", "--split", "1", "--split", "2", "--share", "0.2", "-C", "0.03125")
RUN = ("run", "er", *CELLS, "--passes", "1", "-q")


@pytest.fixture(autouse=True)
def of_this_machine(monkeypatch):
    """Ray stays on this machine; it is asked to before it is imported."""
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


def files_of_a_run(folder, *options):
    """What a run writes, by name; its cache is empty, so that it takes nothing from another run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCONS_CACHE_DIR", str(folder / "cache"))
        done = CliRunner().invoke(main, [*RUN, "--out", str(folder / "er"), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = (file for file in (folder / "er").rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The files of the run in this process."""
    found = files_of_a_run(tmp_path_factory.mktemp("alone"), "--jobs", "1")
    assert {"er/results.json", "er/report.html"} <= set(found)
    return found


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_run_on_a_cluster_writes_the_files_of_a_run_on_one_machine(backend, alone, tmp_path):
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    assert files_of_a_run(tmp_path, "--backend", backend, "--jobs", "2") == alone
