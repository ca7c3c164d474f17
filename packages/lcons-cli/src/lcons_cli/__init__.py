"""The `lcons` command: learn, read and use linear constraints from the command line."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Read only when asked for: importing importlib.metadata takes longer than `lcons --help`.
    from importlib.metadata import version

    return version("lcons-cli")
