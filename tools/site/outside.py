"""Fail if a page of the built site would make a request to another place when it is read.

    python outside.py FOLDER

Read are the attributes by which HTML loads something (src, srcset, data, poster, the href of `link` and of
`use` and `image` in SVG) and, in style sheets, `url(...)` and `@import`. Links that a reader may click are no
requests.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

OUTSIDE = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)
LOADS = {"src", "srcset", "data", "poster", "background"}
LINKS = {"link", "use", "image", "feimage"}
# Relations of `link` that load nothing.
PLAIN = {"canonical", "next", "prev", "license", "author"}
STYLE = re.compile(
    r"""url\(\s*['"]?((?:https?:)?//[^)'"]+)|@import\s+['"]((?:https?:)?//[^'"]+)""", re.IGNORECASE
)


class Requests(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        loads = LOADS | ({"href", "xlink:href"} if tag in LINKS and values.get("rel") not in PLAIN else set())
        self.found += [
            value for name, value in attrs if name in loads and value is not None and OUTSIDE.match(value)
        ]
        self.found += in_style(values.get("style") or "")


def in_style(text: str) -> list[str]:
    """The outside addresses that a style sheet loads."""
    return [first or second for first, second in STYLE.findall(text)]


def requests(path: Path) -> list[str]:
    """The outside addresses that a file of the site loads."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".css":
        return in_style(text)
    parser = Requests()
    parser.feed(text)
    return parser.found + in_style("\n".join(re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL)))


def main(folder: str) -> int:
    paths = [path for path in sorted(Path(folder).rglob("*")) if path.suffix in {".html", ".css", ".svg"}]
    found = [f"{path}: {address}" for path in paths for address in requests(path)]
    print("\n".join([*found, f"{len(paths)} files of {folder}: {len(found)} requests to other places"]))
    return int(bool(found) or not paths)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
