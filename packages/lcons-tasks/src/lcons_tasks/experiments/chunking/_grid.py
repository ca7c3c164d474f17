"""`lcons run chunking --tune`: the paper's grid for the BiLSTM-CRF, scored on dev, one choice a ratio.

Paper: Appendix E: learning rate {0.01, 0.05, 0.001, 0.005}, decay {1e-5, 1e-6}. The result, with every dev
score, is what `settings.json` of the package holds and `--full` uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from lcons_core.learn._settings import BASE_GRIDS
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.experiments.chunking._cell import Cell, base_model, shared
from lcons_tasks.experiments.chunking._corpus import part_of
from lcons_tasks.experiments.chunking._model import BaseModel
from lcons_tasks.experiments.engine._jobs import Event, Tell, run_jobs
from lcons_tasks.experiments.engine._kept import Stages

SEED = 1


@dataclass(frozen=True)
class Trial:
    """A setting at a ratio."""

    corpus: str
    ratio: float
    learning_rate: float
    decay: float

    @property
    def cell(self) -> Cell:
        """The cell whose base model has this setting."""
        settings = (("decay", self.decay), ("learning_rate", self.learning_rate))
        return Cell(self.corpus, "first", self.ratio, SEED, BaseModel("bilstm", settings), ())


def trials(corpus: str, ratios: Sequence[float]) -> list[Trial]:
    """The grid at every ratio, the largest first: they take longest."""
    grid = BASE_GRIDS["chunking"]
    pairs = list(product(grid.learning_rate, grid.decay))
    return [
        Trial(corpus, ratio, rate, decay) for ratio in sorted(ratios, reverse=True) for rate, decay in pairs
    ]


def tune(
    corpus: str,
    ratios: Sequence[float],
    stages: Stages,
    jobs: int | None = None,
    progress: Callable[[Event], None] | None = None,
) -> dict[str, Any]:
    """Settings by corpus, model and ratio: all dev scores, and the best on dev, cut by the ratio."""
    planned = trials(corpus, ratios)
    scores = run_jobs(partial(_score, stages=stages), planned, jobs, progress)
    by_ratio: dict[str, Any] = {}
    for ratio in ratios:
        found = [
            {"learning_rate": t.learning_rate, "decay": t.decay, "dev": dev, "whole dev": whole}
            for t, (dev, whole) in zip(planned, scores, strict=True)
            if t.ratio == ratio
        ]
        # Ties on a small dev go to the earlier setting of the paper's list.
        best = max(found, key=lambda one: one["dev"])
        chosen = {name: best[name] for name in ("learning_rate", "decay")}
        by_ratio[str(ratio)] = {"chosen": chosen, "grid": found}
    return {corpus: {"bilstm": by_ratio}}


def _score(trial: Trial, tell: Tell, stages: Stages) -> tuple[float, float]:
    """Token accuracy on dev cut by the ratio, and on all of dev."""
    corpus, _ = shared(trial.corpus)
    model = base_model(trial.cell, stages, tell)
    index = {label: i for i, label in enumerate(model.labels)}
    gold = np.array([index.get(label, -1) for sentence in corpus.dev for label in sentence.labels])
    batch = model.scores([sentence.x for sentence in corpus.dev])
    right = viterbi_ids(batch, threads=1)[0] == gold
    cut = batch.offsets[part_of(len(corpus.dev), trial.ratio)]
    return round(100 * float(right[:cut].mean()), 3), round(100 * float(right.mean()), 3)
