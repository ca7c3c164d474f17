"""The folder of a run of lcons 0.1.0, which has no document, as a document.

report.md -> text, lists and tables;  results.json -> where it came from;  *.svg, constraints/,
predictions/ -> pictures, constraints and sentences
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_tasks.report._document import (
    Block,
    Change,
    Constraints,
    Document,
    Facts,
    Listing,
    Picture,
    Section,
    Sentences,
    Table,
    Text,
)

RESULTS, REPORT = "results.json", "report.md"
FORMAT = 1
DIGITS = 4

_RULE = re.compile(r"\|[\s:|-]+\|?")


def old_document(folder: Path) -> Document:
    """The document of a folder; `InvalidInput` where its results.json is not as it should be."""
    results = _results(folder / RESULTS)
    task = results["task"]
    title, sections = read_markdown(_text(folder / REPORT))
    pictures = tuple(Picture(path.stem, path.name) for path in sorted(folder.glob("*.svg")))
    corpus = results.get("corpus")
    sets, sentences = _sets(folder), _sentences(folder, results)
    return Document(
        title or task.capitalize(),
        task,
        str(corpus.get("name", "")) if isinstance(corpus, dict) else "",
        "",
        sections=(
            *sections,
            Section("Pictures", pictures),
            Section("Constraints", tuple(sets)),
            Section("Sentences before and after", tuple(sentences)),
            Section("Provenance", (_provenance(results),)),
        ),
        provenance=dict(said_facts(results.get("versions"))),
    )


def read_markdown(source: str) -> tuple[str, list[Section]]:
    """The title and the sections of a report, by its headings; text before the first is called Results."""
    title, heading = "", "Results"
    sections: dict[str, list[Block]] = {}
    for lines in _parts(source):
        if match := re.fullmatch(r"(#+) (.*)", lines[0]):
            if len(match[1]) == 1:
                title = title or match[2]
            else:
                heading = match[2]
        else:
            blocks = sections.setdefault(heading, [])
            block = _block(lines, heading)
            before = blocks[-1] if blocks else None
            if isinstance(block, Table) and isinstance(before, Text) and before.text.endswith(":"):
                block = replace(block, caption=before.text.removesuffix(":"))
                blocks.pop()
            blocks.append(block)
    return title, [Section(name, tuple(blocks)) for name, blocks in sections.items()]


def _block(lines: Sequence[str], heading: str) -> Block:
    if len(lines) > 1 and lines[0].startswith("|") and _RULE.fullmatch(lines[1]):
        head, _, *rows = ([cell.strip() for cell in _cells(line)] for line in lines)
        whole = tuple(tuple([*row, *[""] * len(head)][: len(head)]) for row in rows)
        return Table(heading, tuple(head), whole)
    if lines[0].startswith("- "):
        items: list[str] = []
        for line in lines:
            if line.startswith("- "):
                items.append(line[2:])
            else:
                items[-1] += f"\n{line.strip()}"
        return Listing(tuple(items))
    return Text(" ".join(line.strip() for line in lines))


def _parts(source: str) -> Iterator[list[str]]:
    """Lines that stand together; a heading is a part by itself, whatever follows it."""
    for blank, lines in groupby(source.splitlines(), key=lambda line: not line.strip()):
        own = [] if blank else list(lines)
        while own and own[0].startswith("#"):
            yield [own.pop(0)]
        if own:
            yield own


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [cell.replace("\\|", "|") for cell in cells]


def _sets(folder: Path) -> Iterator[Constraints]:
    files: dict[str, list[str]] = {}
    for path in _files(folder / "constraints"):
        if path.suffix == ".json":
            name = path.parent.relative_to(folder / "constraints").as_posix()
            files.setdefault("all" if name == "." else name, []).append(path.relative_to(folder).as_posix())
    predictions = [path.relative_to(folder).as_posix() for path in _files(folder / "predictions")]
    for name in sorted(files, key=natural):
        cell = name.split("/")[0]
        own = next((one for one in predictions if _is_of(Path(one).stem, cell)), None)
        yield Constraints(name, tuple(files[name]), own)


def _sentences(folder: Path, results: Mapping[str, Any]) -> Iterator[Sentences]:
    """The files of predictions, with the reasons that the run found for some of them."""
    changes = tuple(_changes(results))
    sets = list(_sets(folder))
    for path in _files(folder / "predictions"):
        file = path.relative_to(folder).as_posix()
        # Of entities and relations, the first set of a split is what sentences were decoded under.
        own = [one.files for one in sets if one.predictions == file] if path.suffix == ".jsonl" else []
        yield Sentences(path.stem, changes, file, own[0] if own else ())


def _changes(results: Mapping[str, Any]) -> Iterator[Change]:
    examples = results.get("examples")
    for one in examples if isinstance(examples, list) else ():
        try:
            words, before, after = (tuple(map(str, one[name])) for name in ("words", "before", "after"))
            yield Change(words, before, after, None, str(one["rule"]), str(one["why"]))
        except (TypeError, KeyError, InvalidInput):
            # Examples of another form.
            continue


def _is_of(name: str, cell: str) -> bool:
    return name == cell or name.endswith(f"-{cell}")


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(files, key=lambda path: natural(path.relative_to(folder).as_posix()))


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by size.

    >>> sorted(["seed10", "seed2"], key=natural)
    ['seed2', 'seed10']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _results(path: Path) -> dict[str, Any]:
    try:
        results = json.loads(_text(path))
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"expected JSON in {str(path)!r}, found something else; run the task again."
        ) from None
    if not isinstance(results, dict) or not isinstance(results.get("task"), str):
        raise InvalidInput(
            f"expected the results of a task in {str(path)!r}, found no `task`; name the folder of a run."
        )
    if results.get("format") != FORMAT:
        raise InvalidInput(
            f"expected results of format {FORMAT} in {str(path)!r}, found {results.get('format')!r:.40}; use"
            " the lcons that made the run."
        )
    return results


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}: {error.strerror or error}; name a run that can be read."
        ) from None


def _provenance(results: Mapping[str, Any]) -> Facts:
    facts = [("task", str(results["task"])), *said_facts(results.get("corpus"), "corpus ")]
    return Facts("What was run", (*facts, *said_facts(results.get("options"), "option ")))


def said_facts(data: Any, before: str = "") -> list[tuple[str, str]]:
    """Plain data as names and what they are, in words; nothing where it is no object.

    >>> said_facts({"penalty": 0.012345678, "shares": [0.1 + 0.2, 1e-9], "seed": 7}, "option ")
    [('option penalty', '0.01235'), ('option shares', '0.3, 1e-09'), ('option seed', '7')]
    """
    found = data.items() if isinstance(data, dict) else ()
    return [(f"{before}{key}", _said(_rounded(value))) for key, value in found]


def _said(value: Any) -> str:
    """A value in words: lists with commas, others as JSON has them."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(one, list | dict) for one in value):
        return ", ".join(str(one) for one in value) or "none"
    if isinstance(value, dict) and not any(isinstance(one, list | dict) for one in value.values()):
        return ", ".join(f"{key} {one}" for key, one in value.items())
    return json.dumps(value, ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
