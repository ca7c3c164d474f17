"""The result of `fit`: what each part gave by the jackknife, rules, changed sentences, and the tagger."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lcons_core import bilou, bioes, detect_scheme, explain, iob2
from lcons_core._types import Ints
from lcons_core.learn._evidence import fold_bounds
from lcons_decode import Decoding, Hard, Soft
from lcons_tasks.apps import ConstrainedTagger
from lcons_tasks.data import Sentence
from lcons_tasks.data._tagged_text import spans
from lcons_tasks.fitted._jackknife import LIKELY, MOST_LOST, Draws, prefer, stays
from lcons_tasks.models._consistent_chain import ConsistentChain
from lcons_tasks.own_data._recommendation import HARD, SOFT, Gain, recommend
from lcons_tasks.stats import Interval, are_spans, bootstrap_f1, count_right, f1

DESIGNED = {"iob2": iob2, "bioes": bioes, "bilou": bilou}
Labels = list[tuple[str, ...]]
MOST_RULES, MOST_CHANGED = 10, 5


@dataclass(frozen=True)
class Contribution:
    """A part, the figure with it and all before it, in percent, and its gain over the one before."""

    part: str
    figure: float
    gain: Interval


def contributions(parts: Sequence[str], counts: Sequence[Ints], seed: int) -> tuple[Contribution, ...]:
    """What each part gives, from its counts (N, 3) and those of the part before it."""
    before = [counts[0], *counts[:-1]]
    return tuple(
        Contribution(part, float(f1(after.sum(0))), bootstrap_f1([after], [last], seed=seed))
        for part, after, last in zip(parts, counts, before, strict=True)
    )


class Steps:
    """The labels of all labelled sentences after each step, and what the steps are worth; differences count
    less where folds resemble each other."""

    def __init__(self, sentences: Sequence[Sentence], known: Sequence[str], folds: int, seed: int) -> None:
        self.sentences, self.seed, self.resemblance = list(sentences), seed, 1.0
        self.gold = [sentence.labels for sentence in sentences]
        self.spans = are_spans({*known, *(label for y in self.gold for label in y)})
        self.folds = fold_bounds(len(self.sentences), folds)
        self.draws = Draws.of(len(self.sentences), seed)
        self.steps: list[tuple[str, Labels]] = []

    @property
    def last(self) -> Labels:
        """The labels after the last step."""
        return self.steps[-1][1]

    def prefer(self, options: Sequence[Labels], default: int = 0, errors: float = LIKELY) -> int:
        """The best option if the folds support it, else the default."""
        counts = [self.counts(labels) for labels in options]
        return prefer(counts, default, self.draws, errors * self.resemblance**2)

    def stays(self, labels: Labels) -> bool:
        """Whether a change to these labels stays that has helped on every corpus."""
        return stays(self.counts(self.last), self.counts(labels), self.draws, self.resemblance)

    def is_worse(self) -> bool:
        """Whether the last step is worse than the first."""
        first, last = (float(f1(self.counts(labels).sum(0))) for labels in (self.steps[0][1], self.last))
        return first - last > MOST_LOST or not self.prefer([self.steps[0][1], self.last], default=1)

    def add(self, name: str, labels: Labels) -> None:
        """Adds a step."""
        self.steps.append((name, labels))

    def counts(self, labels: Labels) -> Ints:
        """(N, 3) right, predicted and gold spans of each sentence; tokens if labels are no spans."""
        return count_right(self.gold, labels, self.spans)

    def without(self, fold: tuple[int, int]) -> list[Sentence]:
        """The sentences of the other folds."""
        return [*self.sentences[: fold[0]], *self.sentences[fold[1] :]]

    def scheme(self, labels: Sequence[str]) -> tuple[Hard, ...]:
        """The label scheme of gold as a hard constraint on labels, if there is one."""
        name = detect_scheme(self.gold)
        return () if name is None else (Hard(DESIGNED[name](labels), name),)

    def results(self, weight: float | None = None) -> dict[str, Any]:
        """The fields of `Fitted` that the steps decide on; `weight` is that of the bias, if it is soft."""
        counts = [self.counts(labels) for _, labels in self.steps]
        parts = contributions([name for name, _ in self.steps], counts, self.seed)
        measure = "span F1" if self.spans else "token accuracy"
        uses = {"label pairs": (HARD, None), **({"bias of O": (SOFT, weight)} if weight else {})}
        gains = {part.part: Gain(*uses[part.part], part.gain, measure) for part in parts if part.part in uses}
        return {
            "measure": measure,
            "labelled": len(self.sentences),
            "contributions": parts,
            "advice": tuple(f"{name}: {recommend(None, gain=gain)}" for name, gain in gains.items()),
            "gain": bootstrap_f1([counts[-1]], [counts[0]], seed=self.seed),
            "changed": changed_sentences(self.sentences, self.steps[0][1], self.steps[-1][1]),
        }


@dataclass(frozen=True)
class Changed:
    """A labelled sentence that the parts changed: its words, gold labels, and labels before and after."""

    words: tuple[str, ...]
    gold: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


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
    changed: tuple[Changed, ...]
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
            "changed": list(map(asdict, self.changed)),
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


def changed_sentences(
    sentences: Sequence[Sentence],
    before: Sequence[tuple[str, ...]],
    after: Sequence[tuple[str, ...]],
    most: int = MOST_CHANGED,
) -> tuple[Changed, ...]:
    """Sentences whose spans differ, spread over the file; whether the change is right or wrong."""
    places = [
        i for i, (a, b) in enumerate(zip(before, after, strict=True)) if list(spans(a)) != list(spans(b))
    ]
    step = max(1, len(places) // most)
    return tuple(
        Changed(sentences[i].words, sentences[i].labels, before[i], after[i]) for i in places[::step][:most]
    )
