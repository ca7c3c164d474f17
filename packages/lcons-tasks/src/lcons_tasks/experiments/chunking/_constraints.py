"""The constraints of the chunking experiment, the rows of its table, and how weights are chosen on dev.

Hard constraints follow the paper. Soft constraints have networks of their own (`SOFT`): negatives are all
label changes of small windows and some changes of larger ones. The constraints of a soft row share one weight
equally, which is chosen on dev.

Paper: Appendix E: n-gram label existence with one flipped bit, n-gram POS with one label changed at random;
K = 10. Differs from the paper: one learning rate and one start for all, at most 100 epochs.

Not in the paper: networks of their own for soft use.

Paper: Sec. 6, Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core import Recipe
from lcons_tasks.experiments.engine._labelling import Right, Setting, choose
from lcons_tasks.experiments.engine._rows import CHOSEN, COUNTS, TABLE, TableRow, baseline_rows, once

SOFT = (
    once("pos", 1, many="all", by_frequency=True),
    once("pos", 2, many="all", by_frequency=True),
    once("pos", 3, hidden=30, many=8, by_frequency=True, epochs=40),
)

WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# Default weights by `how`, and the default row, among the best on dev of the bundled corpus; for a chunker
# that reads POS tags, a quarter of them. The scores of a window differ in scale: log sigmoid(margin), -1, log
# probabilities.
DEFAULT_WEIGHTS, WITH_POS = {"soft": 16.0, TABLE: 16.0, COUNTS: 4.0}, 0.25
DEFAULT_ROW, LARGER_ROW = "soft pos-1+2", "soft pos-1+2+3"
DECODERS = ("exact", "search", "constrained-search", "constrained-exact", "soft", "baselines")
LONGEST_EXACT = 3


def rows_of(hard: Sequence[Recipe], decoders: Sequence[str] = DECODERS) -> list[TableRow]:
    """The rows of these decoders with these hard constraints and the soft ones in `SOFT`."""
    # If few sentences can satisfy a constraint, exact decoding at n = 4 has too many states for a table.
    local = [recipe for recipe in hard if not recipe.is_global and (recipe.n or 0) <= LONGEST_EXACT]
    one, two, three = SOFT
    both, all_three = TableRow(DEFAULT_ROW, "soft", (one, two)), TableRow(LARGER_ROW, "soft", SOFT)
    rows = {
        "exact": [TableRow("exact", "viterbi")],
        "search": [TableRow("search", "beam")],
        "constrained-search": [TableRow(f"{recipe.name} search", "beam", (recipe,)) for recipe in hard],
        "constrained-exact": [TableRow(f"{recipe.name} exact", "exact", (recipe,)) for recipe in local],
        "soft": [
            TableRow("soft pos-2", "soft", (two,)),
            both,
            TableRow("soft pos-3", "soft", (three,)),
            all_three,
        ],
        "baselines": [*baseline_rows(both), *baseline_rows(all_three)],
    }
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]


def choices(rows: Sequence[TableRow], reads_pos: bool, right: Right) -> dict[str, Setting]:
    """The setting of each row that is chosen on dev, and last that of all rows with local constraints,
    without baselines; of all rows if there are none.

    Training of the chunker stops where dev is best without constraints. So dev favours rows that differ
    little from that: rows without constraints, and rows with global ones, which only select from the beam.
    """
    scale = WITH_POS if reads_pos else 1.0

    def chosen(group: Sequence[TableRow]) -> Setting:
        settings: list[Setting] = []
        defaults: dict[str, int] = {}
        for row in group:
            weights = WEIGHTS if row.how in DEFAULT_WEIGHTS else (0.0,)
            for weight in weights:
                if weight == scale * DEFAULT_WEIGHTS.get(row.how, 0.0):
                    defaults[row.name] = len(settings)
                parts = len(row.recipes) if weight else 0
                settings.append((row, (weight / max(1, parts),) * parts))
        default = defaults.get(DEFAULT_ROW, next(iter(defaults.values()), 0))
        return settings[choose([right(*setting) for setting in settings], default)]

    local = [
        row
        for row in rows
        if row.recipes and not row.is_baseline and not any(recipe.is_global for recipe in row.recipes)
    ]
    return {**{row.name: chosen([row]) for row in rows}, CHOSEN: chosen(local or rows)}
