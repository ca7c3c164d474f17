"""The tagger of a folder as a picklable function of batches: words in, labels out.

    TaggerDecoder(folder) : batch with words -> batch with labels

A batch has one row per sentence, as in `lcons_decode.batches`. Only the name of the folder travels: each
worker loads the tagger once, on first use, from a folder that it sees, and spaCy if the tagger reads POS tags
and the rows have none.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcons_core import WORD, InvalidInput, LconsError
from lcons_core.storage import versions
from lcons_decode import Status
from lcons_decode.batches import ANSWERS, BatchFunction
from lcons_decode.files import WORDS
from lcons_decode.shards import RowWork
from lcons_tasks.apps._model_folder import REPORTS
from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger

if TYPE_CHECKING:
    from lcons_decode import Decoding
    from lcons_tasks.data.text import PosTagger

POS = "pos"
Rows = list[dict[str, Any]]


class TaggerDecoder(BatchFunction):
    """A function of batches: `words`, and other columns that the tagger reads, in; labels (`ANSWERS`) out.

    folder: the tagger, as `ConstrainedTagger.save` writes it. constrained: False: the model alone.
    """

    answers = ANSWERS

    def __init__(self, folder: str | os.PathLike[str], constrained: bool = True) -> None:
        self.folder, self.constrained = str(Path(folder).resolve()), constrained
        load_constrained_tagger(folder)  # a folder that cannot be used is known before the work

    def settings(self) -> dict[str, Any]:
        """All that the answers depend on besides the batch, as plain data. No POS tagger is loaded or trained
        for it: rows may have their own tags."""
        from lcons_tasks.data.text._pos import tagger_identity

        pos = {"pos": tagger_identity()} if POS in self.tagger.columns else {}
        return {"work": "tag", **folder_settings(self.folder, self.constrained), **pos}

    @property
    def tagger(self) -> ConstrainedTagger:
        """The tagger, which each process loads once."""
        return loaded_tagger(self.folder, self.constrained)

    def begin(self, shard: str) -> RowWork:
        """The work on a shard."""
        return RowWork(shard, self.answer, self.answers)

    def answer(self, rows: Rows, places: Sequence[str]) -> tuple[Rows, Counter[str]]:
        """The answers for records, and counts."""
        xs = [self._read(row, place) for row, place in zip(rows, places, strict=True)]
        return _answers(self.tagger, xs)

    def _rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        return self.answer(rows, places)[0]

    def _read(self, row: Mapping[str, Any], place: str) -> dict[str, list[str]]:
        found = {}
        for name in (WORD, *self.tagger.columns):
            own = WORDS if name == WORD else name
            if own in row:
                found[name] = _strings(row[own], own, place)
            elif name != POS:
                raise InvalidInput(
                    f"{place}: expected a column {own!r}, which the tagger reads, found"
                    f" {', '.join(map(str, row)) or 'none'}; add it."
                )
            if len(found.get(name, found[WORD])) != len(found[WORD]):
                raise InvalidInput(
                    f"{place}: expected a value of {own!r} for each of {len(found[WORD])} words, found"
                    f" {len(found[name])}; write one value per word."
                )
        return found


def _answers(tagger: ConstrainedTagger, xs: list[dict[str, list[str]]]) -> tuple[Rows, Counter[str]]:
    decodings = tag_all(tagger, xs)
    rows: Rows = []
    for answer in decodings:
        found = answer.status is not Status.INFEASIBLE
        rows.append(
            {
                "labels": list(answer.y) if found else None,
                "score": float(answer.score) if found else None,
                "status": str(answer.status),
                "changed": answer.stats["changed"],
            }
        )
    return rows, tag_counts(xs, decodings)


def tag_all(tagger: ConstrainedTagger, xs: Sequence[Mapping[str, Sequence[str]]]) -> list[Decoding]:
    """The answers for sentences; those without POS tags get them from spaCy if the tagger reads them."""
    if POS in tagger.columns:
        bare = [i for i, x in enumerate(xs) if POS not in x]
        if bare:
            xs = list(xs)
            for i, tags in zip(bare, own_tags([xs[i][WORD] for i in bare]), strict=True):
                xs[i] = {**xs[i], POS: tags}
    return list(tagger.tag_stream(xs))


def tag_counts(xs: Iterable[Mapping[str, Sequence[str]]], answers: Sequence[Decoding]) -> Counter[str]:
    """Sentences, tokens, sentences that the constraints changed, and statuses other than optimal."""
    counts = Counter(str(answer.status) for answer in answers)
    del counts[str(Status.OPTIMAL)]
    counts["sequences"] = len(answers)
    counts["tokens"] = sum(len(x[WORD]) for x in xs)
    counts["changed"] = sum(answer.stats["changed"] > 0 for answer in answers)
    return counts


def _strings(value: Any, name: str, place: str) -> list[str]:
    values = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise InvalidInput(
            f"{place}: expected a list of strings in {name!r}, found {value!r:.40}; write one string per"
            " word."
        )
    return list(values)


# What each process loads once.


@lru_cache(2)
def loaded_tagger(folder: str, constrained: bool) -> ConstrainedTagger:
    """The tagger of a folder, with its constraints or without."""
    tagger = load_constrained_tagger(folder)
    return tagger if constrained else tagger.alone


@lru_cache(1)
def loaded_pos_tagger() -> PosTagger:
    """The installed POS tagger, else one that is trained on the best corpus at hand and kept."""
    from lcons_tasks.data import cache_folder
    from lcons_tasks.data.text import find_pos_tagger, tagged_corpus

    return find_pos_tagger(tagged_corpus, cache_dir=cache_folder().parent / "pos")


def own_tags(sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """POS tags by spaCy, which forgets new words after it, so that memory does not grow."""
    tagger = loaded_pos_tagger()
    with tagger.pipeline.memory_zone():
        return tagger.tags_many(sentences)


def folder_settings(folder: str, constrained: bool) -> dict[str, Any]:
    """What answers depend on: the files of a model's folder, whether its constraints are used, versions."""
    hashed = hashlib.sha256()
    try:
        files = sorted(
            path for path in Path(folder).rglob("*") if path.is_file() and path.name not in REPORTS
        )
        for path in files:
            own = hashlib.sha256(path.read_bytes()).hexdigest()
            hashed.update(f"{path.relative_to(folder).as_posix()} {own}\n".encode())
    except OSError as error:
        raise LconsError(
            f"cannot read {folder!r}: {error.strerror or error}; name the folder of a model."
        ) from None
    return {"model": hashed.hexdigest(), "constrained": constrained, **versions(["lcons-tasks"])}


def pos_settings(used: bool) -> dict[str, Any]:
    """The name of the POS tagger, if it is used."""
    return {"pos": loaded_pos_tagger().name} if used else {}
