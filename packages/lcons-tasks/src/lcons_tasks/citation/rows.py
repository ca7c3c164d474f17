"""The rows of the citation table (`experiment.rows`), by decoder.

| decoder | rows |
|---|---|
| exact, search | no constraints |
| constrained-search | the paper's: six features and C1 to C3, hard, beam 50; POS with punctuation |
| all-negatives | the same six, learned from all changes of one label |
| constrained-exact | the local features, hard, exactly; and C3, the global ones exactly too |
| soft | each local feature, C3, and windows of shapes, words, POS tags and clues, as penalties, exactly |
| designed | the hand-written rules (`designed.py`), hard by search, and the local ones soft |

Paper: Sec. 5, Table 3. Not in the paper: all-negatives, constrained-exact, soft; designed is quoted there.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core.errors import InvalidInput
from lcons_tasks.citation.features import (
    ALL,
    CLUES,
    COMBINATIONS,
    PAPER,
    POS_WINDOWS,
    SOFT_POS,
    WINDOWS,
    paper_recipe,
)
from lcons_tasks.experiment.rows import Row

DECODERS = (
    "exact",
    "search",
    "constrained-search",
    "all-negatives",
    "constrained-exact",
    "soft",
    "designed",
)
LOCAL = tuple(name for name, recipe in PAPER.items() if not recipe.is_global)
C3_ROW = "soft C3"
WINDOWS_ROW, POS_WINDOWS_ROW = "soft windows", "soft windows+pos"
CLUES_ROW, POS_CLUES_ROW = "soft clues", "soft clues+pos"

# What a soft constraint weighs unless dev speaks against it: the same for all corpora and base models, times
# the scale of the base model's scores (`SCALES`). Both were set on dev references.
WEIGHTS = {
    "ngram-2": 1.0,
    "ngram-3": 2.0,
    "punctuation-2": 1.0,
    SOFT_POS.name: 4.0,
    **{recipe.name: 2.0 for recipe in (*WINDOWS, *CLUES, POS_WINDOWS)},
}
DESIGNED_WEIGHT = 4.0
SCALES = {"words": 1.0, "words-brief": 1.0, "words+pos": 0.5, "reference": 0.15}


def rows_of(decoders: Sequence[str] = DECODERS, hidden: Sequence[int] = (10,)) -> list[Row]:
    """The rows that these decoders make; K other than 10 adds the paper's features with that K."""
    unknown = [name for name in decoders if name not in DECODERS]
    if unknown:
        raise InvalidInput(f"unknown decoder {unknown[0]!r}; it is one of {', '.join(DECODERS)}.")
    soft = {name: (SOFT_POS if name == "pos" else PAPER[name]) for name in LOCAL}
    rows = {
        "exact": [Row("exact", "viterbi")],
        "search": [Row("search", "beam")],
        "constrained-search": [
            *(Row(f"{name} search", "beam", (recipe,)) for name, recipe in PAPER.items()),
            Row("pos+punctuation search", "beam", (PAPER["pos"], PAPER["punctuation"])),
            *(
                Row(f"{c} search", "beam", tuple(PAPER[n] for n in names))
                for c, names in COMBINATIONS.items()
            ),
            *(
                Row(f"{name} search K={K}", "beam", (paper_recipe(name, K),))
                for K in hidden
                if PAPER["pos"].hidden != K
                for name in PAPER
            ),
        ],
        "all-negatives": [
            *(Row(f"{name}-all search", "beam", (recipe,)) for name, recipe in ALL.items()),
            Row("C3-all search", "beam", tuple(ALL.values())),
        ],
        "constrained-exact": [
            *(Row(f"{name} exact", "exact", (PAPER[name],)) for name in LOCAL),
            Row("C3 exact", "global", tuple(PAPER.values())),
        ],
        "soft": [
            *(Row(f"soft {name}", "soft", (recipe,)) for name, recipe in soft.items()),
            Row(C3_ROW, "soft", tuple(soft.values())),
            Row(WINDOWS_ROW, "soft", WINDOWS),
            Row(POS_WINDOWS_ROW, "soft", (*WINDOWS, POS_WINDOWS)),
            Row(CLUES_ROW, "soft", CLUES),
            Row(POS_CLUES_ROW, "soft", (*CLUES, POS_WINDOWS)),
        ],
        "designed": [
            Row("designed search", "beam", designed=True),
            Row("soft designed", "soft", designed=True),
        ],
    }
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]


def default_weights(row: Row, base: str) -> tuple[float, ...]:
    """What the row's soft constraints weigh with a base model, before dev is asked; designed ones share one
    weight."""
    weights = [DESIGNED_WEIGHT] if row.designed else [WEIGHTS[recipe.name] for recipe in row.recipes]
    return tuple(SCALES[base] * weight for weight in weights)
