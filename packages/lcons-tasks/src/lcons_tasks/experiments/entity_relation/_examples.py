"""Sentences in which constraints changed the answer, with the combination that they forbid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lcons_core import LearnedConstraint, why
from lcons_tasks.data._passage import NO_ENTITY, NO_RELATION, Labelled, Passage
from lcons_tasks.experiments.entity_relation._measures import Answer, count

# Sentences of more words are long to read.
LONGEST = 30


@dataclass(frozen=True)
class Changed:
    """A sentence with its gold labels and those before and after, and what was forbidden, with its sum."""

    gold: str
    before: str
    after: str
    rule: str
    why: str
    gain: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def changed(
    passages: Sequence[Labelled],
    before: Sequence[Answer],
    after: Sequence[Answer],
    constraints: Mapping[str, LearnedConstraint],
    most: int = 5,
) -> list[Changed]:
    """The clearest corrections, each by another rule, and last a sentence that was made worse, if any was."""
    found = []
    for one, old, new in zip(passages, before, after, strict=True):
        broken = _forbidden(old, constraints)
        if old != new and broken is not None and len(one.passage.words) <= LONGEST:
            gain = int(count(one, new)[:, 0].sum() - count(one, old)[:, 0].sum())
            gain -= int(count(one, new)[:, 1].sum() - count(one, old)[:, 1].sum())
            name, named = broken
            found.append((gain, one, old, new, name, named))
    found.sort(key=lambda entry: (-entry[0], len(entry[1].passage.words), entry[1].id))
    worse = [entry for entry in found if entry[0] < 0][-1:]
    better: dict[str, Changed] = {}
    for entry in found:
        if entry[0] > 0 and len(better) < most - len(worse):
            shown_one = _changed(*entry, constraints)
            better.setdefault(shown_one.rule, shown_one)
    return [*better.values(), *(_changed(*entry, constraints) for entry in worse)]


def shown(one: Changed) -> str:
    """The example as lines of a Markdown list."""
    lines = [f"- before: {one.before}", f"  after:  {one.after}"]
    if one.after != one.gold:
        lines.append(f"  gold:   {one.gold}")
    return "\n".join([*lines, f"  {one.rule}", f"  {one.why}"])


def bracketed(passage: Passage, answer: Answer) -> str:
    """The sentence with the labels of candidates in it, and relations after it.

    >>> oslo = Passage(("Ann", "lives", "in", "Oslo"), ("NNP", "VBZ", "IN", "NNP"), ((0, 1), (3, 4)))
    >>> bracketed(oslo, (("Person", "Location"), {(0, 1): "LiveIn"}))
    '[Person Ann] lives in [Location Oslo] | Ann LiveIn Oslo'
    """
    entities, relations = answer
    words = list(passage.words)
    for (first, last), label in zip(passage.spans, entities, strict=True):
        words[first] = f"[{'-' if label == NO_ENTITY else label} {words[first]}"
        words[last - 1] += "]"
    links = [f"{passage.text(i)} {label} {passage.text(j)}" for (i, j), label in sorted(relations.items())]
    return f"{' '.join(words)} | {'; '.join(links) or 'no relation'}"


def _changed(
    gain: int,
    one: Labelled,
    old: Answer,
    new: Answer,
    name: str,
    named: dict[str, str],
    constraints: Mapping[str, LearnedConstraint],
) -> Changed:
    rule = f"forbidden: {', '.join(f'{key} {value}' for key, value in named.items())} ({name})"
    return Changed(
        bracketed(one.passage, (one.entities, one.relations)),
        bracketed(one.passage, old),
        bracketed(one.passage, new),
        rule,
        str(why(constraints[name], named)),
        gain,
    )


def _forbidden(
    answer: Answer, constraints: Mapping[str, LearnedConstraint]
) -> tuple[str, dict[str, str]] | None:
    """The first combination of an answer that a constraint forbids."""
    entities, relations = answer
    for (i, j), label in sorted(relations.items()):
        values = {
            "source": entities[i],
            "relation": label,
            "target": entities[j],
            "reverse": relations.get((j, i), NO_RELATION),
        }
        for name, constraint in constraints.items():
            feature: Any = constraint.feature
            named = {member: values[member] for member in feature.names}
            if not constraint.satisfied([tuple(named.values())]):
                return name, named
    return None
