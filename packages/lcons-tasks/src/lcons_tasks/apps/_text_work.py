"""Work on the texts of shards: tagging, parsing of references and extraction; each row has a `text`.

| work | new columns |
|---|---|
| `TextTagger` | `sentences` (words and labels of each), `changed` |
| `ReferenceWork` | `fields` (field, text, start, end), `changed`, `status` |
| `ExtractionWork` | `unmarked` (the text without marks), `entities`, `relations`, `changed`, `status` |

Start and end count characters. Each worker loads models once, on first use.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lcons_core import InvalidInput
from lcons_decode import Status
from lcons_decode.shards import RowWork
from lcons_tasks.apps._batch_tagger import (
    POS,
    Rows,
    folder_settings,
    loaded_tagger,
    own_tags,
    pos_settings,
    tag_all,
    tag_counts,
)

if TYPE_CHECKING:
    from lcons_tasks.apps._extractor import Extractor

TEXT = "text"
_OPTIMAL = str(Status.OPTIMAL)


def _texts(rows: Rows, places: Sequence[str]) -> list[str]:
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row.get(TEXT), str):
            found = f"{row[TEXT]!r:.40}" if TEXT in row else ", ".join(map(str, row)) or "nothing"
            raise InvalidInput(f"{place}: expected a column {TEXT!r} of strings, found {found}; add it.")
    return [row[TEXT] for row in rows]


@dataclass(frozen=True)
class TextTagger:
    """Tags the sentences of texts with the tagger of a folder."""

    folder: str
    constrained: bool = True

    def settings(self) -> dict[str, Any]:
        """All that the answers depend on besides the rows."""
        tagger = loaded_tagger(self.folder, self.constrained)
        others = [name for name in tagger.columns if name != POS]
        if others:
            raise InvalidInput(
                f"the tagger reads column {others[0]!r}, but texts have only words; pass rows of words, with"
                f" `columns=` that include it, such as `word,{others[0]}`."
            )
        return {
            "work": "tag texts",
            **folder_settings(self.folder, self.constrained),
            **pos_settings(POS in tagger.columns),
        }

    def begin(self, shard: str) -> RowWork:
        """The work on a shard."""
        spec = {"sentences": [{"words": [str], "labels": [str]}], "changed": int}
        return RowWork(shard, self.answer, spec)

    def answer(self, rows: Rows, places: Sequence[str]) -> tuple[Rows, Counter[str]]:
        """The answers for records, and counts."""
        from lcons_tasks.data import text_sentences

        texts = [list(text_sentences(io.StringIO(text))) for text in _texts(rows, places)]
        xs = [x for own in texts for x in own]
        decodings = tag_all(loaded_tagger(self.folder, self.constrained), xs)
        answers = iter(decodings)
        found: Rows = []
        for own in texts:
            pairs = [(x, next(answers)) for x in own]
            sentences = [{"words": list(x["word"]), "labels": list(answer.y) or None} for x, answer in pairs]
            found.append(
                {"sentences": sentences, "changed": sum(answer.stats["changed"] for _, answer in pairs)}
            )
        return found, tag_counts(xs, decodings)


@dataclass(frozen=True)
class ReferenceWork:
    """Parses references with the tagger of a folder."""

    folder: str
    constrained: bool = True

    def settings(self) -> dict[str, Any]:
        """All that the answers depend on besides the rows."""
        tagger = loaded_tagger(self.folder, self.constrained)
        return {
            "work": "parse",
            **folder_settings(self.folder, self.constrained),
            **pos_settings(POS in tagger.columns),
        }

    def begin(self, shard: str) -> RowWork:
        """The work on a shard."""
        spec = {
            "fields": [{"field": str, "text": str, "start": int, "end": int}],
            "changed": int,
            "status": str,
        }
        return RowWork(shard, self.answer, spec)

    def answer(self, rows: Rows, places: Sequence[str]) -> tuple[Rows, Counter[str]]:
        """The answers for records, and counts."""
        from lcons_tasks.apps.references import parse

        tagger = loaded_tagger(self.folder, self.constrained)
        tags = own_tags if POS in tagger.columns else None
        counts: Counter[str] = Counter()
        found: Rows = []
        for reference in parse(tagger, _texts(rows, places), tags):
            fields = [
                {"field": name, "text": reference.text[start:end], "start": start, "end": end}
                for name, start, end in reference.spans
            ]
            status = str(reference.status)
            found.append({"fields": fields, "changed": reference.changed, "status": status})
            counts.update({"references": 1, "fields": len(fields), "changed": reference.changed > 0})
            counts[status] += status != _OPTIMAL
        return found, +counts


@dataclass(frozen=True)
class ExtractionWork:
    """Finds entities and relations with the extractor of a folder; `candidates` is one of
    `CANDIDATES`, and `pipeline` is the spaCy pipeline that finds them."""

    folder: str
    candidates: str = "marked"
    pipeline: str | None = None
    constrained: bool = True

    def settings(self) -> dict[str, Any]:
        """All that the answers depend on besides the rows."""
        own = {"work": "extract", "candidates": self.candidates, "pipeline": self.pipeline}
        _extractor(self.folder, self.constrained)
        return {**own, **folder_settings(self.folder, self.constrained), **pos_settings(True)}

    def begin(self, shard: str) -> RowWork:
        """The work on a shard."""
        spec = {
            "unmarked": str,
            "entities": [{"text": str, "start": int, "end": int, "label": str}],
            "relations": [{"source": int, "target": int, "label": str}],
            "changed": bool,
            "status": str,
        }
        return RowWork(shard, self.answer, spec)

    def answer(self, rows: Rows, places: Sequence[str]) -> tuple[Rows, Counter[str]]:
        """The answers for records, and counts."""
        from lcons_tasks.apps._extraction import describe_extraction, extract_lines

        extractor = _extractor(self.folder, self.constrained)
        lines = list(zip(places, _texts(rows, places), strict=True))
        nlp = None if self.pipeline is None else _recogniser(self.pipeline)
        full = [line for line in lines if line[1].strip()]
        answers = extract_lines(extractor, full, own_tags, self.candidates, nlp)
        counts: Counter[str] = Counter()
        found: Rows = []
        for _, line in lines:
            if not line.strip():
                empty: dict[str, Any] = {"entities": [], "relations": []}
                found.append({"unmarked": line, **empty, "changed": False, "status": _OPTIMAL})
                continue
            text, answer = next(answers)
            one = describe_extraction(text, answer)
            found.append({"unmarked": one.pop("text"), **one, "changed": bool(one["changed"])})
            counts.update(
                {
                    "sentences": 1,
                    "candidates": len(text.spans),
                    "relations": len(answer.relations),
                    "changed": bool(answer.stats["changed"]),
                }
            )
            counts[str(answer.status)] += str(answer.status) != _OPTIMAL
        return found, +counts


@lru_cache(2)
def _extractor(folder: str, constrained: bool) -> Extractor:
    from lcons_tasks.apps._extractor import load_extractor

    extractor = load_extractor(folder)
    return extractor if constrained else extractor.alone


@lru_cache(1)
def _recogniser(pipeline: str) -> Any:
    from lcons_tasks.apps._candidates import load_recogniser

    return load_recogniser(pipeline)
