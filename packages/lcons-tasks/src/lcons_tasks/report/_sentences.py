"""Sentences before and after decoding with constraints, their spans coloured by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import ne

from lcons_tasks.report._html import Html, element, joined, text
from lcons_tasks.report._predictions import Answer, Sentence

COLOURS = 12

# Beside a label, so that it is said, and not seen.
_WRONG = element("span", " (not in gold)", class_="aside")
_APART = element("span", " (not in the other)", class_="aside")


@dataclass(frozen=True)
class Reason:
    """The rule that changed a sentence, and the sum that forbids what was there."""

    rule: str
    why: str


def chosen(sentences: Sequence[Sentence], most: int) -> list[int]:
    """Which sentences are shown, in their order: those that changed, and others up to `most`."""
    changed = [i for i, one in enumerate(sentences) if one.changed]
    others = [i for i, one in enumerate(sentences) if not one.changed]
    return sorted([*changed, *others][:most])


def colours(sentences: Sequence[Sentence]) -> dict[str, int]:
    """A colour a label; the most frequent ones have colours of their own."""
    counts: dict[str, int] = {}
    for one in sentences:
        for answer in filter(None, (one.gold, one.before, one.after)):
            for label in (*(span[0] for span in answer.spans), *(link[1] for link in answer.links)):
                counts[label] = counts.get(label, 0) + 1
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    return {label: i % COLOURS for i, label in enumerate(ordered)}


def marked(
    words: Sequence[str], answer: Answer, gold: Answer, colour: Mapping[str, int], wrong_is: Html = _WRONG
) -> Html:
    """The words with a mark around every span, its label inside; dashed where gold has no such span."""
    starts = {first: (label, after) for label, first, after in answer.spans}
    parts: list[Html] = []
    at = 0
    while at < len(words):
        if at not in starts:
            parts.append(text(words[at]))
            at += 1
            continue
        label, after = starts[at]
        wrong = (label, at, after) not in gold.spans
        parts.append(
            element(
                "mark",
                element("b", label),
                "\N{NO-BREAK SPACE}",
                " ".join(words[at:after]),
                wrong_is if wrong else None,
                class_=f"c{colour.get(label, 0)}{' w' if wrong else ''}",
            )
        )
        at = max(after, at + 1)
    return joined(*parts, by=" ")


def linked(answer: Answer, gold: Answer, colour: Mapping[str, int]) -> Html | None:
    """The links, one after another; dashed where gold has no such link."""
    if not answer.links and not gold.links:
        return None
    if not answer.links:
        return element("span", "no relation", class_="links none")
    shown = []
    for source, label, target in answer.links:
        wrong = (source, label, target) not in gold.links
        mark = element(
            "mark",
            element("b", label),
            _WRONG if wrong else None,
            class_=f"c{colour.get(label, 0)}{' w' if wrong else ''}",
        )
        shown.append(element("span", source, " ", mark, " ", target, class_="link"))
    return element("span", *shown, class_="links")


def sentence_item(sentence: Sentence, colour: Mapping[str, int], file: int, reason: Reason | None) -> Html:
    """A sentence as an item of a list, with what the filters ask for as data."""
    gold = sentence.gold
    answers = {"without": sentence.before, "with": sentence.after}
    # Without gold labels, each of the two is held against the other.
    against = {"without": sentence.after, "with": sentence.before}
    if not sentence.changed:
        answers, against = {"both": sentence.after}, {"both": sentence.after}
    if gold is not None:
        answers["gold"] = gold
    lines = [
        element(
            "div",
            element("dt", name),
            element(
                "dd",
                marked(
                    sentence.words, answer, gold or against[name], colour, _APART if gold is None else _WRONG
                ),
                linked(answer, gold, colour) if gold is not None else None,
            ),
            class_="gold" if name == "gold" else None,
        )
        for name, answer in answers.items()
    ]
    because = None
    if reason is not None:
        because = element("p", reason.rule, element("br"), element("code", reason.why), class_="why")
    return element(
        "li",
        element(
            "p",
            element("span", f"Sentence {sentence.name}"),
            badge(sentence),
            element("span", sentence.note, class_="badge") if sentence.note else None,
            class_="which",
        ),
        element("dl", *lines),
        because,
        data_file=file,
        data_changed=sentence.changed,
        data_wrong=gold is not None and sentence.after != gold,
    )


def badge(sentence: Sentence) -> Html | None:
    """How many more labels are right, or without gold labels how many changed; None where none did."""
    if not sentence.changed:
        return None
    if sentence.gold is None:
        changed = sum(map(ne, sentence.before.labels, sentence.after.labels))
        return element("span", f"{changed:,} label{'s'[: changed != 1]} changed", class_="badge even")
    gain = sentence.gain
    verdict = f"{gain:+d}".replace("-", "\N{MINUS SIGN}") if gain else "as many"
    state = "better" if gain > 0 else "worse" if gain < 0 else "even"
    return element("span", f"{verdict} right", class_=f"badge {state}")
