"""What the packages declare and carry, and lcons-core where only numpy can be imported."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli", "lcons-contrib"]

ALONE = """
import sys
from importlib.abc import MetaPathFinder

class OnlyNumpy(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {"numpy", "lcons_core", *sys.stdlib_module_names}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, OnlyNumpy())

import itertools
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
"""


def project(package: str) -> dict:
    return tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_carries_licence_and_types_and_states_the_ranges_of_its_siblings(package):
    folder = ROOT / "packages" / package
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert project(package)["license-files"] == ["LICENSE"]
    assert (folder / "src" / package.replace("-", "_") / "py.typed").is_file()
    needs = [need.replace("[ilp]", "") for need in project(package)["dependencies"]]
    below = PACKAGES[: PACKAGES.index(package)]
    siblings = [need.partition(";")[0].strip() for need in needs if need.startswith("lcons-")]
    assert sorted(siblings) == sorted(f"{sibling}>=0.2,<0.3" for sibling in below)


def test_core_needs_only_numpy():
    assert [need.partition(">")[0] for need in project("lcons-core")["dependencies"]] == ["numpy"]


def test_core_works_alone_with_numpy():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pip install torch" in done.stdout
