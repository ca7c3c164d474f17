"""Filled cells as figures: means over instances, and the claims of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._cell import Filled
from lcons_tasks.experiments.synthetic._measures import UNCONSTRAINED
from lcons_tasks.report._text_tables import Claim


@dataclass(frozen=True)
class Group:
    """The cells of one K, with or without rounds, an instance each."""

    hidden: int
    rounds: int
    cells: tuple[Filled, ...]

    @property
    def name(self) -> str:
        """What the column is called."""
        return f"{self.hidden}{' + rounds' if self.rounds else ''}"

    def values(self, figure: str) -> list[float]:
        """A figure, one an instance; empty where it was not measured."""
        return [cell.figures[figure] for cell in self.cells if figure in cell.figures]

    def mean(self, figure: str) -> float:
        """Its mean over instances."""
        return mean(self.values(figure))


def groups(filled: Sequence[Filled]) -> list[Group]:
    """The columns of the table, in the order in which the cells come."""
    found: dict[tuple[int, int], list[Filled]] = {}
    for one in filled:
        found.setdefault((one.cell.hidden, one.cell.rounds), []).append(one)
    return [Group(hidden, rounds, tuple(cells)) for (hidden, rounds), cells in found.items()]


def claims(found: Sequence[Group]) -> list[Claim]:
    """What the paper says of its table, checked on ours."""
    plain = [group for group in found if not group.rounds and group.hidden in paper.HIDDEN]
    told: list[Claim] = []
    if not plain:
        return told
    base = mean(cell.figures["baselines"][UNCONSTRAINED]["bitwise"] for cell in found[0].cells)
    kept = mean(cell.figures["baselines"][UNCONSTRAINED]["satisfied"] for cell in found[0].cells)
    for figure, text, level in (
        ("bitwise", "solutions under learned constraints have more right bits than without any", base),
        ("satisfied", "and satisfy more of the hidden constraints", kept),
    ):
        least = min(group.mean(figure) for group in plain)
        told.append(Claim(text, least > level, f"at least {least:.1f} against {level:.1f}"))
    gold = min(group.mean("gold rows") for group in plain)
    told.append(
        Claim("gold solutions almost always satisfy the learned constraints", gold >= 95, f"{gold:.1f}")
    )
    ten = [group for group in plain if group.hidden == 10]
    if ten:
        stated = paper.FIGURES["bits"][-1]
        text = f"(ours) bits with K = 10 reach the paper's {stated}"
        told.append(Claim(text, ten[0].mean("bitwise") >= stated, f"{ten[0].mean('bitwise'):.1f}"))
    guided = [group for group in found if group.rounds]
    if guided:
        best = max(guided, key=lambda group: group.mean("bitwise"))
        text = "(not in the paper) counterexample-guided rounds help"
        plain_bits = [
            group.mean("bitwise") for group in found if group.hidden == best.hidden and not group.rounds
        ]
        figures = f"K = {best.hidden}: {best.mean('bitwise'):.1f}"
        held = not plain_bits or best.mean("bitwise") > plain_bits[0]
        told.append(Claim(text, held, figures + (f" against {plain_bits[0]:.1f}" if plain_bits else "")))
    return told
