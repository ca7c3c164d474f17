"""The examples of tagging libraries run, and have at most 20 lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integrations

PACKAGES = Path(__file__).parents[3]
EXAMPLES = {
    "lcons-decode/examples/with_transformers.py": "True",
    "lcons-decode/examples/with_trainer.py": "1.0",
    "lcons-contrib/examples/with_generate.py": "4 True\n4 True\n4 True",
    "lcons-contrib/examples/with_llguidance.py": "True False",
    "lcons-contrib/examples/with_outlines.py": "True False",
    "lcons-contrib/examples/with_sklearn_crfsuite.py": "0.91",
    "lcons-tasks/examples/with_datasets.py": "True False",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_prints_what_it_should(name, tmp_path):
    assert len((PACKAGES / name).read_text().splitlines()) <= 20
    done = subprocess.run(
        [sys.executable, PACKAGES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr
    printed = [line for line in done.stdout.strip().splitlines() if not line.startswith("{")]
    assert "\n".join(printed) == EXAMPLES[name]
