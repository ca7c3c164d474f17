"""Predictions of a base model on held-out data, without constraints: by a model, by scores, or from a file.

If predictions differ from the held-out data in number, length or words, an error is raised.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._instance import WORD
from lcons_core._types import OnProgress
from lcons_decode._stream import decode_scored
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_decode.files._scores import read_scored
from lcons_tasks.data import Sentence, read_columns
from lcons_tasks.diagnosis._given import Predictions
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.own_data._data import Data, PsiTable, Structures
from lcons_tasks.own_data._formats import labelled_layout, read_data, tell_format
from lcons_tasks.own_data._json_lines import LABEL

Labels = list[tuple[str, ...]]

# The number of sequences that a model scores between two calls of `progress`.
CHUNK = 256
# Steps of progress through a file of scores.
STEPS = 1000


def predict(
    model: Tagger, sentences: Sequence[Sentence | Instance], progress: OnProgress | None = None
) -> Labels:
    """The best labels of sentences by a model, without constraints, found exactly."""
    for i, sentence in enumerate(sentences, start=1):
        missing = [name for name in (WORD, *model.columns) if name not in sentence.x]
        if missing:
            raise InvalidInput(
                f"expected a column {missing[0]!r}, which the model reads, found"
                f" {', '.join(sentence.x) or 'none'} in sentence {i}; state its place, as in"
                f' `columns="word=1{"" if missing[0] == WORD else f",{missing[0]}=2"}"`.'
            )
    step = CHUNK if progress is not None else max(len(sentences), 1)
    found: Labels = []
    for first in range(0, len(sentences), step):
        some = model.scores([s.x for s in sentences[first : first + step]])
        found += [tuple(answer.y) for answer in viterbi_batch(some)]
        if progress is not None:
            progress(len(found), len(sentences))
    return found


def read_scores(
    path: str | os.PathLike[str], held_out: Structures, progress: OnProgress | None = None
) -> tuple[Labels, tuple[str, ...]]:
    """(labels, names): the best labels of the held-out sequences by the scores in a file, without
    constraints, and the names of all labels of the scores; files are those of `lcons_decode.files`."""
    name = os.fspath(path)
    found: Labels = []
    labels: dict[str, None] = {}
    try:
        with Path(path).open("rb") as file:
            source = read_scored(file, name)
            for scored, answer in decode_scored(source):
                labels.update(dict.fromkeys(scored.scores.labels))
                y = tuple(answer.stats["alone"])
                if len(y) != len(scored.scores):
                    raise InvalidInput(
                        f"{scored.where}: expected a labelling with a finite score, found that every"
                        " labelling is forbidden; raise some score above -Infinity."
                    )
                if len(found) < len(held_out):
                    _check_same(held_out, len(found), scored.x.get(WORD), len(y), scored.where)
                found.append(y)
                if progress is not None and (share := source.share()) is not None:
                    progress(int(STEPS * share), STEPS)
    except (OSError, ValueError) as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot read {name!r}: {getattr(error, 'strerror', None) or error}; name a file of scores."
        ) from None
    _check_number(len(found), held_out, name)
    return found, tuple(labels)


def read_predictions(
    path: str | os.PathLike[str], held_out: Data, words: int = 1, column: int = -1, tabs: bool = False
) -> Predictions:
    """The predictions in a file. For label sequences: CoNLL columns (`words` and `column` are numbers of
    columns, from 1, or from -1 at the end) or JSON lines with `labels` and optionally `words`. For tuples:
    JSON lines with `tuples`. For psi vectors: a table with the same columns."""
    name = os.fspath(path)
    form = tell_format(path, columns=True)
    if isinstance(held_out, PsiTable):
        if form not in ("csv", "npz"):
            raise InvalidInput(
                f"expected a table of psi vectors (CSV or npz) in {name!r}, like the held-out data, found"
                " another format; write one row for each valid held-out row."
            )
        table = read_data(path, form)
        assert isinstance(table, PsiTable)
        return table
    if form == "conll" and not held_out.tuples:
        layout = labelled_layout(path, f"{WORD}={words},{LABEL}={column}", tabs)
        answers = Structures(tuple(sentence.instance for sentence in read_columns(path, layout)))
    elif form == "jsonl":
        found = read_data(path, form, f"{LABEL}=labels")
        assert isinstance(found, Structures)
        answers = found
    else:
        wanted = "JSON lines of tuples" if held_out.tuples else "CoNLL columns or JSON lines"
        raise InvalidInput(
            f"expected {wanted} in {name!r}, because the held-out data need them, found another format;"
            " convert the file."
        )
    if answers.tuples != held_out.tuples:
        kinds = ("tuples", "labels") if held_out.tuples else ("labels", "tuples")
        raise InvalidInput(
            f"expected predicted {kinds[0]} in {name!r}, as in the held-out data, found {kinds[1]}; write"
            f" `{kinds[0]}`."
        )
    if not held_out.tuples:
        for i, one in enumerate(answers.instances[: len(held_out)]):
            _check_same(held_out, i, one.x.get(WORD), len(one.y), name)
    _check_number(len(answers), held_out, name)
    return [one.y for one in answers.instances]


def _check_same(held_out: Structures, i: int, words: Sequence[str] | None, length: int, where: str) -> None:
    """Raises an error if a sequence has another length or other words than held-out sequence i."""
    gold = held_out.instances[i]
    own = gold.x.get(WORD)
    if length != len(gold.y):
        raise InvalidInput(
            f"{where}: expected {len(gold.y)} tokens as in held-out sentence {i + 1}, found {length}; predict"
            " exactly these sentences."
        )
    if words is not None and own is not None and tuple(words) != tuple(own):
        place = next(t for t in range(length) if words[t] != own[t])
        raise InvalidInput(
            f"{where}: expected the words of the held-out sentences, found others in sentence {i + 1}"
            f" ({words[place]!r:.40} for {own[place]!r:.40}); predict exactly these sentences."
        )


def _check_number(found: int, held_out: Structures, name: str) -> None:
    if found != len(held_out):
        units = "structures" if held_out.tuples else "sentences"
        raise InvalidInput(
            f"expected {len(held_out):,} {units} in {name!r}, as many as in the held-out data, found"
            f" {found:,}; predict exactly these."
        )
