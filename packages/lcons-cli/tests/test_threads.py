"""Commands of small matrices start numpy with one thread, unless the user names a number."""

import os
import subprocess
import sys

import pytest

PROGRAM = "from lcons_cli.threads import use_one_thread; use_one_thread(); import os; print(os.environ['{}'])"


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_one_thread_unless_the_environment_names_another_number(given, used):
    name = "OPENBLAS_NUM_THREADS"
    variables = {key: value for key, value in os.environ.items() if key != name}
    variables |= {} if given is None else {name: given}
    command = [sys.executable, "-c", PROGRAM.format(name)]
    found = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == used
