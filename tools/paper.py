"""Collect the remarks of the modules on the paper: which module has which item, and where modules differ.

Writes the links of PAPER.md and the tables of DIFFERENCES.md, whose other words are written by hand:
`./tools/venv python tools/paper.py`. Exits with 1 if no module names some item that PAPER.md lists. A test
checks that both pages are up to date.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKERS = ("Differs from the paper", "Not in the paper")
# A remark ends with its paragraph, or where the next remark or `Paper:` begins. Without a colon it is about
# the whole module.
REMARK = re.compile(rf"({'|'.join(MARKERS)})(?:: (.*?)|\. ?(.*?)|,.*?)(?= (?:{'|'.join(MARKERS)}|Paper): |$)")
REFERENCE = re.compile(rf"Paper: (.*?)(?= (?:{'|'.join(MARKERS)})[:.,]|$)")

# The words of the pages, which are written by hand: above the first heading of remarks, and by item.
WORDS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("PAPER.md", "DIFFERENCES.md")}
ITEMS = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \| .*\|$", WORDS["PAPER.md"], re.MULTILINE)[1:])
KINDS = {"Eq.": "Eq.", "Theorem": "Theorem", "Sec.": "Sec.", "Table": "Table", "Appendix": "Appendix"}
PLURALS = {"Eqs.": "Eq.", "Secs.": "Sec.", "Tables": "Table", "Appendices": "Appendix"}
_NUMBER = r"(?:\d+(?:\.\d+)?|[A-E](?:\.\d)?)\b"
_NAMES = "|".join(re.escape(name) for name in (*KINDS, *PLURALS))
MENTION = re.compile(rf"({_NAMES}) ({_NUMBER}(?:(?:-|, and |, | and ){_NUMBER})*)")


def paragraphs(path: Path) -> list[str]:
    """The paragraphs of a module's docstring, each on one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]


def remarks(path: Path) -> Iterator[tuple[str, str]]:
    """(marker, text) of each remark in a module's docstring."""
    whole = paragraphs(path)
    for paragraph in whole:
        for marker, text, rest in REMARK.findall(paragraph):
            yield marker, text or f"all of it. {whole[0]} {rest}".strip()


def mentioned(text: str) -> list[str]:
    """The items of the paper that a text names.

    >>> mentioned("Sec. 2.1 and 2.2, Eq. 3-5; the tables of Appendices B, C.")
    ['Sec. 2.1', 'Sec. 2.2', 'Eq. 3', 'Eq. 4', 'Eq. 5', 'Appendix B', 'Appendix C']
    """
    found: list[str] = []
    for name, numbers in MENTION.findall(text):
        kind = KINDS.get(name) or PLURALS[name]
        for part in re.split(r", and |, | and ", numbers):
            first, _, last = part.partition("-")
            found += [f"{kind} {number}" for number in expanded(first, last or first)]
    return found


def expanded(first: str, last: str) -> list[str]:
    """The numbers or letters from the first to the last: `3-5`, `B-E`.

    >>> expanded("B", "D"), expanded("9", "11"), expanded("2.1", "2.1")
    (['B', 'C', 'D'], ['9', '10', '11'], ['2.1'])
    """
    if first == last:
        return [first]
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    return [chr(code) for code in range(ord(first), ord(last) + 1)]


def modules() -> list[Path]:
    """The modules of the packages, in order."""
    return sorted(ROOT.glob("packages/*/src/**/*.py"))


def homes() -> dict[str, list[Path]]:
    """For each item of the paper, the modules that name it in a `Paper:` remark of their docstring."""
    found: dict[str, list[Path]] = {item: [] for item in ITEMS}
    for path in modules():
        texts = (text for paragraph in paragraphs(path) for text in REFERENCE.findall(paragraph))
        for item in dict.fromkeys(item for text in texts for item in mentioned(text)):
            if item not in found:
                raise SystemExit(f"{path.relative_to(ROOT)} names {item}, which the paper does not have.")
            found[item].append(path)
    return found


def missing() -> list[str]:
    """The items of the paper that no module names."""
    return [item for item, paths in homes().items() if not paths]


def linked(path: Path) -> str:
    """A Markdown link to a module."""
    name = path.relative_to(ROOT)
    module = ".".join(name.with_suffix("").parts[3:]).removesuffix(".__init__")
    return f"[{module}]({name.as_posix()})"


def cell(text: str) -> str:
    """A text as a cell of a Markdown table.

    >>> print(cell("p(y | x)"))
    p(y \\| x)
    """
    return text.replace("|", "\\|")


def paper_page() -> str:
    """PAPER.md: where each item of the paper is in the code."""
    lines = [WORDS["PAPER.md"].partition("\n|---")[0], "|---|---|---|"]
    for item, paths in homes().items():
        lines.append(f"| {item} | {ITEMS[item]} | {', '.join(map(linked, paths))} |")
    return "\n".join(lines) + "\n"


def differences_page() -> str:
    """DIFFERENCES.md: where the code differs from the paper, and what is not in the paper."""
    lines = [WORDS["DIFFERENCES.md"].partition("\n## ")[0].rstrip()]
    for marker in MARKERS:
        lines += ["", f"## {marker}", "", "| module | remark |", "|---|---|"]
        for path in modules():
            texts = [text for found, text in remarks(path) if found == marker]
            lines += [f"| {linked(path)} | {cell(text)} |" for text in texts]
    return "\n".join(lines) + "\n"


PAGES = {"PAPER.md": paper_page, "DIFFERENCES.md": differences_page}


def main() -> int:
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
        print(f"written to {name}")
    lost = missing()
    if lost:
        print(f"no module names {', '.join(lost)}; name it after `Paper:` in a docstring", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
