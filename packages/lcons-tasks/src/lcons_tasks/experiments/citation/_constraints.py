"""The constraints of the citation experiment, learned and designed, and the rows of its table.

Learned constraints use the paper's six features (`PAPER`); positives weigh more than negatives (`caution`),
because a hard constraint that rejects a correct labelling costs more than one that accepts a wrong one.

Paper: Table 2 and Appendix D: six features, each with its own negatives; K = 10; windows of two tokens for
POS and punctuation. Differs from the paper: one learning rate and one start; and positives weigh more than
negatives.

Not in the paper: for soft use, windows of word shapes, of frequent words and of POS tags, in larger networks
with positives weighted by frequency, and windows of clues (`data.text._clues`), which read a list of words
that are typical of references.

The rows of the table, by decoder:

| decoder | rows |
|---|---|
| exact, search | no constraints |
| constrained-search | the paper's: six features and C1 to C3, hard, beam 50; POS with punctuation |
| constrained-exact | the local features, hard, decoded exactly; and C3 with the global ones, also exactly |
| soft | each local feature, C3, and windows of shapes, words, POS tags and clues, as penalties, exactly |
| designed | the hand-written rules (`designed`): all of them hard by search, and the local ones soft |
| baselines | the windows of two soft rows without networks (`engine._rows`) |

Paper: Sec. 5, Table 3. Not in the paper: constrained-exact, soft; designed is quoted there.

The hand-written rules follow Chang, Ratinov and Roth (2007):

| rule | what must hold | feature |
|---|---|---|
| `once` | a field has at most one span: it is contiguous and is not repeated | span counts (global) |
| `marks` | where the label changes, one of the two tokens is a punctuation mark | window of 2 |
| `start` | the label of the first token is `author` or `editor` | padded window of 2 |
| the others | a token that is one of the rule's words has one of the rule's fields as label | window of 1 |

Window rules forbid boxes, with one hidden unit per box; `once` is sum_f ReLU(2 spans_f - 2) <= 1. `once`
needs a decoder for global constraints other than the ILP, because span counts are not linear in the outputs.

Two parts of the rules of 2007 are not expressed: their penalties, one per rule (here a rule is a set, which a
decoder uses as hard or soft), and the text between quotation marks, which no window covers: only the marks
themselves must be in titles.

Paper: Sec. 5 quotes the accuracy of such constraints. Not in the paper: which constraints those are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lcons_core import LearnedConstraint, Recipe, RectifierNetwork
from lcons_core._blocks import OTHER
from lcons_core._instance import WORD
from lcons_core.features import ConstraintFeature, Counts, NgramContext, NgramLabels
from lcons_core.features._ngrams import START
from lcons_core.reason._rules import Box, forbid_boxes
from lcons_tasks.data._references import CORA_FIELDS
from lcons_tasks.data.text._clues import CLUE
from lcons_tasks.experiments.engine._labelling import Right, Setting, Weights, choose, choose_weights
from lcons_tasks.experiments.engine._rows import CHOSEN, COUNTS, EXACT, TABLE, TableRow, baseline_rows, once


def _hard(feature: str, n: int | None, negatives: str, caution: float = 4.0) -> Recipe:
    return once(feature, n, learning_rate=0.01, epochs=400, negatives=negatives, caution=caution)


PAPER = {
    "existence": _hard("existence", 1, "flip"),
    "counts": _hard("counts", None, "perturb"),
    "bigram": _hard("ngram", 2, "unseen"),
    "trigram": _hard("ngram", 3, "near"),
    "pos": _hard("pos", 2, "apart", caution=256.0),
    "punctuation": _hard("punctuation", 2, "apart"),
}

C1 = ("existence", "trigram")
COMBINATIONS = {"C1": C1, "C2": (*C1, "pos"), "C3": tuple(PAPER)}

SOFT_POS = once("pos", 2, "-soft", hidden=30, learning_rate=0.01, many="all", by_frequency=True, epochs=300)
WINDOWS = (
    once("shape", 3, "-soft", hidden=30, negatives="recast", many=8, by_frequency=True, epochs=60),
    once("word", 2, "-soft", hidden=30, many="all", by_frequency=True),
)
CLUES = (
    replace(WINDOWS[0], feature="context", column=CLUE, name=f"{CLUE}-3-8-soft"),
    WINDOWS[1],
)
POS_WINDOWS = once("pos", 3, "-soft", hidden=30, many=8, by_frequency=True, epochs=60)


def paper_recipe(name: str, hidden: int = 10) -> Recipe:
    """The recipe of a feature of Table 2, with K = `hidden`.

    >>> paper_recipe("pos", 5).name
    'pos-2-K5'
    """
    recipe = PAPER[name]
    return (
        recipe if hidden == recipe.hidden else replace(recipe, hidden=hidden, name=f"{recipe.name}-K{hidden}")
    )


DECODERS = ("exact", "search", "constrained-search", "constrained-exact", "soft", "designed", "baselines")
LOCAL = tuple(name for name, recipe in PAPER.items() if not recipe.is_global)
C3_ROW = "soft C3"
WINDOWS_ROW, POS_WINDOWS_ROW = "soft windows", "soft windows+pos"
CLUES_ROW, POS_CLUES_ROW = "soft clues", "soft clues+pos"

# Default weights of soft constraints: the same for all corpora and base models, times the scale of the base
# model's scores (`SCALES`). Both were set on dev references.
WEIGHTS = {
    "ngram-2": 1.0,
    "ngram-3": 2.0,
    "punctuation-2": 1.0,
    SOFT_POS.name: 4.0,
    **{recipe.name: 2.0 for recipe in (*WINDOWS, *CLUES, POS_WINDOWS)},
}
DESIGNED_WEIGHT = 4.0
BASELINE_WEIGHTS = {TABLE: 4.0, COUNTS: 0.25}
# Constraints know more of new kinds of references than the model does, so a parser has larger weights. Of 0
# to 8 times the default, twice was best on styles of Cora that were held out.
PARSER_FACTOR = 2.0
SCALES = {"words": 1.0, "words-brief": 1.0, "words+pos": 0.5, "reference": 0.15}


def rows_of(decoders: Sequence[str] = DECODERS, hidden: Sequence[int] = (10,)) -> list[TableRow]:
    """The rows of these decoders; each K in `hidden` other than 10 adds the paper's features with that K."""
    soft = {name: (SOFT_POS if name == "pos" else PAPER[name]) for name in LOCAL}
    windows = TableRow(WINDOWS_ROW, "soft", WINDOWS)
    clues = TableRow(POS_CLUES_ROW, "soft", (*CLUES, POS_WINDOWS))
    rows = {
        "exact": [TableRow("exact", "viterbi")],
        "search": [TableRow("search", "beam")],
        "constrained-search": [
            *(TableRow(f"{name} search", "beam", (recipe,)) for name, recipe in PAPER.items()),
            TableRow("pos+punctuation search", "beam", (PAPER["pos"], PAPER["punctuation"])),
            *(
                TableRow(f"{c} search", "beam", tuple(PAPER[n] for n in names))
                for c, names in COMBINATIONS.items()
            ),
            *(
                TableRow(f"{name} search K={K}", "beam", (paper_recipe(name, K),))
                for K in hidden
                if PAPER["pos"].hidden != K
                for name in PAPER
            ),
        ],
        "constrained-exact": [
            *(TableRow(f"{name} exact", "exact", (PAPER[name],)) for name in LOCAL),
            TableRow("C3 exact", "global", tuple(PAPER.values())),
        ],
        "soft": [
            *(TableRow(f"soft {name}", "soft", (recipe,)) for name, recipe in soft.items()),
            TableRow(C3_ROW, "soft", tuple(soft.values())),
            windows,
            TableRow(POS_WINDOWS_ROW, "soft", (*WINDOWS, POS_WINDOWS)),
            TableRow(CLUES_ROW, "soft", CLUES),
            clues,
        ],
        "designed": [
            TableRow("designed search", "beam", designed=designed),
            TableRow("soft designed", "soft", designed=designed_locally),
        ],
        "baselines": [*baseline_rows(windows), *baseline_rows(clues)],
    }
    return [row for name in DECODERS if name in ("exact", *decoders) for row in rows[name]]


