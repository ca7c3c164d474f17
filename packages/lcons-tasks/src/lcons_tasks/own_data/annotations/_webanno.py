r"""WebAnno TSV 3, which WebAnno and INCEpTION export.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=webanno.custom.Entity|value

    #Text=Ann Lee left
    1-1<tab>0-3<tab>Ann<tab>PER[1]<tab>
    1-2<tab>4-7<tab>Lee<tab>PER[1]<tab>
    1-3<tab>8-12<tab>left<tab>_<tab>

The labels are the first feature of the first span layer (`#T_SP`), unless `layer` names another feature.
`[1]` marks the tokens of one span; `_` is no span, `*` a span without a value, `|` separates spans that
overlap, of which the first is read, and a backslash escapes. Spans of parts of tokens (`1-1.1`) are left out.
An `AnnotationWarning` states how many labels were left out.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator

from lcons_core import OUTSIDE, WORD, Instance
from lcons_tasks.data._lines import malformed, numbered_lines, quoted
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data.annotations._passage import AnnotationWarning

HEADER = "#FORMAT=WebAnno TSV"
_TOKEN = re.compile(r"\d+-\d+(\.\d+)?")
_STACKED = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(r"(.*?)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_KINDS = {"#T_SP": True, "#T_CH": False, "#T_RL": False}
_FIRST_COLUMN = 3
NO_SPAN = "_"


def read_webanno(path: str | os.PathLike[str], layer: str | None = None) -> Structures:
    """The labelled sentences of a file; `layer` is the name of the feature with the labels."""
    instances: list[Instance] = []
    features: dict[str, int] = {}
    rows: list[tuple[str, str]] = []
    column, width, left_out = None, _FIRST_COLUMN, 0
    for number, line in numbered_lines(path):
        if number == 1 and not line.startswith(HEADER):
            raise malformed(path, 1, f"expected `{HEADER} 3...`, found {quoted(line)}; export as TSV 3.")
        kind, _, named = line.partition("=")
        if kind in _KINDS and not instances and not rows:
            width = _declare(features, kind, named, width)
        elif not line or line.startswith("#"):
            if rows:
                instances.append(_instance(rows))
                rows = []
        elif token := _TOKEN.fullmatch(line.partition("\t")[0]):
            cells = line.split("\t")
            column = _column(path, number, features, layer) if column is None else column
            if len(cells) <= column:
                raise malformed(
                    path, number, f"expected {column + 1} cells, found {len(cells)}; export the file again."
                )
            spans = [span for span in _STACKED.split(cells[column]) if span != NO_SPAN]
            kept = [] if token[1] else spans[:1]
            left_out += len(spans) - len(kept)
            if not token[1]:
                rows.append((_plain(cells[2]), kept[0] if kept else NO_SPAN))
    if rows:
        instances.append(_instance(rows))
    if not instances:
        raise malformed(path, 1, "expected annotated sentences, found none; export a document with some.")
    if left_out:
        warnings.warn(
            f"{os.fspath(path)}: {left_out:,} labels of parts of tokens, or beside others, were left out,"
            " because each token has one label",
            AnnotationWarning,
            stacklevel=2,
        )
    return Structures(tuple(instances))


def _declare(features: dict[str, int], kind: str, named: str, width: int) -> int:
    """Records the columns of a layer; returns the number of columns so far. A relation has one more."""
    layer, *own = named.split("|")
    for place, name in enumerate(own or [""], start=width):
        if _KINDS[kind]:
            features.setdefault(f"{layer}|{name}", place)
            features.setdefault(name, place)
    return width + max(len(own), 1)


def _column(path: str | os.PathLike[str], number: int, features: dict[str, int], layer: str | None) -> int:
    if not features or (layer is not None and layer not in features):
        known = ", ".join(name for name in features if "|" in name) or "none"
        raise malformed(
            path,
            number,
            f"expected a span layer{'' if layer is None else f' {layer!r}'}, found {known}; annotate spans or"
            ' name one of these, as in `columns="label=NAME"`.',
        )
    return next(iter(features.values())) if layer is None else features[layer]


def _instance(rows: list[tuple[str, str]]) -> Instance:
    return Instance({WORD: tuple(word for word, _ in rows)}, tuple(_labels([cell for _, cell in rows])))


def _labels(cells: list[str]) -> Iterator[str]:
    before: tuple[str, str | None] | None = None
    for cell in cells:
        found = _NUMBERED.fullmatch(cell)
        assert found is not None
        value, number = _plain(found[1]), found[2]
        if cell == NO_SPAN:
            before = None
            yield OUTSIDE
            continue
        # A span of one token has no number.
        goes_on = number is not None and before == (value, number)
        before = (value, number)
        name = "span" if value in ("*", "") else value.replace(" ", "_")
        yield f"{'I' if goes_on else 'B'}-{name}"


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
