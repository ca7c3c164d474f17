"""The constraints of the chunking experiment, and the rows of its table.

Hard constraints follow the paper. Soft constraints have networks of their own (`SOFT`); the constraints of a
soft row share one weight, which is chosen on dev.

Paper: Appendix E: n-gram label existence with one flipped bit, n-gram POS with one label changed at random;
K = 10. Differs from the paper: one learning rate and one start for all, at most 100 epochs.

Not in the paper: networks of their own for soft use.

Paper: Sec. 6, Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core import Recipe
from lcons_tasks.experiments.engine._recipes import once
from lcons_tasks.experiments.engine._rows import COUNTS, CRF, TABLE, TableRow, baseline_rows

# Soft constraints: negatives are all label changes of small windows and some changes of larger ones.
SOFT = (
    once("pos", 1, many="all", by_frequency=True),
    once("pos", 2, many="all", by_frequency=True),
    once("pos", 3, hidden=30, many=8, by_frequency=True, epochs=40),
)


WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# Default weights by `how`, among the best on dev of the bundled corpus; for a chunker that reads POS tags, a
# quarter of them. The scores of a window differ in scale: log sigmoid(margin), -1, log probabilities.
DEFAULT_WEIGHTS = {"soft": 16.0, TABLE: 16.0, COUNTS: 4.0, CRF: 2.0}
DECODERS = ("exact", "search", "constrained-search", "constrained-exact", "soft", "baselines")
LONGEST_EXACT = 3
# The window by which tokens are told apart that training shows and that it does not.
SPLIT_BY = SOFT[1]


def weights_of(row: TableRow) -> tuple[float, ...]:
    """The weights to choose from; (0.0,) if the row has no weight."""
    return WEIGHTS if row.how in DEFAULT_WEIGHTS else (0.0,)


def equal_weights(weight: float, parts: int) -> list[float]:
    """The weight divided equally among a row's constraints."""
    return [weight / max(1, parts)] * parts


def rows_of(hard: Sequence[Recipe], decoders: Sequence[str] = DECODERS) -> list[TableRow]:
    """The rows of these decoders with these hard constraints and the soft ones in `SOFT`."""
    # If few sentences can satisfy a constraint, exact decoding at n = 4 has too many states for a table.
    local = [recipe for recipe in hard if not recipe.is_global and (recipe.n or 0) <= LONGEST_EXACT]
    one, two, three = SOFT
    both, all_three = TableRow("soft pos-1+2", "soft", (one, two)), TableRow("soft pos-1+2+3", "soft", SOFT)
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
        "baselines": [*baseline_rows(both), *baseline_rows(all_three, (TABLE, COUNTS))],
    }
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]
