"""Constraint files: plain JSON, checked on the way in, written atomically."""

from lcons_core.storage._files import dumps, load, loads, save

__all__ = ["dumps", "load", "loads", "save"]
