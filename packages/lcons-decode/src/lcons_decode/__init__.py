"""Decoding under learned constraints: the best output that satisfies them, exactly or by search."""

from typing import Any

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("lcons-decode")
