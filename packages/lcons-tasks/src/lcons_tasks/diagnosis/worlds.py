"""References measured on the data as they are, and shuffled, where nothing is to be found."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lcons_core.features import Scope
from lcons_tasks.diagnosis.references import Measured, Reference, Tell, best_of, measure, references
from lcons_tasks.diagnosis.resampling import Resampler
from lcons_tasks.diagnosis.samples import Material, Sample

# Where there is no constraint, the data as they are beat all of five shufflings in one case of six, and by
# the margin of `verdicts.EXISTS` far more seldom.
SHUFFLES = 5
BEYOND = "beyond what was seen"


@dataclass(frozen=True, eq=False)
class World:
    """References measured on one form of the data, as they are or shuffled.

    `beyond` is the best network on the corrupted psi within what training saw; None if local or without any.
    """

    measured: list[Measured]
    best: Measured
    reference: Reference
    beyond: Measured | None

    @classmethod
    def of(cls, scope: Scope, sample: Sample, draws: Resampler, seed: int, tell: Tell) -> World:
        """References made and measured on a sample; `tell` hears how far that is."""
        made = references(sample.examples, scope, seed, tell)
        measured = [measure(reference, sample, draws) for reference in made]
        best = best_of(measured)
        seen, *networks = made
        within = seen.accepts(sample.corrupted.psi)
        beyond = None
        if scope is Scope.GLOBAL and within.any():
            rest = replace(sample, corrupted=sample.corrupted.take(within))
            beyond = replace(best_of([measure(network, rest, draws) for network in networks]), name=BEYOND)
        return cls(measured, best, made[measured.index(best)], beyond)


def chance(material: Material, draws: Resampler, seed: int, tell: Tell) -> World:
    """The most that references reach on shuffled data; a toss where all that could be negative is gold."""
    worlds = []
    for i in range(SHUFFLES):
        mixed = material.shuffled(np.random.default_rng((seed, i)))
        sample = mixed.sample(seed + 1 + i)
        if sample is not None and len(sample.gold) and len(sample.corrupted):
            inner = _part_of(tell, i)
            worlds.append(World.of(material.scope, sample, draws, seed + 1 + i, inner))
    if not worlds:
        half, all_of_it, none_of_it = (np.full(draws.length, share) for share in (0.5, 1.0, 0.0))
        toss = Measured("shuffled: all is gold", half, all_of_it, none_of_it)
        return World([toss], toss, Reference(toss.name, lambda psi: np.ones(len(psi), dtype=np.bool_)), None)
    top = max(worlds, key=lambda world: float(world.best.balanced[0]))
    beyond = [world.beyond for world in worlds if world.beyond is not None]
    return replace(
        top,
        best=replace(top.best, name=f"shuffled: {top.best.name}"),
        beyond=replace(best_of(beyond), name=f"shuffled: {BEYOND}") if beyond else None,
    )


def _part_of(tell: Tell, i: int) -> Tell:
    """How far all shufflings are when shuffling i is so far."""
    return lambda share: tell((i + share) / SHUFFLES)
