"""Corpora: reading them strictly, finding them, fetching them when asked.

Each format is a file with one reader; the catalog says which corpora there are and which reader reads them.
"""

from lcons_tasks.corpus.adding import add
from lcons_tasks.corpus.anystyle import read_anystyle
from lcons_tasks.corpus.catalog import CATALOG, Corpus, CorpusFile, Download
from lcons_tasks.corpus.columns import read_columns, write_columns
from lcons_tasks.corpus.errors import CorpusNotFound, FetchFailed, MalformedCorpus
from lcons_tasks.corpus.fetching import Kept, fetch
from lcons_tasks.corpus.finding import cache_folder, data_folders, find, require
from lcons_tasks.corpus.layout import CONLL2000, CONLL2003, Columns
from lcons_tasks.corpus.reference import Reference, Segment
from lcons_tasks.corpus.references import CORA_FIELDS, read_references
from lcons_tasks.corpus.roth_yih import Relation, RelationSentence, read_roth_yih
from lcons_tasks.corpus.sentence import Sentence, hash_sentences
from lcons_tasks.corpus.vectors import read_vectors

__all__ = [
    "CATALOG",
    "CONLL2000",
    "CONLL2003",
    "CORA_FIELDS",
    "Columns",
    "Corpus",
    "CorpusFile",
    "CorpusNotFound",
    "Download",
    "FetchFailed",
    "Kept",
    "MalformedCorpus",
    "Reference",
    "Relation",
    "RelationSentence",
    "Segment",
    "Sentence",
    "add",
    "cache_folder",
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
    "write_columns",
]
