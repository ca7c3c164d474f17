"""Hand-written constraints on citation fields, in the manner of Chang, Ratinov and Roth (2007).

| rule | what must hold | feature |
|---|---|---|
| `once` | a field has at most one span: it is contiguous and is not repeated | span counts (global) |
| `marks` | where the label changes, one of the two tokens is a mark of punctuation | window of 2 |
| `start` | the first token is of `author` or `editor` | padded window of 2 |
| the others | a token that is one of the rule's words is of one of the rule's fields | window of 1 |

Window rules forbid boxes, a hidden unit a box (`lcons_core.rules`); `once` is sum_f ReLU(2 spans_f - 2) <= 1.
It needs a decoder that takes global constraints, and not the ILP: span counts are not linear in the outputs.

Not expressed: the penalties of 2007, one a rule (these are sets, which a decoder takes as hard or soft), and
what stands between quotation marks, which no window sees: only the marks themselves are kept to titles.

Paper: Sec. 5 quotes the accuracy of such constraints. Not in the paper: which constraints those are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core.features import START, ConstraintFeature, Counts, NgramContext, NgramLabels
from lcons_core.features.sequence import WORD
from lcons_core.rules import Box, forbid_boxes
from lcons_core.space import OTHER
from lcons_tasks.corpus import CORA_FIELDS


class WordRule(NamedTuple):
    """Words that stand in some fields only; each as written, with a capital, and in capitals."""

    name: str
    words: tuple[str, ...]
    fields: tuple[str, ...]


WORD_RULES = (
    WordRule("pages", ("pp", "pages", "page"), ("pages",)),
    WordRule("date", tuple(map(str, range(1900, 2100))), ("date",)),
    WordRule("quotation", ('"', "\u201c", "\u201d", "`"), ("title",)),
    WordRule("note", ("note", "submitted", "appear"), ("note",)),
    WordRule("location", ("CA", "NY", "Australia"), ("location",)),
    WordRule("tech", ("tech", "technical", "thesis", "PhD"), ("tech",)),
    WordRule("venue", ("proc", "proceedings", "journal", "trans", "ACM"), ("journal", "booktitle")),
    WordRule("editor", ("ed", "eds", "editor", "editors"), ("editor",)),
)
FIRST_FIELDS = ("author", "editor")
ONCE = "once"
MOST_SPANS = 1000

Made = tuple[ConstraintFeature, RectifierNetwork]


def designed(labels: Sequence[str]) -> list[tuple[str, LearnedConstraint]]:
    """(name, constraint) of each rule on fields that are among `labels`.

    A rule on several fields is kept to those that are there, and left out where none is.

    >>> rules = dict(designed(["author", "title", "date"]))
    >>> list(rules)
    ['once', 'marks', 'start', 'date', 'quotation']
    >>> words = ["Turing", ",", "1950"]
    >>> rules["date"].satisfied((words, ["author", "author", "date"]))
    True
    >>> rules["date"].satisfied((words, ["author", "author", "title"]))
    False
    """
    known = tuple(labels)
    rules = [(ONCE, CORA_FIELDS, _once), ("marks", CORA_FIELDS, _marks), ("start", FIRST_FIELDS, _start)]
    rules += [(name, fields, partial(_words, words)) for name, words, fields in WORD_RULES]
    found = []
    for name, fields, make in rules:
        if own := tuple(label for label in known if label in fields):
            feature, network = make(known, own)
            found.append((name, LearnedConstraint(network, feature.space, feature, {"designed": name})))
    return found


def _once(labels: tuple[str, ...], fields: tuple[str, ...]) -> Made:
    W = 2.0 * (np.array(fields)[:, None] == np.array(labels))
    return Counts(labels, high=MOST_SPANS, spans=True), RectifierNetwork(W, np.full(len(fields), -2.0))


def _marks(labels: tuple[str, ...], _: tuple[str, ...]) -> Made:
    feature = NgramContext(labels, ("punctuation",), n=2, column=WORD, word_class="punctuation")
    inside = {"punctuation 1": OTHER, "punctuation 2": OTHER}
    return _forbidding(
        feature, [{**inside, "label 1": one, "label 2": _without(labels, (one,))} for one in labels]
    )


def _start(labels: tuple[str, ...], fields: tuple[str, ...]) -> Made:
    feature = NgramLabels(labels, n=2, pad=True)
    return _forbidding(feature, [{"label 1": START, "label 2": _without(labels, fields)}])


def _words(words: tuple[str, ...], labels: tuple[str, ...], fields: tuple[str, ...]) -> Made:
    forms = dict.fromkeys(form for w in words for form in (w, w[:1].upper() + w[1:], w.upper()))
    feature = NgramContext(labels, tuple(forms), n=1, column=WORD)
    return _forbidding(feature, [{WORD: tuple(forms), "label": _without(labels, fields)}])


def _forbidding(feature: ConstraintFeature, boxes: Iterable[Mapping[str, Any]]) -> Made:
    """The network that forbids the boxes; one without a value on some axis has no point."""
    full = [Box.of(feature.space, box) for box in boxes if all(box.values())]
    return feature, forbid_boxes(feature.space, full)


def _without(labels: tuple[str, ...], fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label for label in labels if label not in fields)
