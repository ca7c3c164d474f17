"""Labels that the rest of the data contradicts: the cheapest relabelling, its odds and the rules behind them.

Each token is judged by sources that have not seen its sentence: the marginals of a linear CRF trained on the
other folds, and rules on words counted on the other sentences (`_rules`). Their log-linear pool is

    z_t(y) = w_0 log p_crf(y_t = y) + sum_r w_r log p_r(y | words at t)

The weights w >= 0 maximise the likelihood of the given labels under the softmax of z. So a source that
predicts the labels well counts much, one that does not counts nothing; no error has to be known.

The labelling with the largest sum of z_t that obeys the label scheme (if the data obey one, but for at most
2 % of the sentences) is decoded exactly. Each run of tokens where it differs from the given labels is a
*finding*: the run is the cheapest relabelling, and its odds are those of its clearest token,

    log odds = max over t in the run of  z_t(proposed label) - z_t(given label)

whose terms are the reasons. Tokens of a run are not independent, so the sum would count evidence twice.

Findings are ranked by their odds or by their rarity. Odds alone put the weaknesses of the sources first:
where they often read the label g as h, doing so once more shows little. So the rank `rarity` is by

    score = log odds - log share,      share = (C(g, h) - 1/2) / n(g)

where g and h are the given and the proposed label of the clearest token, C(g, h) is the number of tokens
labelled g that the findings would label h, of n(g). The share is that in other places: its own is not counted
(and a half is, so that a confusion without another place has a share). Confident learning (Northcutt et al.
2021) counts the same confusions.

Rarity was better than odds on the five sets of entities and slots that were tried, and not on chunks and
references, where few labels or none stand for "nothing here". So the rank is rarity if at least a third of
the tokens are O, else odds; this was chosen after all eight sets were seen. Neither rank is the probability
of an error: a rare but right label also contradicts the rest.

A finding needs evidence. Either the form of its clearest token has the proposed label in at least `PLACES`
other places and the given one in at most a tenth as many; or its confusion is rare, with a share of at most
`RARE`. Other differences are weaknesses of the sources, and are only counted (`Audit.doubtful`). Where there
are more differences than half the sentences, the sources have learned from too little: then a finding needs
both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lcons_core import InvalidInput, bilou, bioes, detect_scheme, iob2
from lcons_core._schemes import OUTSIDE
from lcons_core._types import Floats, Ints
from lcons_core.learn._evidence import fold_bounds
from lcons_decode import ChainBatch, Hard, decode_batch
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.audit._rules import ALONE, KEYS, WordRules
from lcons_tasks.data import Sentence
from lcons_tasks.models import LinearSettings
from lcons_tasks.models._coded_text import CodedText, on_each_core
from lcons_tasks.models._linear_chain import LinearChain

MODEL = "model"
SOURCES = (MODEL, *KEYS)
DESIGNED = {"iob2": iob2, "bioes": bioes, "bilou": bilou}
# The share of sentences that may break a scheme, and the scheme is still the rule.
BROKEN = 0.02
FLOOR = 1e-6
# Folds, and those of more sentences, of which fewer are enough.
FOLDS, MANY, FOLDS_OF_MANY = 5, 5000, 3
# Tokens that decide on the weights.
MOST_TOKENS = 20_000
SETTINGS = LinearSettings(0.1, 0.1, iterations=100)
ODDS, RARITY = "odds", "rarity"
# Other places that are evidence, and the share of a confusion that is rare.
PLACES, RARE = 3, 0.1
# Differences per sentence from which on the sources are weak.
MOST_DIFFERENT = 0.5
# CRFs of more labels take hours: their time grows with the square.
MOST_LABELS = 400
# The share of O from which on the rank is rarity.
MOSTLY_OUTSIDE = 1 / 3

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reason:
    """A rule in words, its term of the log odds, and the number of other places that it was counted on (None
    for a model)."""

    rule: str
    log_odds: float
    places: int | None = None

    @property
    def tells(self) -> bool:
        """Whether it speaks for the proposed label, and rests on something."""
        return self.log_odds > 0 and self.places != 0


@dataclass(frozen=True)
class Finding:
    """The tokens first .. stop - 1 of a sentence (its number in the data from 1): their labels `given`, the
    relabelling `proposed`, the log odds and the reasons, the strongest first.

    Of the other tokens with the label of its `clearest` token, `alike` of `others` would be labelled alike.
    `places`: in how many other places the word of that token has the given and the proposed label.
    """

    sentence: int
    first: int
    stop: int
    given: tuple[str, ...]
    proposed: tuple[str, ...]
    log_odds: float
    reasons: tuple[Reason, ...]
    clearest: int
    alike: int = 0
    others: int = 0
    places: tuple[int, int] = (0, 0)

    @property
    def share(self) -> float:
        """The share of its confusion in other places."""
        return (self.alike + 0.5) / (self.others + 1)

    def is_evident(self, weak: bool) -> bool:
        """Whether the data have enough evidence for it; `weak`: the sources have learned from too little."""
        there, here = self.places
        known, rare = here >= PLACES and there <= here / 10, self.share <= RARE
        return known and rare if weak else known or rare

    @property
    def score(self) -> float:
        """The log odds minus the log of the share of its confusion: the rank `rarity`."""
        return self.log_odds - math.log(self.share)

    @property
    def confusion(self) -> tuple[str, str]:
        """The given and the proposed label of the clearest token."""
        at = self.clearest - self.first
        return self.given[at], self.proposed[at]


@dataclass(frozen=True)
class Audit:
    """The findings, by falling odds or score (`rank`); the weight of each source; the scheme of labels; the
    number of `doubtful` differences, without enough evidence for a finding."""

    sentences: tuple[Sentence, ...]
    findings: tuple[Finding, ...]
    weights: dict[str, float]
    scheme: str | None
    rank: str
    doubtful: int = 0

    def relabelled(self, finding: Finding) -> tuple[str, ...]:
        """The labels of the whole sentence of a finding, with its relabelling."""
        labels = list(self.sentences[finding.sentence - 1].labels)
        labels[finding.first : finding.stop] = finding.proposed
        return tuple(labels)

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Plain data, with at most so many findings."""
        return {
            "sentences": len(self.sentences),
            "findings": [
                {**asdict(one), "score": one.score, "words": list(self.sentences[one.sentence - 1].words)}
                for one in self.findings[:most]
            ],
            "found": len(self.findings),
            "doubtful": self.doubtful,
            "weights": dict(self.weights),
            "scheme": self.scheme,
            "rank": self.rank,
        }


