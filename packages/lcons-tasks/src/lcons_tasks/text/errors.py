"""What can go wrong with taggers, beside the errors of lcons-core."""

from __future__ import annotations

from lcons_core.errors import LconsError


class TaggerNotFound(LconsError, LookupError):
    """No POS tagger is installed, and there is no tagged corpus to train one from."""


class UnusableCache(LconsError, OSError):
    """A folder that cannot hold a trained tagger."""
