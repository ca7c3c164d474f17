"""Put the tables and the curve of a run into a page of results, between the markers of the page.

./tools/venv python tools/results.py RUN PAGE             fill the markers `<!-- table: NAME -->` of PAGE
./tools/venv python tools/results.py RUN PAGE --run NAME  fill the markers `<!-- table NAME: ... -->`
./tools/venv python tools/results.py RUN                  print the names of the tables of RUN

The name of a table is the caption or heading above it in report.md; a marker has this name or its beginning.
What stands between the marker and `<!-- end -->` becomes the table. `<!-- picture: TEXT -->` becomes the
curve of the run, which is copied beside the page.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

MARKED = re.compile(
    r"^<!-- (?P<kind>table|picture)(?: (?P<run>\S+))?: (?P<name>.+?) -->\n(?P<content>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


def tables(report: str) -> dict[str, str]:
    """The tables of a report by name, in order.

    >>> tables("## Results\\n\\nF1, in percent:\\n\\n| a |\\n|---|\\n| b |\\n\\nA note.\\n")
    {'F1, in percent': '| a |\\n|---|\\n| b |'}
    """
    found: dict[str, str] = {}
    above = ""
    for part in report.split("\n\n"):
        if part.startswith("|"):
            found[above] = part.rstrip("\n")
        above = part.strip().lstrip("# ").rstrip(":")
    return found


def named(name: str, found: dict[str, str]) -> str:
    """The table whose name begins with `name`; the whole name wins."""
    names = [name] if name in found else [one for one in found if one.startswith(name)]
    if len(names) != 1:
        raise SystemExit(
            f"expected one table whose name begins with {name!r}, found {len(names)}; the names are:\n"
            + "\n".join(found)
        )
    return found[names[0]]


def filled(page: str, content: Callable[[re.Match[str]], str]) -> str:
    """The page with other content between its markers."""
    return MARKED.sub(
        lambda at: f"{at[0][: at.start('content') - at.start()]}{content(at)}\n<!-- end -->", page
    )


def fill(run: Path, page: Path, label: str | None) -> list[str]:
    """Writes the tables and the curve of a run into a page; returns the names of its markers."""
    found, done = tables((run / "report.md").read_text(encoding="utf-8")), []

    def content(at: re.Match[str]) -> str:
        if at["run"] != label:
            return at["content"].rstrip("\n")
        done.append(at["name"])
        if at["kind"] == "table":
            return named(at["name"], found)
        picture = page.with_name(f"{page.stem}{f'-{label}' if label else ''}.svg")
        shutil.copyfile(run / "curve.svg", picture)
        return f"![{at['name']}]({picture.name})"

    page.write_text(filled(page.read_text(encoding="utf-8"), content), encoding="utf-8")
    return done


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder that `lcons run` wrote")
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
