"""Documents of runs, and their renderings: Markdown, one self-contained HTML page, and the terminal.

    a task, or files of the user -> Document -> to_markdown, to_html, to_terminal, document.json

The page loads nothing, escapes every text, and has a policy under which only its own script can run.

Not in the paper.
"""

from lcons_tasks.report._document import Document, read_document
from lcons_tasks.report._page import to_html
from lcons_tasks.report._text import to_markdown, to_terminal

__all__ = ["Document", "read_document", "to_html", "to_markdown", "to_terminal"]
