"""Small files that describe enormous constraints: every command ends with an answer or with one sentence.

All commands on a file run in one process with a limit on its address space."""

import json
import os
import subprocess
import sys

import pytest

from lcons_core._files import digest

MEMORY = 3 * 2**30
SECONDS = 20  # of processor time, for one command

NAMES = [f"v{i}" for i in range(16)]


def block(name, kind, values, **more):
    return {"name": name, "kind": kind, "values": values, **more}


def document(blocks, parts, feature=None, scope=None):
    found = {
        "format": "lcons-constraint",
        "version": 1,
        "scope": scope,
        "space": {"blocks": blocks},
        "feature": feature,
        "provenance": {},
        "network": {"parts": parts},
    }
    return json.dumps({**found, "sha256": digest(found)}, separators=(",", ":"))


def units(number, columns=(0,)):
    row = {"columns": list(columns), "values": [1.0] * len(columns)}
    return [{"W": [row] * number, "b": [0.5] * number}]


LABELS = [f"{i:x}" for i in range(9000)]
COUNTS = {"low": 0, "high": 10**6}
FILES = {
    "many counts": document([block("c", "count", LABELS[:3000], **COUNTS)], units(1)),
    "count feature": document(
        [block("count", "count", NAMES, **COUNTS)],
        units(1),
        {"kind": "counts", "labels": NAMES, "high": 10**6, "spans": False},
        "global",
    ),
    "labels": document(
        [block("label", "one-hot", LABELS)],
        units(1),
        {"kind": "ngram", "labels": LABELS, "n": 1, "pad": False},
        "local",
    ),
    "long n-grams": document(
        [block(f"label {i + 1}", "one-hot", LABELS[:60]) for i in range(32)],
        units(1),
        {"kind": "ngram", "labels": LABELS[:60], "n": 32, "pad": False},
        "local",
    ),
    "many blocks": document([block(f"{i}", "one-hot", ["a", "b"]) for i in range(600)], units(1, (0, 5))),
    "unions of units": document([block("c", "binary", LABELS)], units(8000)),
}

EVERYTHING = """
import resource, sys
from pathlib import Path
from lcons_cli.main import main

folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)

def run(*arguments):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sys.argv = ["lcons", *map(str, arguments)]
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    print(f"== {code} {took:.1f} {arguments[0]} {folder.name}", file=sys.stderr, flush=True)

file = folder / "c.json"
run("explain", file)
run("explain", file, "--forbidden", "c=a")
run("compare", file, file)
run("compare", file, folder / "rules.txt")
for options in ((), ("--form", "simplified"), ("--to", "lp")):
    run("convert", file, *options, "-o", folder / "form")
run("decode", folder / "scores.jsonl", "-c", file)
run("report", file, "-o", folder / "page.html")
run("diagnose", file, "--train", folder / "train.csv", "--held-out", folder / "dev.csv")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on address space")
@pytest.mark.parametrize("name", FILES)
def test_a_small_file_never_asks_for_much_memory(name, tmp_path):
    content = FILES[name]
    assert len(content) < 400_000
    found = json.loads(content)
    (tmp_path / "c.json").write_text(content)
    first = found["space"]["blocks"][0]
    many = ">= 3" if first["kind"] == "count" else ""
    (tmp_path / "rules.txt").write_text(f'forbid: "{first["name"]}" "{first["values"][0]}" {many}\n')
    labels = (found["feature"] or {}).get("labels", ["a", "b"])
    lines = [{"labels": labels}, {"emission": [[0.0] * len(labels)] * 2, "words": ["a", "b"]}]
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for table in ("train", "dev"):
        (tmp_path / f"{table}.csv").write_text(f"{table},b\n1,0\n0,1\n")
    limits = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", EVERYTHING, str(tmp_path), str(MEMORY)]
    ran = subprocess.run(command, capture_output=True, text=True, env=limits)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert not {"Traceback", "MemoryError"} & set(ran.stderr.replace(":", " ").split()), ran.stderr[-3000:]
    outcomes = [line.split() for line in ran.stderr.splitlines() if line.startswith("== ")]
    assert len(outcomes) == 10
    for _, code, seconds, *what in outcomes:
        assert code in ("0", "1", "2", "3", "None"), what
        assert float(seconds) < SECONDS, what
