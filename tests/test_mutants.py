"""The list of mutants that no test can notice is one of mutants that there are, each with a reason."""

import importlib.util
import sys
from pathlib import Path

spec = importlib.util.spec_from_file_location(
    "mutants", Path(__file__).resolve().parent.parent / "tools/mutants.py"
)
mutants = importlib.util.module_from_spec(spec)
# Dataclasses look their module up.
sys.modules[spec.name] = mutants
spec.loader.exec_module(mutants)


def test_the_list_of_equivalent_mutants_is_not_stale():
    assert not mutants.find_stale([one for module in mutants.MODULES for one in mutants.mutants(module)])
