"""Constraint files: JSON that people can read, written atomically and read with suspicion.

The content is that of `document.py`. Floats are written so that they read back as the same float, and
the same constraint gives the same bytes. There is no pickle: a file holds numbers and names, and a
feature kind is found by its registered name only. Whatever is wrong with a file, `load` raises
`DamagedFile`, one sentence, and gives no partial object.

Not in the paper.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import DamagedFile, LconsError, TooLarge
from lcons_core.storage._document import from_document, to_document
from lcons_core.storage._plain import parse, pretty

MAX_BYTES = 2**26
_LONGEST_SENTENCE = 400


def save(constraint: LearnedConstraint, path: str | os.PathLike[str]) -> None:
    """Writes the constraint to `path`; on any failure an existing file stays as it was."""
    content = dumps(constraint).encode("utf-8")
    if len(content) > MAX_BYTES:
        raise TooLarge(
            f"the file would have {len(content):,} bytes, above the limit of {MAX_BYTES:,} that load"
            " reads; use a feature with fewer columns."
        )
    try:
        _write_atomically(Path(os.path.realpath(path)), content)
    except (OSError, ValueError, TypeError) as error:
        raise LconsError(
            f"cannot write {str(path)!r}: {_reason(error)}; name a file in a directory that exists and"
            " can be written to."
        ) from None


def load(path: str | os.PathLike[str]) -> LearnedConstraint:
    """The constraint in the file at `path`; `DamagedFile` where there is none."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as error:
        raise DamagedFile(
            f"cannot read {name!r}: {_reason(error)}; pass the path of a constraint file."
        ) from None
    if len(content) > MAX_BYTES:
        raise _damaged(name, f"it is larger than the limit of {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(name, f"it is not UTF-8 text from byte {error.start} on") from None
    if not text.strip():
        raise _damaged(name, "it is empty")
    return loads(text, name)


def dumps(constraint: LearnedConstraint) -> str:
    """The text of a constraint file."""
    members = to_document(constraint).items()
    lines = [f"{pretty(name)}: {pretty(value, '  ')}" for name, value in members]
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def loads(text: str, name: str = "the text") -> LearnedConstraint:
    """The constraint that `dumps` described; `name` is what errors call it."""
    try:
        return from_document(parse(text))
    except LconsError as error:
        raise _damaged(name, str(error)) from None
    except (RecursionError, MemoryError):
        raise _damaged(name, "it is nested too deeply or too large") from None


def _damaged(name: str, damage: str) -> DamagedFile:
    sentence = " ".join(damage.split()).rstrip(".")
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = sentence[:_LONGEST_SENTENCE] + " ..."
    advice = "" if "upgrade" in sentence else "; learn or save it again"
    return DamagedFile(f"{name!r} is no constraint file that lcons can read: {sentence}{advice}.")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _write_atomically(target: Path, content: bytes) -> None:
    # A rename would turn a device such as /dev/null into a file.
    if target.exists() and not target.is_file():
        raise OSError(None, "a directory or device is there")
    temporary = target.parent / f".lcons-{os.urandom(8).hex()}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
