"""A trained sequence model with its constraints and a decoder: words in, labels out.

    y = decode(model.scores(x), constraints, x)

| decoder | what it is |
|---|---|
| viterbi | the model alone, exactly; it accepts no constraints |
| exact | hard and soft local constraints, exactly |
| beam | the paper's beam, local and global constraints |
| global | local and global constraints, exactly, under a budget |

On disk it is a folder (`lcons_tasks.apps._model_folder`) with

    tagger.json   {"format": 1, "decoder", "beam", "constraints": [{"name", "file", "weight", "cost"}, ...]}

The weight of a hard constraint is null. The cost of a soft one is written unless it is `sigmoid`, the only
cost that older folders have.

Paper: Sec. 6. Not in the paper: exact decoding, global constraints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import ne
from pathlib import Path
from typing import TypeVar

from lcons_core import InvalidInput, LearnedConstraint
from lcons_core._instance import WORD
from lcons_decode import ChainConstraints, Decoding, Hard, Soft
from lcons_decode._constraints import Constraint, ConstraintSet
from lcons_decode._scores import columns_of
from lcons_decode._stream import DECODERS
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_tasks.apps._model_folder import MODEL, FolderKind, Reports, described, uses_of
from lcons_tasks.models._tagger import Tagger, load_tagger

Columns = Mapping[str, Sequence[str]]
Item = TypeVar("Item")

# A chunk of a stream ends when it reaches one of these sizes.
CHUNK_SENTENCES = 1024
CHUNK_WORDS = 2**14

# The cache of windows holds one entry per kind of window, up to about this many bytes in all: unusual text
# may have as many kinds as there are n-grams of contexts.
MOST_KEPT = 2**27

TAGGER = FolderKind(
    noun="tagger",
    made_by="make one with `lcons fit` or `lcons run chunking`, or one that parses references with `lcons run"
    " citation`",
)


@dataclass(frozen=True, eq=False)
class ConstrainedTagger:
    """A `model` with `constraints`, each with its own name, a `decoder`, and the width of its `beam`."""

    model: Tagger
    constraints: tuple[Hard | Soft, ...] = ()
    decoder: str = "exact"
    beam: int = 10

    def __post_init__(self) -> None:
        uses = tuple(_named(use, f"constraint {i}") for i, use in enumerate(self.constraints, start=1))
        object.__setattr__(self, "constraints", uses)
        if self.decoder not in DECODERS:
            raise InvalidInput(f"unknown decoder {self.decoder!r}; it is one of {', '.join(DECODERS)}.")
        if type(self.beam) is not int or self.beam < 1:
            raise InvalidInput(f"`beam` must be a whole number from 1: got {self.beam!r}.")
        sets = ConstraintSet.of(uses)
        if self.decoder == "viterbi" and uses:
            raise InvalidInput(f"the decoder 'viterbi' accepts no constraints: got {len(uses)}.")
        if self.decoder == "exact" and (others := sets.global_hard + sets.global_soft):
            raise InvalidInput(f"{others[0].name!r} is global: use the decoder 'beam' or 'global'.")
        labels = self.model.labels
        for use in uses:
            # Single labels that a constraint lacks are free.
            if labels and not set(use.constraint.labels or labels) & set(labels):
                problem = f"the constraint {use.name!r} has none of the model's labels"
                raise InvalidInput(f"{problem}, such as {labels[0]!r}.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The context columns that the model or a constraint reads besides words."""
        features = (use.constraint.feature for use in self.constraints)
        read = (feature.column for feature in features if feature is not None)
        names = dict.fromkeys([*self.model.columns, *read])
        return tuple(name for name in names if name not in (None, WORD))

    @property
    def alone(self) -> ConstrainedTagger:
        """The model without its constraints."""
        return replace(self, constraints=(), decoder="viterbi")

    def tag(self, xs: Sequence[Columns | Sequence[str]]) -> list[Decoding]:
        """One answer per sentence, which is columns by name, such as {"word": [...], "pos": [...]}, or a list
        of words; `changed` in its stats counts labels that are not the model's own best."""
        if not xs:
            return []
        columns, read = list(map(columns_of, xs)), (WORD, *self.columns)
        for x in columns:
            _check_columns(x, read)
        batch = self.model.scores(columns)
        options = {"width": self.beam} if self.decoder == "beam" else {}
        answers = DECODERS[self.decoder](batch, self._compiled, columns, **options)
        if self._compiled.kept_bytes > MOST_KEPT:
            del self.__dict__["_compiled"]  # it is filled again on demand
        alone = answers if self.decoder == "viterbi" else viterbi_batch(batch)
        return [
            replace(answer, stats={**answer.stats, "changed": sum(map(ne, answer.y, free.y))})
            for answer, free in zip(answers, alone, strict=True)
        ]

    def tag_stream(self, xs: Iterable[Columns | Sequence[str]]) -> Iterator[Decoding]:
        """The answers of `tag` for any number of sentences, one chunk at a time, so that memory does not
        grow."""
        inputs = map(columns_of, xs)
        for chunk in chunks(inputs, lambda x: len(x.get(WORD, ())), CHUNK_SENTENCES, CHUNK_WORDS):
            yield from self.tag(chunk)

    def save(self, folder: str | os.PathLike[str], reports: Reports | None = None) -> None:
        """Writes a folder, which replaces an existing tagger; if that fails, the old one stays unchanged.
        `reports` returns texts of the folder that say how it was made."""
        more = {"decoder": self.decoder, "beam": self.beam}
        TAGGER.write(folder, self.model, list(map(described, self.constraints)), more, reports)

    @cached_property
    def _compiled(self) -> ChainConstraints:
        return ChainConstraints.of(self.constraints, self.model.labels)


