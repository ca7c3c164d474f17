"""Text that no command may lose or stumble on, and what a command loads."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

GARBAGE = (
    b"\xef\xbb\xbfThe dog\r\n\r\n\r\n   \t\n",
    "😀👨\u200d👩\u200d👧 שלום עולם \u202eabc مرحبا. 中文。\n".encode(),
    b"\x00\x01\x07 bell\x1b[31m red\x1b[0m \x7f\x0b\x0c \xc2\x85 nul\x00nul\n",
    b"caf\xe9 \xff\xfe \xed\xa0\x80 latin\n",
)
LONG = b"x" * 10_000 + b"\n" + b"(" * 2_000 + b"\n" + b"a " * 5_000 + b"\n"


def make_pos_tags(patch: Any, folder: Path, tagged: Iterable[tuple[Any, Any]]) -> Path:
    """A cache, in which a POS tagger is trained once, on these sentences and in place of any pipeline."""
    patch.setenv("LCONS_CACHE_DIR", str(folder))
    patch.delenv("LCONS_DATA_DIR", raising=False)
    patch.setattr("lcons_tasks.data.text._pos.tagged_corpus", lambda: ("made-up sentences", list(tagged)))
    patch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    return folder


def run_and_list_modules(*arguments: object, given: str = "") -> tuple[str, set[str]]:
    """What a command in a process of its own prints, and the modules that it has loaded by its end."""
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        f"atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main({[*map(str, arguments)]})"
    )
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, set(done.stderr.split())
