"""Reasoning about constraints: rules by name, explanation, comparison, simplification, verification.

Every verdict is exact. Each name is imported at its first use.
"""