def load_constrained_tagger(folder: str | os.PathLike[str]) -> ConstrainedTagger:
    """The tagger that `ConstrainedTagger.save` wrote; raises an `LconsError` if it is missing or damaged."""
    path = Path(folder)
    description = TAGGER.read(path)
    model, uses = load_tagger(path / MODEL), uses_of(path, description)
    with TAGGER.explained(path):
        return ConstrainedTagger(model, tuple(uses), description.decoder, description.beam)


@lru_cache(2)
def loaded_tagger(folder: str, constrained: bool) -> ConstrainedTagger:
    """The tagger of a folder, with its constraints or without; each process loads it once."""
    tagger = load_constrained_tagger(folder)
    return tagger if constrained else tagger.alone


def chunks(
    items: Iterable[Item],
    size: Callable[[Item], int],
    most_items: int = 256,
    most_size: int = 2**17,
    waits: Callable[[], bool] = lambda: False,
) -> Iterator[list[Item]]:
    """The items in lists, none empty. A list ends when it has enough items, when their sizes add up to
    enough, or if the next item has not arrived yet (`waits`)."""
    chunk: list[Item] = []
    total = 0
    for item in items:
        chunk.append(item)
        total += size(item)
        if len(chunk) >= most_items or total >= most_size or waits():
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def _named(use: Constraint, name: str) -> Hard | Soft:
    """`use` with a name; `ConstraintSet.of` raises an error later if it is neither hard nor soft."""
    if isinstance(use, LearnedConstraint):
        return Hard(use, name)
    return use if getattr(use, "name", True) else replace(use, name=name)


def _check_columns(x: Columns, read: Sequence[str]) -> None:
    if missing := [name for name in read if name not in x]:
        raise InvalidInput(f"the tagger reads column {missing[0]!r}: got {', '.join(x) or 'no columns'}.")
    for name, values in x.items():
        if isinstance(values, str) or len(values) != len(x[WORD]):
            raise InvalidInput(f"{name!r} needs one value per word of {len(x[WORD])}: got {values!r:.60}.")
