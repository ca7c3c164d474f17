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

    score = log odds - log share,      share = (C(g, h) + 1/2) / n(g)

where g and h are the given and the proposed label of the clearest token, and C(g, h) of the other n(g) - 1
tokens labelled g would be labelled h (half a token more, so that a confusion without another place has a
share). Confident learning (Northcutt et al. 2021) counts the same confusions. Rarity was better on five
sets of entities and slots, and not on chunks and references, where few labels or none stand for "nothing
here". So the rank is rarity if at least a third of the tokens are O, else odds.

A finding needs a score that chance does not reach among so many tokens: at least

    CLEAR + log(number of tokens) / 2

Other differences are weaknesses of the sources, and are only counted (`Audit.doubtful`). Where there are more
differences than sentences, the sources have learned from too little: then at most one finding per
`SENTENCES` sentences is shown, by rarity. Both were chosen on samples of 60 and 400 sentences, with and
without planted errors. A score is not the probability of an error: a rare but right label also contradicts
the rest.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lcons_core import InvalidInput, detect_scheme
from lcons_core._schemes import OUTSIDE
from lcons_core._types import Floats, Ints
from lcons_core.learn._evidence import fold_bounds
from lcons_decode import ChainBatch, Hard, decode_batch
from lcons_decode.chains._marginals import marginals_batch
from lcons_tasks.audit._rules import RULES, WordRules
from lcons_tasks.data import Sentence
from lcons_tasks.fitted._bases import Base
from lcons_tasks.fitted._fit import MOST_LABELS
from lcons_tasks.fitted._fitted_tagger import DESIGNED

SOURCES = ("model", *RULES)
# The share of sentences that may break a scheme, and the scheme is still the rule.
BROKEN = 0.02
FLOOR = 1e-6
# Folds, and those of more sentences, of which fewer are enough.
FOLDS, MANY, FOLDS_OF_MANY = 5, 5000, 3
# Tokens that decide on the weights.
MOST_TOKENS = 20_000
PENALTIES, ITERATIONS = (0.1, 0.1), 100
# The score that a finding needs, and sentences per finding of weak sources.
CLEAR, SENTENCES = 4.0, 20
ODDS, RARITY = "odds", "rarity"
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


