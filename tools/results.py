"""Put the tables and the command of a run into a page of results, between its markers.

./tools/venv python tools/results.py RUN PAGE              fill the markers of PAGE that name no run
./tools/venv python tools/results.py RUN PAGE --run NAME   fill the markers that name this run
./tools/venv python tools/results.py RUN                   print the names of the tables of RUN

    <!-- table NAME: CAPTION -->    the table of report.md with this caption, or with one that begins so: the
                                    text or heading above it; `SECTION > CAPTION` if several have it;
                                    `CAPTION; rows: a, b` for these rows only
    <!-- command NAME -->           the command of the run

What stands between a marker and `<!-- end -->` is replaced. The pages hold tables of runs only: a test fails
if a table has no marker, or if a run that markers name has no command.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from lcons_tasks.report._text import aligned_table

MARKED = re.compile(
    r"^<!-- (?P<kind>table|command)(?: (?P<run>[^\s:]+))?(?:: (?P<name>.+?))? -->\n"
    r"(?P<content>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


def tables(report: str) -> dict[str, str]:
    """The tables of a report by name, `SECTION > CAPTION`, in order.

    >>> tables("## Results\\n\\nF1, in percent:\\n\\n| a |\\n|---|\\n| b |\\n\\nA note.\\n")
    {'Results > F1, in percent': '| a |\\n|---|\\n| b |'}
    """
    found: dict[str, str] = {}
    section = above = ""
    for part in report.split("\n\n"):
        if part.startswith("|"):
            found[f"{section} > {above}"] = part.rstrip("\n")
        above = part.strip().lstrip("# ").rstrip(":")
        section = above if part.startswith("#") else section
    return found


def with_rows(table: str, rows: str) -> str:
    """The table with the rows of these names, in their order; all of it if there are none."""
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    cells = {row[0]: row for row in body}
    return aligned_table(head, [cells[name] for name in rows.split(", ")]) if rows else table


def named(name: str, found: Mapping[str, str]) -> str:
    """The value whose name, or the caption in it, begins with `name`; a whole name or caption wins."""
    captions = {one: one.partition(" > ")[2] or one for one in found}
    names = [one for one in found if name in (one, captions[one])] or [
        one for one in found if one.startswith(name) or captions[one].startswith(name)
    ]
    if len(names) != 1:
        raise SystemExit(
            f"expected one name that begins with {name!r}, found {len(names)}; the names are:\n"
            + "\n".join(found)
        )
    return found[names[0]]


def command(results: Mapping[str, Any]) -> str:
    """The command that makes a run again, from its results.json, which has its options or the command."""
    if "command" in results:
        return str(results["command"])
    from lcons_tasks.experiments import EXPERIMENTS

    kind = EXPERIMENTS[results["task"]].load().options
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in results["options"].items()}
    options = kind(**given)
    words = ["./tools/lcons", "run", results["task"]]
    corpus = given.get("corpus", "auto")
    if "corpus" in given:
        words += ["--corpus", corpus]
    if options == kind.start(True, corpus):
        return " ".join([*words, "--full"])
    return " ".join([*words, *_flags(options, kind.start(False, corpus))])


def _flags(options: Any, start: Any) -> Iterator[str]:
    """The options that differ from those of a run without any."""
    for one in fields(options):
        value = getattr(options, one.name)
        if one.name == "corpus" or value == getattr(start, one.name):
            continue
        flag = one.metadata.get("flag")
        if flag is None or value == ():
            raise SystemExit(f"no option of the command sets {one.name!r} to {value!r}; run the task again.")
        for each in value if isinstance(value, tuple) else (value,):
            yield flag.names[0]
            if not isinstance(each, bool):
                yield str(each)


def filled(page: str, content: Callable[[re.Match[str]], str]) -> str:
    """The page with other content between its markers."""
    return MARKED.sub(
        lambda at: f"{at[0][: at.start('content') - at.start()]}{content(at)}\n<!-- end -->", page
    )


def fill(run: Path, page: Path, label: str | None) -> list[str]:
    """Writes tables and command of a run into a page; returns what was filled."""
    found, done = tables((run / "report.md").read_text(encoding="utf-8")), []

    def content(at: re.Match[str]) -> str:
        if at["run"] != label:
            return at["content"].rstrip("\n")
        done.append(at["name"] or at["kind"])
        if at["kind"] == "table":
            name, _, rows = at["name"].partition("; rows: ")
            return with_rows(named(name, found), rows)
        results = json.loads((run / "results.json").read_text(encoding="utf-8"))
        return f"```sh\n{command(results)}\n```"

    page.write_text(filled(page.read_text(encoding="utf-8"), content), encoding="utf-8")
    return done


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder that a run wrote")
    parser.add_argument("page", type=Path, nargs="?", help="a page such as docs/results/chunking.md")
    parser.add_argument("--run", dest="label", help="only the markers that name this run")
    given = parser.parse_args()
    if given.page is None:
        print("\n".join(tables((given.run / "report.md").read_text(encoding="utf-8"))))
        return
    done = fill(given.run, given.page, given.label)
    print("\n".join(done))
    if not done:
        sys.exit(
            f"{given.page} has no marker of this run; write <!-- table: NAME --> and <!-- end --> there."
        )


if __name__ == "__main__":
    main()
