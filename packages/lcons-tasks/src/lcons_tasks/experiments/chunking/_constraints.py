"""The constraints of the chunking experiment.

Paper: Appendix E: n-gram label existence with one flipped bit, n-gram POS with one label changed at random;
K = 10. Differs from the paper: one learning rate and one start for all, at most 100 epochs.

Not in the paper: networks of their own for soft use.

The rows of the chunking table (`experiment.rows`): soft ones have one weight, shared, chosen on dev.

Paper: Sec. 6, Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core import InvalidInput, Recipe
from lcons_tasks.experiments.engine._recipes import once
from lcons_tasks.experiments.engine._rows import TableRow

# Soft constraints: small windows with every label change, larger ones with some.
SOFT = (
    once("pos", 1, many="all", by_frequency=True),
    once("pos", 2, many="all", by_frequency=True),
    once("pos", 3, hidden=30, many=8, by_frequency=True, epochs=40),
)


WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
DECODERS = ("exact", "search", "constrained-search", "constrained-exact", "soft")
LONGEST_EXACT = 3


def weights_of(row: TableRow) -> tuple[float, ...]:
    """The weights to choose from; (0.0,) where there is nothing to choose."""
    return WEIGHTS if row.how == "soft" else (0.0,)


def equal_weights(weight: float, row: TableRow) -> list[float]:
    """One weight, shared among a row's constraints."""
    return [weight / max(1, len(row.recipes))] * len(row.recipes)


def rows_of(hard: Sequence[Recipe], decoders: Sequence[str] = DECODERS) -> list[TableRow]:
    """The rows that these decoders make with these hard constraints and the soft ones of `features.SOFT`."""
    unknown = [name for name in decoders if name not in DECODERS]
    if unknown:
        raise InvalidInput(f"unknown decoder {unknown[0]!r}; it is one of {', '.join(DECODERS)}.")
    # Where few sentences can be satisfied, exact decoding at n = 4 has too many states for a table.
    local = [recipe for recipe in hard if not recipe.is_global and (recipe.n or 0) <= LONGEST_EXACT]
    one, two, three = SOFT
    rows = {
        "exact": [TableRow("exact", "viterbi")],
        "search": [TableRow("search", "beam")],
        "constrained-search": [TableRow(f"{recipe.name} search", "beam", (recipe,)) for recipe in hard],
        "constrained-exact": [TableRow(f"{recipe.name} exact", "exact", (recipe,)) for recipe in local],
        "soft": [
            TableRow("soft pos-2", "soft", (two,)),
            TableRow("soft pos-1+2", "soft", (one, two)),
            TableRow("soft pos-3", "soft", (three,)),
            TableRow("soft pos-1+2+3", "soft", (one, two, three)),
        ],
    }
    idle = [name for name in decoders if not rows[name]]
    if idle and tuple(decoders) != DECODERS:
        raise InvalidInput(
            f"decoder {idle[0]!r} has no constraint to use among {', '.join(r.name for r in hard) or 'none'};"
            f" give it local ones, for constrained-exact with n of at most {LONGEST_EXACT}."
        )
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]
