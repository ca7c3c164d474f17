"""Questions that PyConA's QuAcq needs, beside `ask.py`: run by the Python of an environment of its own.

Reads JSON lines `{"sizes": [a, b], "open": [[i, j], ...], "invalid": [[i, j], ...]}` and writes the number of
membership queries for each, one per line. The variables are the two members of a combination, the candidate
constraints forbid one open combination each, and the oracle forbids the invalid ones.

    python -m venv quacq && quacq/bin/pip install --require-hashes -r tools/quacq.txt
    LCONS_QUACQ=quacq/bin/python python tools/bench/ask.py
"""

import json
import sys

import cpmpy as cp
import pycona as ca


def queries(sizes: list[int], still_open: list[list[int]], invalid: list[list[int]]) -> int:
    """The number of membership queries until QuAcq has converged."""
    if not still_open:
        return 0
    members = cp.cpm_array([cp.intvar(0, size - 1, name=f"v{i}") for i, size in enumerate(sizes)])

    def forbids(i: int, j: int) -> object:
        return (members[0] != i) | (members[1] != j)

    instance = ca.ProblemInstance(variables=members, bias=[forbids(i, j) for i, j in still_open])
    system = ca.QuAcq()
    system.learn(instance, oracle=ca.ConstraintOracle([forbids(i, j) for i, j in invalid]), verbose=0)
    return int(system.env.metrics.membership_queries_count)


for line in sys.stdin:
    task = json.loads(line)
    print(queries(task["sizes"], task["open"], task["invalid"]), flush=True)
