"""Documents of runs, and their renderings: Markdown, one self-contained HTML page, and the terminal.

    a task, or files of the user -> Document -> to_markdown, to_html, to_terminal, document.json

The page loads nothing, escapes every text, and has a policy under which only its own script can run.

Not in the paper.
"""

# Names that are not in `__all__` are for the other packages of lcons.
from lcons_tasks.report._chart import to_svg as to_svg
from lcons_tasks.report._constraints import Limits as Limits
from lcons_tasks.report._document import Block as Block
from lcons_tasks.report._document import Change as Change
from lcons_tasks.report._document import Claim as Claim
from lcons_tasks.report._document import Claims as Claims
from lcons_tasks.report._document import Constraints as Constraints
from lcons_tasks.report._document import Curve as Curve
from lcons_tasks.report._document import Document
from lcons_tasks.report._document import Facts as Facts
from lcons_tasks.report._document import Figure as Figure
from lcons_tasks.report._document import Gain as Gain
from lcons_tasks.report._document import Gains as Gains
from lcons_tasks.report._document import Headline as Headline
from lcons_tasks.report._document import Listing as Listing
from lcons_tasks.report._document import Section as Section
from lcons_tasks.report._document import Sentences as Sentences
from lcons_tasks.report._document import Table as Table
from lcons_tasks.report._document import TableCell as TableCell
from lcons_tasks.report._document import Text as Text
from lcons_tasks.report._markdown import marked_lines as marked_lines
from lcons_tasks.report._markdown import to_markdown
from lcons_tasks.report._page import report_page as report_page
from lcons_tasks.report._page import summary as summary
from lcons_tasks.report._page import to_html
from lcons_tasks.report._run import Run as Run
from lcons_tasks.report._run import read_runs as read_runs
from lcons_tasks.report._storage import read_document
from lcons_tasks.report._storage import write_document as write_document
from lcons_tasks.report._terminal import to_terminal

__all__ = ["Document", "read_document", "to_html", "to_markdown", "to_terminal"]
