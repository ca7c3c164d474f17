"""Answers as columns: words, POS tags, gold labels, labels without constraints and labels with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lcons_tasks.data import Columns, Sentence, write_columns

PREDICTIONS = Columns(
    ("word", "pos", "gold", "exact", "constrained"),
    "word",
    "constrained",
    {"pos": "pos", "gold": "gold", "exact": "exact"},
)


def write_predictions(
    path: Path,
    sentences: Sequence[Sentence],
    exact: Sequence[Sequence[str]],
    constrained: Sequence[Sequence[str]],
) -> None:
    """Writes the predicted labels of sentences, without and with constraints."""
    answers = (
        Sentence(s.words, tuple(c), {"pos": s.columns["pos"], "gold": s.labels, "exact": tuple(e)})
        for s, e, c in zip(sentences, exact, constrained, strict=True)
    )
    write_columns(path, answers, PREDICTIONS)
