"""Fewer rows for the same set on a domain."""

from lcons_core.simplification.simplifying import SimplifiedRows, simplify

__all__ = ["SimplifiedRows", "simplify"]
