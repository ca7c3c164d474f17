"""`lcons audit`: gold labels that the rest of the data contradicts, with the rule and its odds.

    sentences -> out-of-fold model + rules on words -> odds -> Finding(where, labels, relabelling, reasons)

Not in the paper: all of this folder. Finding wrong labels by models that have not seen them is also what
cleanlab does, which docs/how-to/annotation.md measures beside it.
"""

from lcons_tasks.audit._audit import Audit, Finding, audit

__all__ = ["Audit", "Finding", "audit"]
