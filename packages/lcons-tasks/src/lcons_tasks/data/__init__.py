"""Corpora: strict readers of their formats, finding them on disk, and fetching them on request.

Each format has one reader. The catalog lists the corpora and the reader of each.
"""

from lcons_tasks.data._catalog import CATALOG, find, require
from lcons_tasks.data._columns import Columns, read_columns, write_columns
from lcons_tasks.data._fetch import add, fetch
from lcons_tasks.data._lines import CorpusNotFound, FetchFailed, MalformedCorpus
from lcons_tasks.data._references import read_anystyle, read_references
from lcons_tasks.data._roth_yih import read_roth_yih
from lcons_tasks.data._sentence import Sentence

__all__ = [
    "CATALOG",
    "Columns",
    "CorpusNotFound",
    "FetchFailed",
    "MalformedCorpus",
    "Sentence",
    "add",
    "fetch",
    "find",
    "read_anystyle",
    "read_columns",
    "read_references",
    "read_roth_yih",
    "require",
    "write_columns",
]
