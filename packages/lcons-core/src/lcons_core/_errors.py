"""What can go wrong, as a short hierarchy: every error is an `LconsError` and the builtin it resembles.

Each message is one sentence: what was expected, what was found, what to do.
"""

from __future__ import annotations


class LconsError(Exception):
    """The root of every error that lcons raises on purpose."""


class InvalidInput(LconsError, ValueError):
    """A value, shape, name or label that does not fit."""


class TooLarge(LconsError, ValueError):
    """A result that would be larger than the stated limit."""


class Unsupported(LconsError, TypeError):
    """An operation that has no exact meaning for this kind of feature or space."""


class MissingExtra(LconsError, ImportError):
    """An optional dependency that is not installed; the message names the extra."""


class DamagedFile(LconsError, ValueError):
    """A constraint file that is damaged, truncated, hostile or of an unknown version."""


class NotFitted(LconsError, ValueError, AttributeError):
    """A learner that is used before `fit`."""
