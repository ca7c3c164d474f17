r"""WebAnno TSV 3, which WebAnno and INCEpTION export.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=webanno.custom.Entity|value

    #Text=Ann Lee left
    1-1<tab>0-3<tab>Ann<tab>PER[1]<tab>
    1-2<tab>4-7<tab>Lee<tab>PER[1]<tab>
    1-3<tab>8-12<tab>left<tab>_<tab>

The labels are the first feature of the first span layer (`#T_SP`), unless `label` names another feature.
`[1]` marks the tokens of one span; `_` is no span, `*` a span without a value, `|` separates spans that
overlap, of which the first is read, and a backslash escapes. Spans of parts of tokens (`1-1.1`) are left out.
A warning states how many labels were left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lcons_contrib.annotations._passage import Sentence, warn_left_out
from lcons_core import InvalidInput
from lcons_core._schemes import OUTSIDE

HEADER = "#FORMAT=WebAnno TSV"
_TOKEN = re.compile(r"\d+-\d+(\.\d+)?")
_STACKED = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(r"(.*?)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_LAYERS = ("#T_SP", "#T_CH", "#T_RL")
_FIRST_COLUMN = 3
_NO_SPAN = "_"


def read_webanno(path: str | os.PathLike[str], label: str | None = None) -> Iterator[Sentence]:
    """The labelled sentences of a file; `label` is the name of the feature with the labels."""
    text = Path(path).read_text(encoding="utf-8-sig")
    if not text.startswith(HEADER):
        raise InvalidInput(f"expected `{HEADER} 3...`, found {text!r:.40}; export as TSV 3.")
    head, *blocks = re.split(r"\n\s*\n", text)
    column = _column(head.split("\n"), label)
    left_out = 0
    for block in blocks:
        rows: list[tuple[str, str]] = []
        for line in block.split("\n"):
            cells = line.split("\t")
            token = _TOKEN.fullmatch(cells[0])
            if token is None:
                continue
            if len(cells) <= column:
                raise InvalidInput(f"expected {column + 1} cells, found {line!r:.60}; export the file again.")
            spans = [span for span in _STACKED.split(cells[column]) if span != _NO_SPAN]
            left_out += len(spans) - bool(spans and not token[1])
            if not token[1]:
                rows.append((_plain(cells[2]), spans[0] if spans else _NO_SPAN))
        if rows:
            yield [word for word, _ in rows], list(_labels([cell for _, cell in rows]))
    warn_left_out(left_out, "labels of parts of tokens, or beside others,")


def _column(head: Sequence[str], label: str | None) -> int:
    """The column of a feature, or of the first feature of a span layer."""
    features: dict[str, int] = {}
    width = _FIRST_COLUMN
    for line in head:
        kind, _, declared = line.partition("=")
        if kind in _LAYERS:
            names = declared.split("|")[1:] or [""]
            if kind == "#T_SP":
                features |= {name: place for place, name in enumerate(names, width) if name not in features}
            width += len(names)
    chosen = next(iter(features), None) if label is None else label
    if chosen not in features:
        raise InvalidInput(
            f"expected a span layer{'' if label is None else f' with {label!r}'}, found the features"
            f" {', '.join(features) or 'none'}; annotate spans or name one of these, as in"
            ' `columns="label=NAME"`.'
        )
    return features[chosen]


def _labels(cells: Sequence[str]) -> Iterator[str]:
    before = None
    for cell in cells:
        match = _NUMBERED.fullmatch(cell)
        if cell == _NO_SPAN or match is None:
            before = None
            yield OUTSIDE
            continue
        # A span of one token has no number.
        goes_on = match[2] is not None and match.groups() == before
        before = match.groups()
        name = "span" if match[1] in ("*", "") else "_".join(_plain(match[1]).split())
        yield f"{'I' if goes_on else 'B'}-{name}"


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