@dataclass(frozen=True)
class Finding:
    """The tokens first .. stop - 1 of a sentence (its number in the data from 1): their labels `given`, the
    relabelling `proposed`, the log odds and the reasons, the strongest first.

    Of the `others`, tokens with the same label as its `clearest` token, `alike` would be labelled alike.
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

    @property
    def score(self) -> float:
        """The log odds minus the log of the share of its confusion in other places."""
        return self.log_odds - math.log((self.alike + 0.5) / (self.others + 1))

    @property
    def confusion(self) -> tuple[str, str]:
        """The given and the proposed label of the clearest token."""
        at = self.clearest - self.first
        return self.given[at], self.proposed[at]


@dataclass(frozen=True)
class Audit:
    """The findings by falling odds or score (`rank`); the weight of each source; the scheme of labels; the
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
        findings = [
            {**asdict(finding), "score": finding.score, "words": self.sentences[finding.sentence - 1].words}
            for finding in self.findings[:most]
        ]
        return {
            "sentences": len(self.sentences),
            "findings": findings,
            "found": len(self.findings),
            "doubtful": self.doubtful,
            "weights": self.weights,
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
    sentences = tuple(sentences)
    bounds = fold_bounds(len(sentences), FOLDS if len(sentences) <= MANY else FOLDS_OF_MANY)
    if len(bounds) < 2 or not all(len(sentence) for sentence in sentences):
        raise InvalidInput(f"an audit needs at least two sentences with words: got {len(sentences)}.")
    counts = Counter(label for sentence in sentences for label in sentence.labels)
    labels = tuple(sorted(counts))
    if len(labels) > MOST_LABELS:
        raise InvalidInput(f"an audit of over {MOST_LABELS} labels would take hours: got {len(labels):,}.")
    index = {label: i for i, label in enumerate(labels)}
    y = np.array([index[label] for sentence in sentences for label in sentence.labels])
    offsets = np.cumsum([0, *(len(sentence) for sentence in sentences)]).tolist()
    rules = WordRules([sentence.words for sentence in sentences], y, len(labels))
    folds = [
        _Fold(batch, rules, bound, offsets[bound[0]])
        for bound, batch in zip(bounds, _out_of_fold(sentences, bounds, progress), strict=True)
    ]
    weights = _weights(folds, y)
    scheme = _scheme(sentences, labels)
    hard = [Hard(DESIGNED[scheme](labels), f"{scheme} scheme")] if scheme else []
    differences = [finding for fold in folds for finding in fold.findings(sentences, weights, hard)]
    confusions = Counter(pair for d in differences for pair in zip(d.given, d.proposed, strict=True))
    counted = [
        replace(d, alike=confusions[d.confusion] - 1, others=counts[d.confusion[0]] - 1) for d in differences
    ]
    clear = [d for d in counted if d.score >= CLEAR + math.log(len(y)) / 2]
    weak = len(counted) > len(sentences)
    rank = RARITY if weak or counts[OUTSIDE] >= MOSTLY_OUTSIDE * len(y) else ODDS
    clear.sort(key=lambda d: -(d.score if rank == RARITY else d.log_odds))
    findings = tuple(clear[: max(1, len(sentences) // SENTENCES)] if weak else clear)
    shares = dict(zip(SOURCES, weights.tolist(), strict=True))
    return Audit(sentences, findings, shares, scheme, rank, len(counted) - len(findings))


def _out_of_fold(
    sentences: Sequence[Sentence], bounds: Sequence[tuple[int, int]], progress: Progress | None
) -> Iterator[ChainBatch]:
    """The scores of each fold by a model of the others."""
    base = Base(sentences, (), ITERATIONS)
    others = [[i for i in range(len(sentences)) if not first <= i < stop] for first, stop in bounds]
    for done, (bound, model) in enumerate(zip(bounds, base.train_each(others, PENALTIES), strict=True)):
        if progress is not None:
            progress("training models of the folds", done, len(bounds))
        yield base.scores(model, *bound)


def _scheme(sentences: Sequence[Sentence], labels: Sequence[str]) -> str | None:
    """The scheme that the labels obey, but for a few sentences; None if there is none."""
    if usual := detect_scheme(sentence.labels for sentence in sentences):
        return usual
    for name, rules in DESIGNED.items():
        with contextlib.suppress(InvalidInput):  # labels of another scheme
            constraint = rules(labels)
            broken = sum(not constraint.satisfied(sentence.labels) for sentence in sentences)
            if broken <= BROKEN * len(sentences):
                return name
    return None


class _Fold:
    """The sentences first .. stop - 1, whose tokens begin at `start`, and the sources that judge them."""

    def __init__(self, batch: ChainBatch, rules: WordRules, bound: tuple[int, int], start: int) -> None:
        self.batch, self.rules, self.bound, self.start = batch, rules, bound, start

    def logs(self, most: int | None = None) -> Floats:
        """(tokens, L, sources) the logarithms of the sources' probabilities, of the first tokens."""
        tokens = slice(self.start, self.start + len(self.batch.emission[:most]))
        sources = [marginals_batch(self.batch)[:most], *self.rules.probabilities(tokens)]
        return np.log(np.maximum(np.stack(sources, axis=2), FLOOR))

    def findings(
        self, sentences: Sequence[Sentence], weights: Floats, hard: Sequence[Hard]
    ) -> Iterator[Finding]:
        """All differences between the given labels and the best labelling."""
        index = {label: i for i, label in enumerate(self.batch.labels)}
        logs = self.logs()
        none = {name: np.zeros_like(getattr(self.batch, name)) for name in ("transition", "start", "stop")}
        pool = replace(self.batch, emission=logs @ weights, **none)
        decoded = decode_batch(iter(pool), hard)
        for number, answer, offset in zip(range(*self.bound), decoded, pool.offsets.tolist(), strict=False):
            sentence, best = sentences[number], answer.y
            for first, stop in _runs(sentence.labels, best):
                terms = [
                    weights * (logs[offset + t, index[best[t]]] - logs[offset + t, index[sentence.labels[t]]])
                    for t in range(first, stop)
                ]
                odds = [float(term.sum()) for term in terms]
                if (log_odds := max(odds)) > 0:
                    at = odds.index(log_odds)
                    reasons = self._reasons(offset, first + at, sentence, best[first + at], terms[at])
                    labels = (sentence.labels[first:stop], best[first:stop])
                    yield Finding(number + 1, first, stop, *labels, log_odds, reasons, first + at)

    def _reasons(
        self, offset: int, t: int, sentence: Sentence, proposed: str, terms: Floats
    ) -> tuple[Reason, ...]:
        """The terms of the log odds of word t of a sentence."""
        old, new = (self.batch.labels.index(label) for label in (sentence.labels[t], proposed))
        word = sentence.words[t]
        reasons = [Reason(f"a model of the other folds reads {word!r} as {proposed}", float(terms[0]))]
        evidence = self.rules.evidence(self.start + offset + t, sentence.words, t)
        for (key, n), term in zip(evidence, terms[1:].tolist(), strict=True):
            rule = (
                f"{key} is {proposed} in {n[new]:.0f} of {n.sum():.0f} other places, {sentence.labels[t]} in"
                f" {n[old]:.0f}"
            )
            reasons.append(Reason(rule, term, int(n.sum())))
        return tuple(sorted(reasons, key=lambda reason: -abs(reason.log_odds)))


def _weights(folds: Sequence[_Fold], y: Ints) -> Floats:
    """(sources,) the weights under which the pool predicts the given labels best."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    stacks = [fold.logs(max(1, MOST_TOKENS // len(folds))) for fold in folds]
    F = np.concatenate(stacks)
    gold = np.concatenate([y[fold.start :][: len(f)] for fold, f in zip(folds, stacks, strict=True)])
    at = F[np.arange(len(gold)), gold]

    def loss(w: Floats) -> tuple[float, Floats]:
        z = F @ w
        value = float((logsumexp(z, axis=1) - z[np.arange(len(gold)), gold]).mean())
        gradient = np.einsum("tl,tlk->k", softmax(z, axis=1), F) / len(gold) - at.mean(axis=0)
        return value, gradient

    K = F.shape[2]
    best = minimize(loss, np.full(K, 1 / K), jac=True, method="L-BFGS-B", bounds=[(0, None)] * K)
    return np.asarray(best.x)


def _runs(labels: Sequence[str], best: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(first, stop) of each run of tokens with other labels.

    >>> list(_runs("aabba", "abbab"))
    [(1, 2), (3, 5)]
    """
    edges = np.flatnonzero(np.diff([0, *(a != b for a, b in zip(labels, best, strict=True)), 0]))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
