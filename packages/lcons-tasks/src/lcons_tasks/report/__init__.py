"""Documents of runs, and their renderings: Markdown, one self-contained HTML page, and the terminal.

    a task, or files of the user -> Document -> to_markdown, to_html, to_terminal, document.json

The page loads nothing, escapes every text, and has a policy under which only its own script can run.

Not in the paper.
"""

from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._constraints import Limits
from lcons_tasks.report._document import (
    Block,
    Change,
    Claim,
    Claims,
    Constraints,
    Curve,
    Direction,
    Document,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Picture,
    Section,
    Sentences,
    Table,
    TableCell,
    Text,
)
from lcons_tasks.report._markdown import marked_lines, to_markdown
from lcons_tasks.report._page import report_page, summary, to_html
from lcons_tasks.report._run import Run, read_runs
from lcons_tasks.report._storage import read_document, write_document
from lcons_tasks.report._terminal import to_terminal

__all__ = [
    "Block",
    "Change",
    "Claim",
    "Claims",
    "Constraints",
    "Curve",
    "Direction",
    "Document",
    "Facts",
    "Figure",
    "Gain",
    "Gains",
    "Headline",
    "Limits",
    "Listing",
    "Picture",
    "Run",
    "Section",
    "Sentences",
    "Table",
    "TableCell",
    "Text",
    "marked_lines",
    "read_document",
    "read_runs",
    "report_page",
    "summary",
    "to_html",
    "to_markdown",
    "to_svg",
    "to_terminal",
    "write_document",
]