def default_weights(row: TableRow, base: str) -> Weights:
    """The default weights of the row's soft constraints with a base model; designed ones share one weight."""
    weights = [WEIGHTS[recipe.name] for recipe in row.recipes]
    if row.is_baseline:
        weights = [BASELINE_WEIGHTS[row.how]] * len(weights)
    if row.designed:
        weights = [DESIGNED_WEIGHT]
    return tuple(SCALES[base] * weight for weight in weights)


def choices(rows: Sequence[TableRow], base: str, right: Right) -> dict[str, Setting]:
    """The weights of each row that are chosen on dev, and last the chosen row among those of learned soft
    constraints: windows of clues and POS tags, unless another is clearly better; `exact` if there is none."""
    settings: dict[str, Setting] = {}
    for row in rows:
        weights: Weights = ()
        if row.how == "soft" or row.is_baseline:
            weights = choose_weights(partial(right, row), default_weights(row, base))
        settings[row.name] = row, weights
    soft = [row.name for row in rows if row.how == "soft" and not row.designed]
    if not soft:
        return {**settings, CHOSEN: settings[EXACT]}
    default = soft.index(POS_CLUES_ROW) if POS_CLUES_ROW in soft else len(soft) - 1
    chosen = soft[choose([right(*settings[name]) for name in soft], default)]
    return {**settings, CHOSEN: settings[chosen]}


def parser_weights(row: TableRow, base: str) -> Weights:
    """The weights of the row's soft constraints in a parser, which meets references of other kinds."""
    return tuple(PARSER_FACTOR * weight for weight in default_weights(row, base))


class WordRule(NamedTuple):
    """Words that occur only in some fields: each as written here, capitalised, and in upper case."""

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
    """(name, constraint) of each rule whose fields are among `labels`.

    A rule on several fields uses those that are among `labels`; a rule without any of them is left out.

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


def designed_locally(labels: Sequence[str]) -> list[tuple[str, LearnedConstraint]]:
    """The rules of `designed` that are local."""
    return [(name, rule) for name, rule in designed(labels) if name != ONCE]


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
    """The network that forbids the boxes; boxes without a value on some axis contain no point and are
    skipped."""
    full = [Box.of(feature.space, box) for box in boxes if all(box.values())]
    return feature, forbid_boxes(feature.space, full)


def _without(labels: tuple[str, ...], fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label for label in labels if label not in fields)
