"""Runs as one self-contained HTML page.

    folders, files -> run -> views -> results, curves, constraints, sentences, provenance -> page
                                   -> agreement, runs beside each other                   ->

Everything that is shown is escaped where it enters (`html.py`); the page loads nothing, and its policy lets
nothing but its own script run.

Not in the paper.
"""

from lcons_tasks.report._estimate import Estimate, estimate
from lcons_tasks.report._page import report_page, summary
from lcons_tasks.report._run import Run, read_runs
from lcons_tasks.report._shown import Limits

__all__ = ["Estimate", "Limits", "Run", "estimate", "read_runs", "report_page", "summary"]
