"""Coverage-guided fuzzing (atheris) of every function that reads files.

    ./tools/fuzz LOADER ... --runs N --seed S

A loader gets bytes that libFuzzer draws such that they reach new branches of lcons. It returns, or raises an
`LconsError` of one line; everything else is a finding: its input is written to `runs/fuzz`, and it belongs
into a test. Loaders of archives get members separated by a mark, which become an npz file with correct
checksums; loaders of digests get the content, and the digest is computed (`fuzz_targets.py`). The same seed
draws the same inputs. Each run adds a line to `runs/fuzz/log.jsonl`: loader, executions, seconds,
edges of the code that were reached, seed, findings.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from fuzz_targets import Loader, exhaust, loaders

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "runs" / "fuzz"
LONGEST = 2**12


def fuzz(name: str, chosen: Loader, arguments: list[str]) -> None:
    """Draws inputs for one loader in this process, which ends after the runs or at a finding."""
    import atheris

    from lcons_core import LconsError

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="lcons-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / chosen.name

        def read_once(data: bytes) -> None:
            path.write_bytes(chosen.content(data))
            try:
                exhaust(chosen.read(path))
            except LconsError as error:
                if "\n" in str(error):
                    raise AssertionError(f"the error has several lines: {error}") from error

        atheris.Setup([name, *arguments], read_once)
        atheris.Fuzz()


def run(name: str, chosen: Loader, runs: int, seed: int) -> bool:
    """Fuzzes one loader in a child process; appends to the log, and returns whether nothing was found."""
    OUT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryFile("w+", errors="replace") as said:
        for i, content in enumerate(chosen.seeds):
            (Path(corpus) / str(i)).write_bytes(content)
        options = [
            f"-runs={runs}",
            f"-seed={seed}",
            f"-max_len={LONGEST}",
            "-timeout=60",
            "-rss_limit_mb=4096",
        ]
        options += [f"-artifact_prefix={OUT}/{name}-", "-print_final_stats=1", corpus]
        child = os.fork()  # all modules are instrumented already, which takes longer than many executions
        if not child:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            fuzz(name, chosen, options)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        output = said.read()
    executed = re.findall(r"stat::number_of_executed_units:\s*(\d+)", output)
    seconds = round(time.monotonic() - began, 1)
    entry = {"loader": name, "executions": int(executed[-1]) if executed else 0, "seconds": seconds}
    edges = re.findall(r"cov: (\d+)", output)
    entry |= {"edges": int(edges[-1]) if edges else 0, "seed": seed, "findings": int(status != 0)}
    with (OUT / "log.jsonl").open("a") as log:
        log.write(json.dumps(entry) + "\n")
    print(json.dumps(entry), flush=True)
    if status:
        print(output[-5000:], flush=True)
    return not status


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("loader", nargs="*", help="default: all")
    parser.add_argument("--runs", type=int, default=20_000, help="executions per loader")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["lcons_core", "lcons_decode", "lcons_tasks"]):
        known = loaders()
    for name in given.loader:
        if name not in known:
            parser.error(f"unknown loader {name!r}; it is one of {', '.join(known)}")
    sound = [run(name, known[name], given.runs, given.seed) for name in given.loader or known]
    sys.exit(not all(sound))


if __name__ == "__main__":
    main()