def audit(sentences: Sequence[Sentence], *, progress: Progress | None = None) -> Audit:
    """The labels of sentences that the rest of the sentences contradicts.

    >>> drugs = ["aspirin", "codeine"] * 10
    >>> right = [Sentence(("give", drug, "now"), ("O", "B-DRUG", "O")) for drug in drugs]
    >>> wrong = Sentence(("take", "aspirin", "now"), ("O", "O", "O"))
    >>> [(one.sentence, one.given, one.proposed) for one in audit([*right, wrong]).findings]
    [(21, ('O',), ('B-DRUG',))]
    """
    given = tuple(sentences)
    bounds = fold_bounds(len(given), FOLDS if len(given) <= MANY else FOLDS_OF_MANY)
    if len(bounds) < 2 or not all(len(sentence) for sentence in given):
        raise InvalidInput(
            f"an audit needs at least two sentences with words: got {len(given)}; pass more labelled ones."
        )
    labels = tuple(sorted({label for sentence in given for label in sentence.labels}))
    if len(labels) > MOST_LABELS:
        raise InvalidInput(f"an audit of over {MOST_LABELS} labels would take hours: got {len(labels):,}.")
    index = {label: i for i, label in enumerate(labels)}
    y = np.array([index[label] for sentence in given for label in sentence.labels])
    offsets = np.cumsum([0, *(len(sentence) for sentence in given)])
    rules = WordRules([sentence.words for sentence in given], y, len(labels))
    chains = list(_out_of_fold(given, bounds, labels, progress))
    weights = _weights(chains, bounds, offsets, rules, y)
    scheme = _scheme(given)
    hard = [Hard(DESIGNED[scheme](labels), f"{scheme} scheme")] if scheme else []
    findings: list[Finding] = []
    for (first, stop), batch in zip(bounds, chains, strict=True):
        tokens = slice(int(offsets[first]), int(offsets[stop]))
        pooled = _Pool(batch, rules, tokens, weights)
        decoded = decode_batch(iter(pooled.chain), hard)
        for number, (sentence, answer) in enumerate(zip(given[first:stop], decoded, strict=True)):
            findings += pooled.findings(number, first + number + 1, sentence, answer.y)
    counts = Counter(label for one in given for label in one.labels)
    rank = RARITY if counts[OUTSIDE] >= MOSTLY_OUTSIDE * len(y) else ODDS
    shares = dict(zip(SOURCES, weights.tolist(), strict=True))
    ranked = _ranked(findings, counts, rank)
    weak = len(ranked) > MOST_DIFFERENT * len(given)
    evident = tuple(finding for finding in ranked if finding.is_evident(weak))
    return Audit(given, evident, shares, scheme, rank, len(ranked) - len(evident))


