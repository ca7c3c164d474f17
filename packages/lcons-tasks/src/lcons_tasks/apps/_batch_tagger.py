"""The tagger of a folder as a picklable function of batches: words or texts in, labels out.

    TaggerDecoder(folder) : batch with words -> batch with labels

A batch is a dict of columns with one row per sentence or text, as for `lcons_decode.Decoder`. Only the name
of the folder travels: each worker loads the tagger once, on first use, from a folder that it sees, and spaCy
if the tagger reads POS tags and the rows have none.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_decode._decoder import answer_columns
from lcons_decode._scores import WORDS
from lcons_tasks.apps._tagger import Columns, ConstrainedTagger, loaded_tagger
from lcons_tasks.data._stream import text_sentences
from lcons_tasks.data.text._pos import loaded_pos_tagger

POS, TEXT = "pos", "text"
Tags = Callable[[Iterable[Sequence[str]]], Sequence[Sequence[str]]]


class TaggerDecoder:
    """A function of batches.

    Rows with `words`, and the other columns that the tagger reads, get the answers of `lcons_decode.Decoder`.
    Rows with a `text` get `sentences`: the words and labels of each one.

    folder: the tagger, as `ConstrainedTagger.save` writes it. constrained: False: the model alone.
    """

    def __init__(self, folder: str | os.PathLike[str], constrained: bool = True) -> None:
        self._folder, self._constrained = str(Path(folder).resolve()), constrained
        loaded_tagger(self._folder, constrained)  # a folder that cannot be used is known before the work
        files = sorted(path for path in Path(self._folder).rglob("*") if path.suffix in (".json", ".npz"))
        self._digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of the batch, and those of the answers."""
        tagger = loaded_tagger(self._folder, self._constrained)
        if WORDS in batch:
            shown = {name: WORDS if name == WORD else name for name in (WORD, *tagger.columns)}
            columns = {name: _cells(batch[column]) for name, column in shown.items() if column in batch}
            rows = (map(list, cells) for cells in zip(*columns.values(), strict=True))
            xs = with_pos(tagger, [dict(zip(columns, row, strict=True)) for row in rows])
            answers = list(tagger.tag_stream(xs))
            return {**batch, **answer_columns(answers, [answer.stats["changed"] for answer in answers])}
        if TEXT not in batch:
            raise InvalidInput(f"expected a column 'words' or 'text', found {', '.join(batch) or 'none'}.")
        texts = [list(text_sentences(io.StringIO(text))) for text in _cells(batch[TEXT])]
        labels = tagger.tag_stream(with_pos(tagger, [x for xs in texts for x in xs]))
        sentences = [[{"words": list(x[WORD]), "labels": list(next(labels).y)} for x in xs] for xs in texts]
        return {**batch, "sentences": sentences}


def _cells(column: Any) -> Any:
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def with_pos(tagger: ConstrainedTagger, xs: Sequence[Columns], tags: Tags | None = None) -> Sequence[Columns]:
    """The sentences with POS tags, by spaCy or by `tags`, if the tagger reads them and there are none."""
    if POS not in tagger.columns or not xs or POS in xs[0]:
        return xs
    tagged = (tags or loaded_pos_tagger().tags_many)([x[WORD] for x in xs])
    return [{**x, POS: pos} for x, pos in zip(xs, tagged, strict=True)]
