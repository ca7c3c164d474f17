"""Constraints in the training of torch models: expected violations as a loss term.

Needs the extra `torch`.
"""

from lcons_core._errors import INSTALL_TORCH, MissingExtra

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingExtra(f"lcons_core.torch needs torch ({error}); run: {INSTALL_TORCH}") from error

from lcons_core.torch._label_chain import LabelChain
from lcons_core.torch._penalty import expected_penalty

__all__ = ["LabelChain", "expected_penalty"]
