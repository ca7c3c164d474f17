"""Fewer rows for the same set on a domain."""

from lcons_core.simplify.simplifying import SimplifiedRows, simplify

__all__ = ["SimplifiedRows", "simplify"]
