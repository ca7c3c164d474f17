"""Hooks of mkdocs: pages that are not in docs/, and links between them.

- Pages and examples of the repository (`BROUGHT`) are added to the site; the page of a package ends with its
  Python reference.
- Links lead from where a file is in the repository; on the site they lead to the page made of that file. A
  link to a file that is no page, such as a module, becomes its text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["lcons-core", "lcons-decode", "lcons-tasks"]
# Path in the repository: path on the site.
BROUGHT = {
    "README.md": "index.md",
    "PAPER.md": "reference/paper.md",
    **{f"packages/{name}/README.md": f"packages/{name}.md" for name in PACKAGES},
    **{
        str(path.relative_to(ROOT)): f"examples/{path.name}" for path in ROOT.glob("packages/*/examples/*.py")
    },
    # The code that these two pages name, as text.
    **{
        path: f"source/{path}.txt"
        for page in ("PAPER.md", "DIFFERENCES.md")
        for path in re.findall(r"\]\((packages/[^)#]+\.py)", (ROOT / page).read_text(encoding="utf-8"))
    },
}
# Pages that stand on another page of the site, or in other words there.
ELSEWHERE = {
    "DIFFERENCES.md": "reference/paper.md",
    "packages/lcons-cli/README.md": "reference/commands.md",
    "packages/lcons-contrib/README.md": "how-to/contrib.md",
}
PLAYGROUND = "playground/index.html"
NAMES = ROOT / "tests/golden/expected/public_names.txt"
DIFFERENCES = """
<details markdown="1">
<summary>Differences from the paper, by module</summary>

#{}
</details>
""".format((ROOT / "DIFFERENCES.md").read_text(encoding="utf-8"))
# Public modules that are no packages.
MODULES = ["lcons_tasks.stats"]
FENCED = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def references() -> dict[str, str]:
    """The Python reference of each package, by the path on the site of its page."""
    packages: dict[str, list[str]] = {name: [] for name in MODULES}
    for name in NAMES.read_text(encoding="utf-8").split():
        home, _, inner = name.rpartition(".")
        packages.setdefault(home, []).append(inner)
    texts = {f"packages/{name}.md": "" for name in PACKAGES}
    for home, names in sorted(packages.items()):
        top = home.partition(".")[0]
        again = [name for name in names if home != top and name in packages[top]]
        members = [name for name in names if name not in again and not name.startswith("__")]
        lines = ["", f"## Reference of {home}", "", f"::: {home}"]
        lines += ["    options:", f"      members: [{', '.join(members)}]", ""] if names else [""]
        if again:
            links = ", ".join(f"[`{name}`](#{top}.{name})" for name in again)
            lines += [f"Also here: {links}.", ""]
        page = f"packages/{top.replace('_', '-')}.md"
        texts = texts | ({page: texts[page] + "\n".join(lines)} if page in texts else {})
    return texts


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
    return files


def playground() -> str:
    """The playground with a link to the site, which the page in docs/ does not know of."""
    text = (ROOT / "docs" / PLAYGROUND).read_text(encoding="utf-8")
    return text.replace('class="brand">lcons', 'class="brand"><a href="../index.html">lcons</a>')


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page with links that lead from its place on the site."""
    path = page.file.src_uri
    sources = {on_site: source for source, on_site in BROUGHT.items()}
    parts = FENCED.split(markdown + (DIFFERENCES if path == "reference/paper.md" else ""))
    parts[::2] = [rewritten(part, sources.get(path, f"docs/{path}"), path) for part in parts[::2]]
    text = "".join(parts).replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    return text + references().get(path, "")


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
        if found in BROUGHT | ELSEWHERE:
            there = (BROUGHT | ELSEWHERE)[found]
        elif found.startswith("docs/") and (ROOT / found).is_file():
            there = found.removeprefix("docs/")
        else:
            return label
        return f"{mark}[{label}]({posixpath.relpath(there, posixpath.dirname(path) or '.')}{hash_}{anchor})"

    return LINK.sub(lead, text)
