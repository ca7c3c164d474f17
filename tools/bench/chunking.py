"""`lcons run chunking` after set-up: 40 s where version 0.1.0 took 67 s, with the same figures.

The run of a newcomer: the bundled corpus, all defaults. Each run has an empty cache of stages and a new
output folder. What is asked is elapsed time on two cores, so that is compared; CPU times are printed, too.

| line | 0.1.0 | now |
|---|---|---|
| after set-up | compiles the kernels of decoders in its first run | finds those that the set-up compiled |
| cold | compiles | compiles, too: another cache, or sources that were edited |
| warm | a later run, which finds kernels | finds kernels |

The target is that of the first line. What the set-up now takes longer is printed, and is not part of a run.
The versions run in turn; medians are compared. All runs of the version at work write the same files, byte by
byte.

Run: .venv/bin/python tools/bench/chunking.py [--repeats 1]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from released import ROOT, Run, compare, run_lcons
from timing import report

LEAST = 67 / 40
KERNELS = "numba"


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def environment(cache: Path) -> dict[str, str]:
    """Empty: no corpora, no word vectors. Version 0.1.0 keeps kernels elsewhere if not told."""
    return {
        "LCONS_CACHE_DIR": str(cache),
        "LCONS_DATA_DIR": "",
        "NUMBA_CACHE_DIR": str(cache / KERNELS),
    }


def set_up(cache: Path) -> float:
    """The seconds of the end of the set-up, which compiles kernels."""
    start = time.perf_counter()
    shutil.rmtree(cache)
    command = [sys.executable, str(ROOT / "tools/kernels.py")]
    subprocess.run(command, env={**os.environ, **environment(cache)}, check=True)
    return time.perf_counter() - start


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--repeats", type=int, default=1, help="how often each version runs, cold and warm")
    repeats = options.parse_args().repeats
    written: list[dict[str, bytes]] = []
    with tempfile.TemporaryDirectory() as home:
        old, new, out = (Path(home) / name for name in ("old", "new", "out"))

        def run(released: bool, warm: bool) -> Run:
            cache = old if released else new
            shutil.rmtree(out, ignore_errors=True)
            for entry in cache.glob("*"):
                if not (warm and entry.name == KERNELS):
                    shutil.rmtree(entry)
            command = ["run", "chunking", "--corpus", "bundled", "--out", str(out), "-q"]
            found = run_lcons(command, released, environment(cache))
            if not released:
                written.append(contents(out))
            return found

        cold = compare(lambda released: run(released, warm=False), repeats)
        more = set_up(new)
        warm = compare(lambda released: run(released, warm=True), repeats)
    print(f"   the set-up compiles kernels in {more:.0f} s")
    met = [
        line("after set-up", cold[0], warm[1], LEAST),
        line("cold", *cold),
        line("warm", *warm),
    ]
    same = all(one == written[0] for one in written)
    print(f"   all runs write the same files: {'yes' if same else 'no'}")
    return 0 if same and all(met) else 1


def line(name: str, old: Run, new: Run, least: float = 1.0) -> bool:
    """Whether the elapsed time of 0.1.0 is `least` times that of the version at work; prints both."""
    print(
        f"   {name}: {old.seconds:.0f} s with 0.1.0, {new.seconds:.0f} s now;"
        f" {old.cpu:.0f} and {new.cpu:.0f} CPU s, ratio {old.cpu / new.cpu:.2f}"
    )
    return report(f"{name}, speed over 0.1.0", old.seconds / new.seconds, at_least=least)


if __name__ == "__main__":
    sys.exit(main())
