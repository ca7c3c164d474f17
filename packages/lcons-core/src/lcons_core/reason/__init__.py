"""Reasoning about constraints: rules by name, explanation, comparison, simplification, verification.

Every verdict is exact. Each name is imported at its first use.
"""

from lcons_core._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