def _ranked(findings: Sequence[Finding], labels: Mapping[str, int], rank: str) -> tuple[Finding, ...]:
    """The findings by falling odds or score, with the number of others like them."""
    confusions = Counter(pair for one in findings for pair in zip(one.given, one.proposed, strict=True))
    counted = [
        replace(one, alike=confusions[one.confusion] - 1, others=labels[one.confusion[0]] - 1)
        for one in findings
    ]
    return tuple(sorted(counted, key=lambda one: -(one.score if rank == RARITY else one.log_odds)))


def _out_of_fold(
    sentences: Sequence[Sentence],
    bounds: Sequence[tuple[int, int]],
    labels: tuple[str, ...],
    progress: Progress | None,
) -> Iterator[ChainBatch]:
    """The scores of each fold by a model of the others."""
    text = CodedText.of(sentence.x for sentence in sentences)
    others = [[i for i in range(len(sentences)) if not first <= i < stop] for first, stop in bounds]

    def trained(chosen: Sequence[int]) -> LinearChain:
        return text.train(chosen, [sentences[i].labels for i in chosen], SETTINGS, labels)

    for done, ((first, stop), model) in enumerate(zip(bounds, on_each_core(trained, others), strict=True)):
        if progress is not None:
            progress("training models of the folds", done, len(bounds))
        yield text.scores(model, first, stop)


def _scheme(sentences: Sequence[Sentence]) -> str | None:
    """The scheme that the labels obey, but for a few sentences; None if there is none."""
    usual = detect_scheme(sentence.labels for sentence in sentences)
    if usual is not None:
        return usual
    labels = sorted({label for sentence in sentences for label in sentence.labels})
    for name, rules in DESIGNED.items():
        try:
            constraint = rules(labels)
        except InvalidInput:
            continue
        broken = sum(not constraint.satisfied(sentence.labels) for sentence in sentences)
        if broken <= BROKEN * len(sentences):
            return name
    return None


def _weights(
    chains: Sequence[ChainBatch],
    bounds: Sequence[tuple[int, int]],
    offsets: Ints,
    rules: WordRules,
    y: Ints,
) -> Floats:
    """(sources,) the weights under which the pool predicts the given labels best."""
    from scipy.optimize import minimize

    stacks: list[Floats] = []
    golds: list[Ints] = []
    each = max(1, MOST_TOKENS // len(bounds))
    for (first, stop), batch in zip(bounds, chains, strict=True):
        start, end = int(offsets[first]), int(offsets[stop])
        tokens = slice(start, min(end, start + each))
        sources = [marginals_batch(batch)[: tokens.stop - start], *rules.probabilities(tokens)]
        stacks.append(_log(np.stack(sources, axis=2)))
        golds.append(y[tokens])
    F, gold = np.concatenate(stacks), np.concatenate(golds)
    at = F[np.arange(len(gold)), gold]

    def loss(w: Floats) -> tuple[float, Floats]:
        z = F @ w
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z)
        total = p.sum(axis=1, keepdims=True)
        value = float((np.log(total[:, 0]) - z[np.arange(len(gold)), gold]).mean())
        gradient = np.einsum("tl,tlk->k", p / total, F) / len(gold) - at.mean(axis=0)
        return value, gradient

    K = F.shape[2]
    found = minimize(loss, np.full(K, 1 / K), jac=True, method="L-BFGS-B", bounds=[(0, None)] * K)
    return np.asarray(found.x)


