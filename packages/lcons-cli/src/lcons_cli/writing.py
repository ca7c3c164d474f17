"""Results as lines of text: to stdout, or to a file that appears whole or not at all.

Only the standard library is imported here; what is needed is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from pathlib import Path

from lcons_cli.reading import write_all


def check_target(path: str | None, *inputs: str) -> None:
    """Refuses a file that cannot be written, or that is one of the inputs, before the work and not after."""
    from lcons_core.errors import LconsError

    if path is None:
        return
    target = Path(os.path.realpath(path))
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise LconsError(
            f"cannot write {path!r}: it is a directory, or in one that is not there or cannot be written to;"
            " name a file in a directory that can."
        )
    for name in inputs:
        if target == Path(os.path.realpath(name)):
            raise LconsError(f"the output {path!r} would replace the input; name another file.")


def write_lines(lines: Iterable[str], path: str | None) -> bool:
    """Writes the lines as UTF-8; False where whoever reads stdout has gone."""
    from lcons_core.errors import LconsError
    from lcons_tasks.atomic import replacing

    if path is None:
        return write_all(_encoded(lines))
    try:
        with replacing(path) as file:
            file.writelines(_encoded(lines))
    except OSError as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot write {path!r}: {error.strerror or error}; name a file in a directory that exists and"
            " can be written to."
        ) from None
    return True


def _encoded(lines: Iterable[str]) -> Generator[bytes, None, None]:
    for line in lines:
        yield f"{line}\n".encode()
