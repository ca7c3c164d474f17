"""The wheels: what they carry, and lcons-core alone in an environment that holds only numpy."""

import subprocess
import sys
import tomllib
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli", "lcons-contrib"]

ALONE = """
import itertools, sys
import numpy as np
from lcons_core import ConstraintLearner, LconsError, RectifierNetwork, to_inequalities

network = RectifierNetwork(np.array([[1.0, 0.5, -2.0], [0.25, -1.0, 1.5]]), np.array([0.25, 0.5]))
psi = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
rows = to_inequalities(network)
assert rows.coefficients.shape == (3, 3)
accepted = network.accepts(psi)
assert 0 < accepted.sum() < len(psi)
assert (rows.holds(psi) == accepted).all()
try:
    ConstraintLearner().fit(psi, accepted)
except LconsError as error:
    print(error)
assert not {"torch", "scipy", "sklearn", "hypothesis"} & set(sys.modules)
"""


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """The wheel of each package, built with the poetry-core that is installed."""
    folder = tmp_path_factory.mktemp("wheels")
    options = ["-qq", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    run(sys.executable, "-m", "pip", "wheel", *options, *(ROOT / "packages" / p for p in PACKAGES))
    return {path.name.split("-")[0].replace("_", "-"): path for path in folder.iterdir()}


def contents(wheel: Path) -> tuple[set[str], Message]:
    """The names of the files in a wheel, and its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        return names, Parser().parsestr(archive.read(metadata).decode())


@pytest.mark.parametrize("package", PACKAGES)
def test_a_wheel_carries_licence_types_and_sibling_ranges(wheels, package):
    names, metadata = contents(wheels[package])
    module = package.replace("-", "_")
    assert f"{module}/py.typed" in names
    assert not {name for name in names if "tests/" in name}
    assert metadata["License-Expression"] == "Apache-2.0"
    (licence,) = (name for name in names if name.endswith(".dist-info/licenses/LICENSE"))
    with zipfile.ZipFile(wheels[package]) as archive:
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    needs = [need for need in metadata.get_all("Requires-Dist", []) if need.startswith("lcons-")]
    below = PACKAGES[: PACKAGES.index(package)]
    ranges = [need.replace("[ilp]", "").partition(" ;")[0] for need in needs]
    assert sorted(ranges) == sorted(f"{sibling} (>=0.1,<0.2)" for sibling in below)


def test_the_wheel_of_tasks_carries_its_corpora_settings_and_page(wheels):
    names, metadata = contents(wheels["lcons-tasks"])
    chunking = {
        f"lcons_tasks/bundled/chunking/{name}" for name in ("train.txt", "dev.txt", "test.txt", "CARD.md")
    }
    citation = {
        f"lcons_tasks/bundled/citation/{name}" for name in ("references.txt", "references.pos", "CARD.md")
    }
    er = {f"lcons_tasks/bundled/er/{name}" for name in ("sentences.corp", "CARD.md")}
    templates = ("page.html", "blocks.html", "chart.svg", "style.css", "script.js", "report.md")
    page = {f"lcons_tasks/report/templates/{name}" for name in templates}
    assert chunking | citation | er | page | {"lcons_tasks/experiments/chunking/settings.json"} <= names
    assert metadata.get_all("Provides-Extra") == ["dask", "ray", "torch"]


def test_the_wheels_carry_the_command_and_the_spacy_component(wheels):
    for package, entry in (
        ("lcons-cli", "[console_scripts]\nlcons=lcons_cli.start:start"),
        ("lcons-tasks", "lcons_decoder=lcons_tasks.apps.spacy_decoder:make_lcons_decoder"),
        ("lcons-tasks", "lcons_tagger=lcons_tasks.apps.spacy:make_lcons_tagger"),
    ):
        with zipfile.ZipFile(wheels[package]) as archive:
            (points,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
            assert entry in archive.read(points).decode().replace(" = ", "=")


def test_core_needs_only_numpy(wheels):
    _, metadata = contents(wheels["lcons-core"])
    needs = metadata.get_all("Requires-Dist")
    assert [need.split()[0] for need in needs if "extra ==" not in need] == ["numpy"]
    assert sorted(metadata.get_all("Provides-Extra")) == ["test", "torch"]


def test_core_works_alone_with_numpy(wheels, tmp_path):
    lock = tomllib.loads((ROOT / "poetry.lock").read_text())
    (numpy,) = (package["version"] for package in lock["package"] if package["name"] == "numpy")
    venv.create(tmp_path / "alone", with_pip=True)
    python = tmp_path / "alone/bin/python"
    run(python, "-m", "pip", "install", "-qq", wheels["lcons-core"], f"numpy=={numpy}")
    installed = run(python, "-m", "pip", "list", "--format=freeze").split()
    names = {line.split("==")[0].split("@")[0] for line in installed}
    assert names - {"pip", "setuptools"} == {"lcons-core", "numpy"}
    assert "pip install torch" in run(python, "-I", "-c", ALONE)