class _Pool:
    """The pool of the sentences of a fold: `chain` has z_t as its emissions, without transitions."""

    def __init__(self, batch: ChainBatch, rules: WordRules, tokens: slice, weights: Floats) -> None:
        self.rules, self.start, self.weights = rules, tokens.start, weights
        self.logs = [_log(source) for source in (marginals_batch(batch), *rules.probabilities(tokens))]
        emission = sum(weight * log for weight, log in zip(weights, self.logs, strict=True))
        none = {name: np.zeros_like(getattr(batch, name)) for name in ("transition", "start", "stop")}
        self.chain = replace(batch, emission=emission, **none)
        self.index = {label: i for i, label in enumerate(batch.labels)}

    def findings(
        self, number: int, sentence: int, given: Sentence, best: tuple[str, ...]
    ) -> Iterator[Finding]:
        """The findings of the sentence with this number in the fold."""
        start = int(self.chain.offsets[number])
        for first, stop in _runs(given.labels, best):
            odds = [
                float(self.chain.emission[start + t, self.index[best[t]]])
                - float(self.chain.emission[start + t, self.index[given.labels[t]]])
                for t in range(first, stop)
            ]
            if max(odds) > 0:
                clearest = first + int(np.argmax(odds))
                reasons = self._reasons(start + clearest, clearest, given, best[clearest])
                both = (given.labels[first:stop], best[first:stop])
                places = self._places(start + clearest, given.labels[clearest], best[clearest])
                yield Finding(
                    sentence, first, stop, *both, max(odds), tuple(reasons), clearest, places=places
                )

    def _places(self, at: int, given: str, proposed: str) -> tuple[int, int]:
        """How often the word of a token has the given and the proposed label elsewhere."""
        counts = self.rules.counts[ALONE].elsewhere(slice(self.start + at, self.start + at + 1))[0]
        return int(counts[self.index[given]]), int(counts[self.index[proposed]])

    def _reasons(self, at: int, t: int, given: Sentence, proposed: str) -> list[Reason]:
        """The terms of the log odds of one token: `at` in the fold, `t` in its sentence."""
        old, new = self.index[given.labels[t]], self.index[proposed]
        terms = [
            float(weight * (log[at, new] - log[at, old]))
            for weight, log in zip(self.weights, self.logs, strict=True)
        ]
        found = [Reason(f"a model of the other folds reads {given.words[t]!r} as {proposed}", terms[0])]
        for name, term in zip(KEYS, terms[1:], strict=True):
            counts = self.rules.counts[name].elsewhere(slice(self.start + at, self.start + at + 1))[0]
            context = _context(name, given.words, t)
            alone = self.rules.counts[ALONE].elsewhere(slice(self.start + at, self.start + at + 1))[0]
            if counts.sum():
                places = (
                    f"{context} is {proposed} in {counts[new]:.0f} of {counts.sum():.0f} other places,"
                    f" {given.labels[t]} in {counts[old]:.0f}"
                )
            elif alone.sum():  # the rule has the probabilities of the word alone
                places = f" is usually {proposed}, and{context} it stands nowhere else"
            else:  # those of all words
                share = self.rules.share[new]
                places = f" stands nowhere else, and {share:.0%} of all words are {proposed}"
            found.append(Reason(f"{given.words[t]!r}{places}", term, int(counts.sum() or alone.sum())))
        return sorted(found, key=lambda one: -abs(one.log_odds))


def _log(source: Floats) -> Floats:
    return np.log(np.maximum(source, FLOOR))


def _context(name: str, words: Sequence[str], t: int) -> str:
    """The neighbour of a word in a key, in words."""
    if name.endswith("before it"):
        return f" after {words[t - 1]!r}" if t else " at the start of a sentence"
    if name.endswith("after it"):
        return f" before {words[t + 1]!r}" if t + 1 < len(words) else " at the end of a sentence"
    return ""


def _runs(given: Sequence[str], best: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(first, stop) of each run of tokens with other labels.

    >>> list(_runs("aabba", "abbab"))
    [(1, 2), (3, 5)]
    """
    first = None
    for t, differs in enumerate([*(a != b for a, b in zip(given, best, strict=True)), False]):
        if differs and first is None:
            first = t
        elif not differs and first is not None:
            yield first, t
            first = None
