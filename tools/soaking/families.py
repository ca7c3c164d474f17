"""All families of cases by name; the modules say what each draws and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from soaking import chains, files, forms, graphs, programs, sets
from soaking.tally import Tally


@dataclass(frozen=True)
class Family:
    """How a case is drawn and checked; in a round of all families, it has `share` cases."""

    draw: Callable[[Random], dict[str, Any]]
    check: Callable[[dict[str, Any], Tally], None]
    share: int


FAMILIES = {
    "hard": Family(chains.draw_hard, chains.check_local, 16),
    "soft": Family(chains.draw_soft, chains.check_local, 12),
    "large": Family(chains.draw_large, chains.check_local, 4),
    "global": Family(chains.draw_global, chains.check_global, 12),
    "lagrangian": Family(chains.draw_lagrangian, chains.check_lagrangian, 4),
    "ilp": Family(programs.draw_ilp, programs.check_ilp, 4),
    "relations": Family(graphs.draw_relations, graphs.check_relations, 8),
    "forms": Family(forms.draw_forms, forms.check_forms, 12),
    "compare": Family(sets.draw_compare, sets.check_compare, 6),
    "simplify": Family(sets.draw_simplify, sets.check_simplify, 6),
    "explain": Family(sets.draw_explain, sets.check_explain, 6),
    "rules": Family(sets.draw_rules, sets.check_rules, 6),
    "verify": Family(sets.draw_verify, sets.check_verify, 6),
    "constraint files": Family(files.draw_constraint_file, files.check_constraint_file, 6),
}
