"""The result of `fit`: what each part gave by the jackknife, rules and the tagger."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lcons_core import bilou, bioes, explain, iob2
from lcons_decode import Decoding, Hard, Soft
from lcons_tasks.apps import ConstrainedTagger
from lcons_tasks.models._consistent_chain import ConsistentChain
from lcons_tasks.report._document import Change
from lcons_tasks.stats import Interval

DESIGNED = {"iob2": iob2, "bioes": bioes, "bilou": bilou}
MOST_RULES = 10


@dataclass(frozen=True)
class Contribution:
    """A part, the figure with it and all before it, in percent, and its gain over the one before."""

    part: str
    figure: float
    gain: Interval


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What was chosen, and what it is worth.

    measure: the name of the figures, which are out-of-fold: no sentence was tagged by a model that had seen
    it. But the settings were chosen by them, so that they are a little optimistic.
    contributions: each part in order; the first is the base model alone.
    advice: which constraints to use, hard or with which weight, in words.
    gain: of all parts over the base model.
    labelled, unlabelled: the number of sentences; None where unlabelled ones are of no use.
    """

    measure: str
    labelled: int
    unlabelled: int | None
    contributions: tuple[Contribution, ...]
    advice: tuple[str, ...]
    gain: Interval
    rules: tuple[str, ...]
    changed: tuple[Change, ...]
    chosen: Mapping[str, Any]

    @property
    def base(self) -> float:
        """The figure of the base model."""
        return self.contributions[0].figure

    @property
    def figure(self) -> float:
        """The figure of all parts."""
        return self.contributions[-1].figure

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the model."""
        return {
            "measure": self.measure,
            "labelled": self.labelled,
            "unlabelled": self.unlabelled,
            "base": self.base,
            "fitted": self.figure,
            "gain": asdict(self.gain),
            "contributions": list(map(asdict, self.contributions)),
            "chosen": dict(self.chosen),
            "advice": list(self.advice),
            "rules": list(self.rules),
            "changed": [
                {side: getattr(change, side) for side in ("words", "gold", "before", "after")}
                for change in self.changed
            ],
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTagger(Fitted):
    """A tagger and how it was chosen."""

    tagger: ConstrainedTagger

    def tag(self, sentences: Sequence[Any]) -> list[Decoding]:
        """One answer per sentence, a list of words or columns with `word`."""
        return self.tagger.tag(sentences)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the tagger, which `lcons tag` and `load_constrained_tagger` read, and its report."""
        from lcons_tasks.fitted._report import fit_reports

        self.tagger.save(folder, lambda place: fit_reports(self, place))


def telling_rules(tagger: ConstrainedTagger, most: int = MOST_RULES) -> tuple[str, ...]:
    """What the tagger knows beyond its base model, in words: rules of hard constraints, and the words that
    unlabelled text says most about."""
    rules = hard_rules(tagger.constraints, most // 2)
    model = tagger.model
    if isinstance(model, ConsistentChain):
        for word, label, _, count, share in model.strongest(most - len(rules)):
            rules.append(f"`{word}` is {label} in {share:.0%} of its {count} occurrences")
    return tuple(rules[:most])


def hard_rules(constraints: Sequence[Hard | Soft], most: int = MOST_RULES) -> list[str]:
    """The first rules of hard constraints, in words, each once."""
    hard = [use.constraint for use in constraints if isinstance(use, Hard)]
    rules = [rule.words for constraint in hard for rule in explain(constraint, limit=most).rules]
    return list(dict.fromkeys(rules))[:most]
