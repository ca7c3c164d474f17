"""The outline of an HTML page: headings, tables by caption, head and size, pictures, and what unfolds."""

from html.parser import HTMLParser
from typing import Any

LINES = {"h1": "#", "h2": "##", "h3": "###", "h4": "####", "h5": "#####", "summary": ">", "title": "title"}


class Outline(HTMLParser):
    """Reads a page into `lines`."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.text: list[str] = []
        self.tables: list[dict[str, Any]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LINES or tag in ("caption", "th"):
            self.text = []
        if tag == "table":
            self.tables.append({"caption": "", "head": [], "rows": [], "place": len(self.lines)})
            self.lines.append("")
        elif tag == "tr" and self.tables:
            self.tables[-1]["rows"].append(0)
        elif tag in ("td", "th") and self.tables:
            spans = [int(value or 1) for name, value in attrs if name == "colspan"]
            self.tables[-1]["rows"][-1] += sum(spans) or 1
        elif tag == "svg":
            self.lines.append("picture")

    def handle_endtag(self, tag: str) -> None:
        if tag not in LINES and tag not in ("caption", "th", "table"):
            return
        text, self.text = " ".join(" ".join(self.text).split()), []
        if tag in LINES:
            self.lines.append(f"{LINES[tag]} {text}")
        elif tag == "caption":
            self.tables[-1]["caption"] = text
        elif tag == "th" and len(self.tables[-1]["rows"]) == 1:
            self.tables[-1]["head"].append(text)
        elif tag == "table":
            done = self.tables.pop()
            size = f"{len(done['rows'])} x {max(done['rows'], default=0)}"
            self.lines[done["place"]] = f"table {size}: {done['caption'] or ' | '.join(done['head'])}".strip()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(source: str) -> str:
    """A line per heading, table, picture and fold; equal lines in a row are counted."""
    lines = Outline(source).lines
    shown: list[str] = []
    for i, line in enumerate(lines):
        if i and line == lines[i - 1]:
            continue
        same = next((j for j, other in enumerate(lines[i:]) if other != line), len(lines) - i)
        shown.append(line if same == 1 else f"{line} ({same} times)")
    return "\n".join(shown) + "\n"
