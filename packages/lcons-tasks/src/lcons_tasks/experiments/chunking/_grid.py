"""`lcons run chunking --tune`: the paper's grid for the BiLSTM-CRF, scored on dev, one choice per ratio.

Paper: Appendix E: learning rate {0.01, 0.05, 0.001, 0.005}, decay {1e-5, 1e-6}. The package holds the result,
with every dev score, in `settings.json`; `lcons run chunking --full` uses it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.atomic import write_text
from lcons_tasks.experiments.chunking._answers import Cell, corpus_and_vectors
from lcons_tasks.experiments.chunking._corpus import part_of
from lcons_tasks.experiments.chunking._model import BaseModel
from lcons_tasks.experiments.engine._jobs import OnEvent, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._sequences import Part

SEED = 1
RATES, DECAYS = (0.01, 0.05, 0.001, 0.005), (1e-5, 1e-6)


@dataclass(frozen=True)
class Trial:
    """A setting of the grid at one ratio."""

    corpus: str
    ratio: float
    learning_rate: float
    decay: float

    def __str__(self) -> str:
        return f"{100 * self.ratio:g}%, rate {self.learning_rate:g}, decay {self.decay:g}"

    @property
    def cell(self) -> Cell:
        """A cell whose base model has this setting."""
        settings = (("decay", self.decay), ("learning_rate", self.learning_rate))
        return Cell(self.corpus, "first", self.ratio, SEED, BaseModel("bilstm", settings), ())


def trials(corpus: str, ratios: Sequence[float]) -> list[Trial]:
    """The grid at every ratio, with the largest ratio first because it takes longest."""
    pairs = list(product(RATES, DECAYS))
    return [
        Trial(corpus, ratio, rate, decay) for ratio in sorted(ratios, reverse=True) for rate, decay in pairs
    ]


def tune(
    corpus: str,
    ratios: Sequence[float],
    kept: Stages,
    jobs: int | None = None,
    progress: OnEvent | None = None,
) -> dict[str, Any]:
    """Settings by corpus, model and ratio: all dev scores, and the best setting on dev cut to the ratio."""
    planned = trials(corpus, ratios)
    names = [*map(str, planned)]
    scores = run_phase("tuning", partial(_score, kept=kept), planned, names, jobs, progress)
    by_ratio: dict[str, Any] = {}
    for ratio in ratios:
        found = [
            {"learning_rate": t.learning_rate, "decay": t.decay, "dev": dev, "whole dev": whole}
            for t, (dev, whole) in zip(planned, scores, strict=True)
            if t.ratio == ratio
        ]
        # Ties, which a small dev has, go to the earlier setting in the paper's list.
        best = max(found, key=lambda one: one["dev"])
        chosen = {name: best[name] for name in ("learning_rate", "decay")}
        by_ratio[str(ratio)] = {"chosen": chosen, "grid": found}
    return {corpus: {"bilstm": by_ratio}}


def tune_into(
    folder: Path,
    corpus: str,
    ratios: Sequence[float],
    kept: Stages,
    jobs: int | None,
    progress: OnEvent | None,
) -> str:
    """Writes the result of `tune` to settings.json, and returns its text."""
    text = json.dumps(tune(corpus, ratios, kept, jobs, progress), indent=1) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "settings.json", text)
    return text


def _score(trial: Trial, tell: Tell, kept: Stages) -> tuple[float, float]:
    """Token accuracy on dev cut to the ratio, and on all of dev."""
    corpus, _ = corpus_and_vectors(trial.corpus)
    dev = Part.of(trial.cell.model(kept, tell), corpus.dev)
    right = viterbi_ids(dev.batch, threads=1)[0] == dev.gold
    cut = dev.batch.offsets[part_of(len(corpus.dev), trial.ratio)]
    return round(100 * float(right[:cut].mean()), 3), round(100 * float(right.mean()), 3)
