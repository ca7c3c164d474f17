"""Constraint files (plain JSON, written atomically and checked when read), and provenance."""
