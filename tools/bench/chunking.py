"""`lcons run chunking` after set-up: 40 s where version 0.1.0 took 67 s, with the same figures.

The run of a newcomer: the bundled corpus, all defaults. Each run has an empty cache of stages and a new
output folder. Kernels are compiled in the run (cold), or kept from a run before (warm); the target is that of
the cold run. The two versions run in turn, and the medians of their CPU times are compared; elapsed times are
printed beside them. The files that a cold and a warm run write are the same, byte by byte.

Run: .venv/bin/python tools/bench/chunking.py [--repeats 1]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from released import Run, compare, run_lcons
from timing import report

LEAST = 67 / 40
KERNELS = "numba"


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--repeats", type=int, default=1, help="how often each version runs, cold and warm")
    repeats = options.parse_args().repeats
    written: list[dict[str, bytes]] = []
    with tempfile.TemporaryDirectory() as home:

        def run(released: bool, warm: bool) -> Run:
            cache, out = Path(home) / ("old" if released else "new"), Path(home) / "out"
            shutil.rmtree(out, ignore_errors=True)
            for entry in cache.glob("*"):
                if not (warm and entry.name == KERNELS):
                    shutil.rmtree(entry)
            # Empty: no corpora, no word vectors. Version 0.1.0 keeps kernels elsewhere if not told.
            also = {
                "LCONS_CACHE_DIR": str(cache),
                "LCONS_DATA_DIR": "",
                "NUMBA_CACHE_DIR": str(cache / KERNELS),
            }
            found = run_lcons(
                ["run", "chunking", "--corpus", "bundled", "--out", str(out), "-q"], released, also
            )
            if not released:
                written.append(contents(out))
            return found

        met = []
        for name, warm, least in (("cold", False, LEAST), ("warm", True, 1.0)):
            old, new = compare(lambda released, warm=warm: run(released, warm), repeats)  # type: ignore[misc]
            print(
                f"   {name} kernels: {old.cpu:.0f} CPU s with 0.1.0, {new.cpu:.0f} now;"
                f" elapsed {old.seconds:.0f} s and {new.seconds:.0f} s"
            )
            met.append(report(f"{name} kernels, speed over 0.1.0", old.cpu / new.cpu, at_least=least))
    same = all(one == written[0] for one in written)
    print(f"   all runs write the same files: {'yes' if same else 'no'}")
    return 0 if same and all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
