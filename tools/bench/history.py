"""Ratios of the benchmarks over time: one dated JSON file per run, and a page that shows them.

    python tools/bench/history.py PROGRAM [ARGUMENT ...]   run tools/bench/PROGRAM.py and record its ratios
    python tools/bench/history.py                          write the page and its charts from the records
    python tools/bench/history.py --check                  exit with 1 if they are not up to date

A record holds what does not depend on the machine: ratios of times of one run, with their targets, the
commit (with + if files of it were changed), and how many commits there were. Its name is
docs/benchmarks/DATE-COMMITS-PROGRAM.json. From the second record on, a chart shows the ratios of a program in
percent of its first record, such that more is better.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from timing import RECORD

from lcons_tasks.report import Curve, to_svg

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/benchmarks"
PAGE = FOLDER / "history.md"
OPENING = """# History of the benchmarks

Made by `./tools/venv python tools/bench/history.py` from the records in this folder;
`./tools/venv python tools/bench/history.py rows` adds one. Ratios are of times of one run, so they can be
compared between machines. What each ratio is: [benchmarks](../benchmarks.md). The first two records of a
program are of the same code, on a busy machine: what they differ by is noise.
"""


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def record(program: str, arguments: list[str]) -> int:
    """Runs a program and writes its ratios; its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "ratios.jsonl"
        command = [sys.executable, str(Path(__file__).with_name(f"{program}.py")), *arguments]
        code = subprocess.run(command, env={**os.environ, RECORD: str(lines)}).returncode
        claims = (
            [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
            if lines.exists()
            else []
        )
    if not claims:
        print(f"{program} reported no ratio; nothing is recorded", file=sys.stderr)
        return code or 2
    date = dt.datetime.now(dt.UTC).date().isoformat()
    changed = "+" if git("status", "--porcelain", "--", "packages", "tools") else ""
    found = {
        "benchmark": program,
        "arguments": [Path(one).name if Path(one).is_absolute() else one for one in arguments],
        "date": date,
        "commit": git("rev-parse", "--short", "HEAD") + changed,
        "commits": int(git("rev-list", "--count", "HEAD")),
        "python": ".".join(map(str, sys.version_info[:2])),
        "claims": claims,
    }
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{date}-{found['commits']}-{program}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    write()
    return code


def records() -> list[dict[str, Any]]:
    """All records, the oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*-*.json")]
    return sorted(found, key=lambda one: (one["date"], one["commits"], one["benchmark"]))


def shown(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"


def target(claim: dict[str, Any]) -> str:
    at_most, at_least = claim["at_most"], claim["at_least"]
    return f"at most {at_most:g}" if at_most is not None else f"at least {at_least:,g}"


def files() -> dict[Path, str]:
    """The page and the charts."""
    kept: dict[str, list[dict[str, Any]]] = {}
    for one in records():
        kept.setdefault(one["benchmark"], []).append(one)
    parts, made = [OPENING.strip()], {}
    for name, own in sorted(kept.items()):
        first: dict[str, float] = {}
        lines: dict[str, dict[float, float]] = {}
        rows = ["| date | commit | what | ratio | target |", "|---|---|---|---|---|"]
        for one in own:
            for claim in one["claims"]:
                what, ratio = claim["claim"], claim["ratio"]
                begin = first.setdefault(what, ratio)
                better = begin / ratio if claim["at_most"] is not None else ratio / begin
                lines.setdefault(what, {})[one["commits"]] = 100 * better
                rows.append(
                    f"| {one['date']} | {one['commit']} | {what} | {shown(ratio)} | {target(claim)} |"
                )
        parts.append(f"## {name}")
        if len(own) > 1:
            curve = Curve(name, "commits", "% of the first record, more is better", lines)
            made[FOLDER / f"{name}.svg"] = to_svg(curve, alone=True)
            parts.append(f"![{name}, in percent of its first record]({name}.svg)")
        parts.append("\n".join(rows))
    return {PAGE: "\n\n".join(parts) + "\n", **made}


def write() -> None:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            write()
            return 0
        case ["--check"]:
            return int(
                any(
                    not path.is_file() or path.read_text(encoding="utf-8") != text
                    for path, text in files().items()
                )
            )
        case [program, *rest]:
            return record(program.removesuffix(".py"), rest)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
