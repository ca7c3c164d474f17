"""Answers as text: columns in CoNLL format, or plain data for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_decode._result import Decoding
from lcons_decode._scores import WORDS, Columns, Scored

# Written for every token if no labelling has a finite score.
NO_LABEL = "_"


def conll(scored: Scored, answer: Decoding) -> str:
    """One line per token with its word, if it has one, its other columns and its label; then a blank line.

    >>> from lcons_decode import ChainScores, Status
    >>> scores = ChainScores([[0.0, 1.0]], labels=["B", "O"])
    >>> conll(Scored(scores, {"word": ["dog"], "pos": ["NN"]}), Decoding(("B",), 0.0, Status.OPTIMAL))
    'dog NN B\\n\\n'
    """
    columns = [*_in_order(scored.x).values(), answer.y or (NO_LABEL,) * len(scored.scores)]
    doubtful = [column for column in columns if " ".join(column).split() != [*column]]
    for cell in (cell for column in doubtful for cell in column):
        if not cell or cell.split() != [cell]:
            raise InvalidInput(
                f"{scored.where}: expected cells without white space, found {cell!r:.60}, which CoNLL columns"
                " cannot contain; write JSON."
            )
    return "".join(" ".join(cells) + "\n" for cells in zip(*columns, strict=True)) + "\n"


def described(scored: Scored, answer: Decoding) -> dict[str, Any]:
    """An answer as plain data: id, words and other columns, if present; then `labels`, the best labels
    `without` constraints (both null if no labelling has a finite score), `score`, `status`, `changed` and
    `violations`."""
    columns = {WORDS if name == WORD else name: list(column) for name, column in _in_order(scored.x).items()}
    empty = not len(scored.scores)
    labelled, alone = bool(answer.y) or empty, answer.stats["alone"]
    return {
        **({} if scored.id is None else {"id": scored.id}),
        **columns,
        "labels": list(answer.y) if labelled else None,
        "without": list(alone) if alone or empty else None,
        "score": answer.score if labelled else None,
        "status": str(answer.status),
        "changed": answer.stats["changed"],
        "violations": [
            {"constraint": broken.constraint, "position": broken.position} for broken in answer.violations
        ],
    }


def _in_order(x: Columns) -> Mapping[str, Sequence[str]]:
    """The columns with the words first."""
    return {name: x[name] for name in sorted(x, key=lambda name: name != WORD)}
