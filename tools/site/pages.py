"""Hooks of mkdocs: pages that are not in docs/, lists of pages in the navigation, and links between them.

- Pages and examples of the repository (`BROUGHT`) and one page per public package are added to the site.
- A folder in the navigation stands for its pages, by title.
- Links lead from where a file is in the repository; on the site they lead to the page made of that file. A
  link to a file that is no page, such as a module, becomes its text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli", "lcons-contrib"]
# Path in the repository: path on the site.
BROUGHT = {
    "README.md": "index.md",
    "PAPER.md": "reference/paper.md",
    "DIFFERENCES.md": "reference/differences.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{f"packages/{name}/README.md": f"packages/{name}.md" for name in PACKAGES},
    **{f"packages/{name}/CHANGELOG.md": f"changes/{name}.md" for name in PACKAGES},
    **{
        str(path.relative_to(ROOT)): f"examples/{path.name}" for path in ROOT.glob("packages/*/examples/*.py")
    },
}
PLAYGROUND = "playground/index.html"
API = "reference/api"
NAMES = ROOT / "tests/golden/expected/public_names.txt"
# Public modules that are no packages.
MODULES = ["lcons_tasks.stats"]
FENCED = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def api_pages() -> dict[str, str]:
    """The page of each public package, by its path on the site."""
    packages: dict[str, list[str]] = {}
    for name in NAMES.read_text(encoding="utf-8").split():
        home, _, own = name.rpartition(".")
        packages.setdefault(home, []).append(own)
    pages = {f"{API}/{name}.md": f"# {name}\n\n::: {name}\n" for name in MODULES}
    for home, names in packages.items():
        top = home.partition(".")[0]
        again = [name for name in names if home != top and name in packages[top]]
        members = [name for name in names if name not in again and not name.startswith("__")]
        lines = [f"# {home}", "", f"::: {home}", "    options:", f"      members: [{', '.join(members)}]", ""]
        if again:
            links = ", ".join(f"[`{name}`]({top}.md#{top}.{name})" for name in again)
            lines += [f"Also here, and described in [{top}]({top}.md): {links}.", ""]
        pages[f"{API}/{home}.md"] = "\n".join(lines)
    order = [f"{API}/{name.replace('-', '_')}" for name in PACKAGES]
    places = {
        path: (order.index(path.removesuffix(".md").partition(".")[0]), path.removesuffix(".md"))
        for path in pages
    }
    return {path: pages[path] for path in sorted(pages, key=places.__getitem__)}


def title(text: str) -> str:
    """The heading of a page."""
    return text.partition("\n")[0].lstrip("# ")


def on_config(config: Any) -> Any:
    """Puts the pages of a folder where the navigation names the folder."""
    texts = {
        path: (ROOT / source).read_text(encoding="utf-8") for source, path in BROUGHT.items()
    } | api_pages()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        texts[str(path.relative_to(ROOT / "docs"))] = path.read_text(encoding="utf-8")

    def expanded(items: list[Any]) -> list[Any]:
        found: list[Any] = []
        for item in items:
            if isinstance(item, dict):
                [(name, inner)] = item.items()
                found.append({name: expanded(inner) if isinstance(inner, list) else inner})
            elif item.endswith("/"):
                found += [{title(text): path} for path, text in texts.items() if path.startswith(item)]
            else:
                found.append(item)
        return found

    config.nav = expanded(config.nav)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are not in docs/."""
    from mkdocs.structure.files import File  # type: ignore[import-not-found]

    for source, path in BROUGHT.items():
        files.append(File.generated(config, path, content=(ROOT / source).read_text(encoding="utf-8")))
    for name in ("iframe-worker.js", "site.css"):
        own = Path(__file__).with_name(name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{name}", content=own))
    files.remove(files.get_file_from_path(PLAYGROUND))
    files.append(File.generated(config, PLAYGROUND, content=playground()))
    for path, text in api_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def playground() -> str:
    """The playground with a link to the site, which the page in docs/ does not know of."""
    text = (ROOT / "docs" / PLAYGROUND).read_text(encoding="utf-8")
    return text.replace('class="brand">lcons', 'class="brand"><a href="../index.html">lcons</a>')


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page with links that lead from its place on the site."""
    path = page.file.src_uri
    if path.startswith(f"{API}/"):
        return markdown
    sources = {on_site: source for source, on_site in BROUGHT.items()}
    parts = FENCED.split(markdown)
    parts[::2] = [rewritten(part, sources.get(path, f"docs/{path}"), path) for part in parts[::2]]
    return "".join(parts)


def rewritten(text: str, source: str, path: str) -> str:
    """The text of the file `source` with links that lead from the page `path`."""

    def lead(match: re.Match[str]) -> str:
        mark, label, link = match.groups()
        target, hash_, anchor = link.partition("#")
        if not target or "://" in target:
            return match[0]
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if not (ROOT / found).exists():
            return match[0]  # mkdocs then warns of it
        if (ROOT / found / "README.md").is_file():
            found = f"{found}/README.md"
        if found in BROUGHT:
            there = BROUGHT[found]
        elif found.startswith("docs/") and (ROOT / found).is_file():
            there = found.removeprefix("docs/")
        else:
            return label
        return f"{mark}[{label}]({posixpath.relpath(there, posixpath.dirname(path) or '.')}{hash_}{anchor})"

    return LINK.sub(lead, text)
