"""Check files before a commit: a newline last, no spaces at ends of lines, no merge marks, no large file.

    python tidy.py FILE ...

Prints one line per fault, and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

LARGEST = 2**20
MERGE_MARK = re.compile(r"(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|) .*")
TWO_SPACES = (".md",)  # end a line in Markdown


def faults(path: Path) -> list[str]:
    """What is wrong with a file."""
    raw = path.read_bytes()
    if len(raw) > LARGEST:
        return [f"{path}: {len(raw):,} bytes, more than {LARGEST:,}"]
    if not raw or b"\0" in raw:
        return []
    found = []
    for number, line in enumerate(raw.decode(errors="replace").split("\n"), 1):
        if line != line.rstrip() and path.suffix not in TWO_SPACES:
            found.append(f"{path}:{number}: spaces at the end of the line")
        if MERGE_MARK.fullmatch(line):
            found.append(f"{path}:{number}: a mark of a merge")
    if not raw.endswith(b"\n"):
        found.append(f"{path}: no newline at the end")
    elif raw.endswith(b"\n\n"):
        found.append(f"{path}: empty lines at the end")
    return found


def main(names: list[str]) -> int:
    found = [fault for name in names for fault in faults(Path(name))]
    print(*found, sep="\n" if found else "", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
