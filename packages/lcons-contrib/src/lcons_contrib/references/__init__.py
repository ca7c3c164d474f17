"""Labelled references as CSL-JSON and BibTeX, the formats `csl` and `bibtex` of `lcons parse`.

    fields of a reference -> item of CSL-JSON -> entry of BibTeX

A reference is a sequence of (field, text) in the order of the text, such as the pieces of
`lcons_tasks.apps.references.ParsedReference`; the field of text outside any field is None.
"""

from lcons_contrib.references._bibtex import to_bibtex, write_bibtex
from lcons_contrib.references._csl import to_csl, write_csl
from lcons_contrib.references._dates import parse_date
from lcons_contrib.references._names import parse_names

__all__ = ["parse_date", "parse_names", "to_bibtex", "to_csl", "write_bibtex", "write_csl"]
