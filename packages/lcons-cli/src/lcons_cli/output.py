"""Output of the commands on constraints: the size and origin of a constraint, and results as lines of text.

Lines go to stdout, or to a file that appears complete or not at all. Only the standard library is imported
here; other modules are imported on use.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lcons_cli.console import write_all

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint


# The largest number of blocks to name one by one.
_NAMED = 6


def sizes(constraint: LearnedConstraint) -> Iterator[str]:
    """The size and origin of a constraint in words: hidden units, columns, points, rows of its forms."""
    from lcons_core._arithmetic import many
    from lcons_core._theorem import Form, estimate_form
    from lcons_tasks.own_data import recorded_split

    space, network = constraint.space, constraint.network
    blocks = [f"{block.name} {len(block.values):,}" for block in space.blocks[:_NAMED]]
    more = [f"{len(space.blocks) - _NAMED:,} more"] * (len(space.blocks) > _NAMED)
    yield f"{network.K} hidden units over {space.d:,} columns ({', '.join(blocks + more)})"
    rows = estimate_form(network, Form.ROWS).rows
    lifted = estimate_form(network, Form.LIFTED).rows
    yield f"{space.extent}; {many(rows)} rows by Theorem 1; {lifted:,} lifted rows"
    made = constraint.provenance
    examples = made.get("examples")
    counts = examples.items() if isinstance(examples, Mapping) else ()
    source = recorded_split(made)[0] or ", ".join(f"{number} {kind}" for kind, number in counts)
    if source:
        yield f"learned from {source}, with seed {made.get('seed')}"


def check_target(path: str | None, *inputs: str) -> None:
    """Raises `LconsError` before any work if the file cannot be written or is one of the inputs."""
    from lcons_core import LconsError

    if path is None:
        return
    target = Path(os.path.realpath(path))
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise LconsError(
            f"cannot write {path!r}: it is a directory, or its directory does not exist or cannot be written"
            " to; name a file in another directory."
        )
    for name in inputs:
        if target == Path(os.path.realpath(name)):
            raise LconsError(f"the output {path!r} would replace the input; name another file.")


def write_lines(lines: Iterable[str], path: str | None) -> bool:
    """Writes the lines as UTF-8; returns False if the reader of stdout closed it."""
    from lcons_core import LconsError
    from lcons_core._files import replacing

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
