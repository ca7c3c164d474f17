"""Strings as spaCy can take them: spaCy keeps UTF-8, which has no lone surrogates."""

from __future__ import annotations

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    r"""The text with each lone surrogate replaced by one character, so that offsets stay as they are.

    >>> encodable("a\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _SURROGATE.sub(REPLACEMENT, text)
