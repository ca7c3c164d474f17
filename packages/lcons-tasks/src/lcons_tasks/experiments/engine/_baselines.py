"""Baselines of soft constraints: rows of the table that read the same windows but have no network.

| how | scores of windows |
|---|---|
| table | a look-up of the windows that were seen, with the same support |
| counts | smoothed relative frequencies |
| penalties | one learned penalty per part, after Anzaroot et al. (2014) |
| crf | a second-order CRF that reads only what the constraints read |

All are decoded exactly, on the scores of the same base model. The weights are chosen on dev as those of soft
constraints; penalties have the scale that they were learned with. A measure that the tables split by is
whether training showed the windows of a token: a look-up knows nothing of those that it did not.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lcons_core import Recipe
from lcons_core._types import Bools
from lcons_decode.kernels._arrays import Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import COUNTS, CRF, PENALTIES, TABLE, TableRow
from lcons_tasks.experiments.engine._window_crf import window_crf as window_crf
from lcons_tasks.experiments.engine._window_decoder import ScoresAt, decode_windows
from lcons_tasks.experiments.engine._window_decoder import WindowScores as WindowScores
from lcons_tasks.experiments.engine._window_tables import (
    count_windows,
    counts_table,
    feature_of,
    learn_penalties,
    seen_table,
    windows_of,
)

if TYPE_CHECKING:
    from lcons_tasks.experiments.engine._labelling import Part


def baseline_scores(row: TableRow, train: Sequence[Sentence], dev: Part, kept: Stages) -> list[WindowScores]:
    """The scores of a baseline row: one per recipe, or one for all of them."""
    if row.how == TABLE:
        return [seen_table(recipe, train) for recipe in row.recipes]
    if row.how == COUNTS:
        return [counts_table(recipe, train) for recipe in row.recipes]
    if row.how == PENALTIES:
        return [*learn_penalties(row.recipes, train, dev.batch, dev.sentences)]
    assert row.how == CRF
    return [window_crf(row.recipes, train, kept)]


def predict_baseline(scores: Sequence[WindowScores], weights: Sequence[float], part: Part) -> Ints:
    """(N,) the label indices of all sequences under scores of windows, with one weight each."""
    return decode_windows(
        part.batch, [(_prepared(one, part), w) for one, w in zip(scores, weights, strict=True)]
    )


@lru_cache(maxsize=16)
def _prepared(scores: WindowScores, part: Part) -> ScoresAt:
    """Prepared once for all weights."""
    return scores.prepare(part.xs, tuple(part.batch.labels))


def unseen_tokens(recipe: Recipe, train: Sequence[Sentence], sentences: Sequence[Sentence]) -> Bools:
    """(N,) whether a token is in a window of gold labels and contexts that training does not show."""
    feature = feature_of(recipe, train)
    seen = count_windows(feature, train)
    known = set(feature.labels)
    found = []
    for sentence in sentences:
        own = np.zeros(len(sentence), dtype=np.bool_)
        strange = [t for t, label in enumerate(sentence.labels) if label not in known]
        places = [label if label in known else feature.labels[0] for label in sentence.labels]
        usable = Sentence(sentence.words, tuple(places), sentence.columns)
        for first, (contexts, labels) in enumerate(windows_of(feature, [usable])):
            own[first : first + feature.n] |= labels not in seen.get(contexts, {})
        for t in strange:
            own[max(0, t - feature.n + 1) : t + feature.n] = True
        found.append(own)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.bool_)
