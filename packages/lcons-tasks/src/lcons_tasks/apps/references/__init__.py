"""Labelled references: parsing them from text, and writing them as CSL-JSON, BibTeX and tagged text.

A reference is a sequence of (field, text) in the order of the text, such as the segments of
`lcons_tasks.data.Reference`; the field of text outside any field is None.
"""

from lcons_tasks.apps.references._bibtex import keys, to_bibtex
from lcons_tasks.apps.references._csl import CslItem, to_csl
from lcons_tasks.apps.references._dates import Date, parse_date
from lcons_tasks.apps.references._names import OTHERS, Name, parse_names
from lcons_tasks.apps.references._parser import ParsedReference, chunks, parse
from lcons_tasks.apps.references._pieces import Piece, to_tagged

__all__ = [
    "OTHERS",
    "CslItem",
    "Date",
    "Name",
    "ParsedReference",
    "Piece",
    "chunks",
    "keys",
    "parse",
    "parse_date",
    "parse_names",
    "to_bibtex",
    "to_csl",
    "to_tagged",
]
