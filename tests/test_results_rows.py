"""The tables of the pages of results have the rows that their commands write with the code as it is now.

No experiment is run. The rows of chunking, citation and suite follow from the options of the command. Those
of the other tasks are in the reports of small runs, which tests/golden compares with the code.
"""

import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import click
import pytest

from lcons_cli.run import run as commands
from lcons_cli.run import values
from lcons_tasks.experiments.chunking._experiment import EXPERIMENT as CHUNKING
from lcons_tasks.experiments.citation import _constraints as citation
from lcons_tasks.experiments.engine._blocks import chosen_second
from lcons_tasks.experiments.engine._rows import CHOSEN
from lcons_tasks.experiments.entity_relation import _answers as er

ROOT = Path(__file__).resolve().parent.parent
PAGES = [page for page in sorted(ROOT.glob("docs/results/*.md")) if page.name != "protocol.md"]
# Rows of tables that are not ways to decode.
MORE = {"chosen on whole dev", "paper's best row", "paper"}
# Tables whose first column has other things than rows.
OTHER = {"claim", "system", "best known point"}


def tool():
    spec = spec_from_file_location("results", ROOT / "tools" / "results.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def labels(table: str) -> tuple[str, list[str]]:
    """The head of the first column of a table, and the distinct cells below it."""
    head, _, *cells = [line.split("|")[1].strip() for line in table.strip().splitlines()]
    return head, list(dict.fromkeys(cells))


def options_of(command: str):
    """The task of a command `lcons run`, and its options; those of er need the corpus, its rows do not."""
    words = shlex.split(command.partition("lcons run ")[2])
    inner = commands.get_command(click.Context(commands), words[0])
    given = inner.make_context(words[0], words[1:], help_option_names=["-h", "--help"]).params
    kind = inner.experiment.options
    return words[0], None if words[0] == "er" else kind.chosen(values(kind, given), given["full"])


def rows_of(task: str, options) -> list[str]:
    """The rows of the main table of a run, in order."""
    if task == "suite":
        return list(options.rows)
    if task == "chunking":
        rows = list(CHUNKING.cells(options)[0].rows)
    else:
        rows = citation.rows_of(options.decoders, options.hidden)
    return chosen_second([*(row.name for row in rows), CHOSEN])


def rows_of_small_run(task: str, options, head: str) -> set[str]:
    """The rows that a small run writes into tables with this head, and those that the options add."""
    report = (ROOT / f"tests/golden/expected/experiments/{task}/report.md").read_text()
    found = [labels(table) for table in tool().tables(report).values()]
    rows = {cell for own, cells in found if own == head for cell in cells}
    if task == "er":
        return rows | {er.SOME}
    return rows | {f"K = {K}" for K in options.hidden}


def wrong_rows(command: str, table: str, old: bool = False) -> list[str]:
    """The rows of a table that the command would not write; if there are none, those that a main table lacks,
    unless it is of an `old` version."""
    task, options = options_of(command)
    head, cells = labels(table)
    if head in OTHER:
        return []
    if head == "comparison":
        cells = list(dict.fromkeys(one for cell in cells for one in cell.split(" over ")))
    if task in ("er", "synthetic"):
        heads = ["solved with", "trained / tested with"] if head == "comparison" else [head]
        known = set().union(*(rows_of_small_run(task, options, one) for one in heads))
        return [cell for cell in cells if cell not in known]
    rows, cells = rows_of(task, options), [cell for cell in cells if cell not in MORE]
    unknown = [cell for cell in cells if cell not in rows]
    is_main = head == ("row" if task == "suite" else "decoder") and cells[0] == rows[0]
    return unknown if unknown or old or not is_main else [row for row in rows if row not in cells]


def marked(page: str) -> list[tuple[str, str, str, bool]]:
    """Of each table that an `lcons run` writes: the command, the name, the text, and whether the page states
    above the command that the tables are those of an earlier version."""
    found = list(tool().MARKED.finditer(page))
    runs, old = {}, {}
    for at in found:
        if at["kind"] == "command":
            runs[at["run"]] = at["content"].splitlines()[1]
            old[at["run"]] = bool(re.search(r"version\s\d", page[: at.start()].rpartition("\n## ")[2]))
    return [
        (runs[at["run"]], at["name"], at["content"], old[at["run"]] or "; rows: " in at["name"])
        for at in found
        if at["kind"] == "table" and "lcons run " in runs[at["run"]]
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_have_the_rows_that_their_command_writes(page: Path):
    for command, name, table, old in marked(page.read_text()):
        assert wrong_rows(command, table, old) == [], name
