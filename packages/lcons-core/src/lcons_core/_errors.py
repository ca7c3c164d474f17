"""The errors and warnings of lcons: each error is an `LconsError` and also the most similar built-in error.

Each message is one sentence: what was expected, what was found, what to do.
"""

from __future__ import annotations

# Of the build for CPUs, which is enough and does not bring CUDA.
INSTALL_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"


class LconsError(Exception):
    """The base class of every error that lcons raises on purpose."""


class InvalidInput(LconsError, ValueError):
    """A value, shape, name or label is not valid."""


class TooLarge(LconsError, ValueError):
    """A result would be larger than the limit."""


class Unsupported(LconsError, TypeError):
    """An operation has no exact meaning for this kind of feature or space."""


class MissingExtra(LconsError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class DamagedFile(LconsError, ValueError):
    """A constraint file is damaged, truncated, hostile or of an unknown version."""


class NotFitted(LconsError, ValueError, AttributeError):
    """A learner was used before `fit`."""


class FitWarning(UserWarning):
    """A learned network is right on few of its training examples, or on far fewer held-out ones."""
