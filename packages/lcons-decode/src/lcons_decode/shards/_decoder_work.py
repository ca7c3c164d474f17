"""Decoding of shards: a `Decoder` with the model that each shard may bring.

In JSON lines, an object without `emission` has the labels and the scores that all sequences share; in Parquet
they are in the metadata of the schema, under "lcons".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lcons_core import InvalidInput
from lcons_decode.batches._batch import Rows, check_names
from lcons_decode.batches._decoder import EMISSION, Decoder, model_of
from lcons_decode.files._model import MODEL, ScoreModel


@dataclass(frozen=True)
class ShardDecoder:
    """The work of a decoder on shards."""

    decoder: Decoder

    def settings(self) -> Mapping[str, Any]:
        return {"work": "decode", **self.decoder.settings()}

    def begin(self, shard: str) -> _Decoding:
        return _Decoding(self.decoder, shard)


class _Decoding:
    def __init__(self, decoder: Decoder, shard: str) -> None:
        self.counts: Counter[str] = Counter()
        self._decoder, self._shard = decoder, shard
        self._model: ScoreModel | None = None

    def rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        found: Rows = []
        pairs = list(zip(rows, places, strict=True))
        for is_sequence, group in groupby(pairs, lambda pair: EMISSION in pair[0]):
            if is_sequence:
                found += self._sequences(*map(list, zip(*group, strict=True)))
            else:
                for row, place in group:
                    self._model = self._read_model(row, place)
        return found

    def _sequences(self, rows: Rows, places: list[str]) -> Rows:
        for row, place in zip(rows, places, strict=True):
            check_names(row, self._decoder.answers, place)
        answers = self._decoder.answer_rows(rows, places, self._model)
        self.counts += answers.counts()
        return [self._decoder.kept(row) | own for row, own in zip(rows, answers.rows(), strict=True)]

    def _read_model(self, row: dict[str, Any], place: str) -> ScoreModel:
        strange = [key for key in row if key not in ("labels", *MODEL)]
        if strange:
            raise InvalidInput(
                f"{place}: expected `{EMISSION}`, or `labels` and optionally {', '.join(MODEL)}, found"
                f" {strange[0]!r:.40}; write the scores of a sequence as `{EMISSION}`."
            )
        return model_of(row, self._decoder.model, place)

    def table(self, table: Any) -> Any:
        from lcons_decode.batches._arrow import answer_arrays, replaced

        answers = self._decoder.answer_table(table, self._shard)
        self.counts += answers.counts()
        return replaced(table, self._decoder.drops, answer_arrays(answers), self._shard)
