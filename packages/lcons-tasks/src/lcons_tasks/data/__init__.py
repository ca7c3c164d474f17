"""Corpora: strict readers of their formats, finding them on disk, and fetching them on request.

Each format has one reader. The catalog lists the corpora and the reader of each.
"""

from lcons_tasks.data._catalog import (
    CATALOG,
    Corpus,
    CorpusFile,
    cache_folder,
    data_folders,
    find,
    require,
)
from lcons_tasks.data._columns import CONLL2000, CONLL2003, Columns, read_columns, write_columns
from lcons_tasks.data._fetch import FileProgress, Kept, add, fetch
from lcons_tasks.data._lines import CorpusNotFound, FetchFailed, MalformedCorpus, read_vectors
from lcons_tasks.data._references import CORA_FIELDS, Reference, Segment, read_anystyle, read_references
from lcons_tasks.data._roth_yih import Relation, RelationSentence, read_roth_yih
from lcons_tasks.data._sentence import Sentence, hash_sentences
from lcons_tasks.data._stream import column_layout, column_sentences, text_sentences
from lcons_tasks.data._tagged_text import TAGGED_FORMATS

__all__ = [
    "CATALOG",
    "CONLL2000",
    "CONLL2003",
    "CORA_FIELDS",
    "TAGGED_FORMATS",
    "Columns",
    "Corpus",
    "CorpusFile",
    "CorpusNotFound",
    "FetchFailed",
    "FileProgress",
    "Kept",
    "MalformedCorpus",
    "Reference",
    "Relation",
    "RelationSentence",
    "Segment",
    "Sentence",
    "add",
    "cache_folder",
    "column_layout",
    "column_sentences",
    "data_folders",
    "fetch",
    "find",
    "hash_sentences",
    "read_anystyle",
    "read_columns",
    "read_references",
    "read_roth_yih",
    "read_vectors",
    "require",
    "text_sentences",
    "write_columns",
]
