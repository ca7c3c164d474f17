"""Theorem 1, checked on one network in exact arithmetic."""

from lcons_core.verification.verifying import Verification, verify

__all__ = ["Verification", "verify"]
