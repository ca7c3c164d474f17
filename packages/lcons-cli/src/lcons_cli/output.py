"""The size and origin of a constraint, and results as lines of text, on stdout or in a file."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from lcons_cli.console import write_all


def write_lines(lines: Iterable[str], path: str | None) -> None:
    """Writes the lines as UTF-8 to stdout, or to a file that appears complete or not at all."""
    from lcons_core._files import replacing

    encoded = _encoded(lines)
    if path is None:
        write_all(encoded)
        return
    with replacing(path) as file:
        file.writelines(encoded)


def _encoded(lines: Iterable[str]) -> Generator[bytes, None, None]:
    for line in lines:
        yield f"{line}\n".encode()
