"""Theorem 1, checked on one network in exact arithmetic."""

from lcons_core.verification.result import Verification
from lcons_core.verification.verifying import verify

__all__ = ["Verification", "verify"]
