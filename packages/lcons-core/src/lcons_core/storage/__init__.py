"""Constraint files (plain JSON, written atomically and checked when read), and provenance."""

from lcons_core._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
