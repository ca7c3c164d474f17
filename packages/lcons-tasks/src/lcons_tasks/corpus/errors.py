"""What can go wrong with corpora, beside the errors of lcons-core."""

from __future__ import annotations

from lcons_core.errors import LconsError


class MalformedCorpus(LconsError, ValueError):
    """A corpus file that does not have its format; the message begins with file and line."""


class CorpusNotFound(LconsError, FileNotFoundError):
    """A corpus that is in none of the data folders; the message says how to get it."""


class FetchFailed(LconsError, OSError):
    """A corpus that could not be downloaded, checked or written."""
