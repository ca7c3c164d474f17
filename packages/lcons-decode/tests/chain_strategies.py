"""Small chains and constraints on them, an enumeration that shares no code with the decoders, and the
paper's beam.

Scores and weights are sixteenths, so float sums of them are exact; only soft penalties need a tolerance.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import inf

import numpy as np
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core._blocks import OTHER
from lcons_core._network import Conjunction
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels
from lcons_core.features._ngrams import START, STOP
from lcons_core.testing import networks
from lcons_decode import ChainBatch, ChainConstraints, ChainScores, Hard, Soft, Violation
from lcons_decode._constraints import COSTS
from lcons_decode.chains._ngrams import broken, penalties
from lcons_decode.chains._windows import lay_out

TOLERANCE = 1e-9
LABELS = ("a", "b", "c", "d")
CONTEXTS = ("x", "y")

sixteenths = st.integers(-16, 16).map(lambda number: number / 16)


# Hypothesis draws and shrinks the shapes; the numbers come from a drawn seed, which is faster.
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def chains(draw, max_T=5, max_L=4, min_T=0, forbids=True):
    """Scores of one sequence, at most 300 labellings; some of them with -inf."""
    L = draw(st.sampled_from([*range(2, max_L + 1), 1]))
    longest = max(t for t in range(max_T + 1) if L**t <= 300)
    T = draw(st.sampled_from(range(longest, min_T - 1, -1)))
    rng, scale = draw(generators), draw(st.sampled_from([16, 1, 0]))
    forbidden = draw(st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.4])) if forbids else 0.0

    def array(*shape):
        return np.where(rng.random(shape) < forbidden, -inf, rng.integers(-scale, scale + 1, shape) / 16)

    return ChainScores(array(T, L), array(L, L), array(L), array(L), labels=LABELS[:L])


@st.composite
def sequences_of_one_model(draw, max_T=5, max_L=4, forbids=True):
    """Scores of sequences that share labels, transitions, start and stop."""
    first, rng = draw(chains(max_T, max_L, forbids=forbids)), draw(generators)
    lengths = draw(st.lists(st.integers(0, max_T), max_size=4))
    emissions = [rng.integers(-16, 17, (T, first.L)) / 16 for T in lengths]
    return [first, *(replace(first, emission=emission) for emission in emissions)]


def columns(T):
    """x with contexts of the features, and one that is unknown to them."""
    return st.lists(st.sampled_from("xyz"), min_size=T, max_size=T).map(lambda column: {"pos": column})


@st.composite
def sequence_features(draw, labels, max_n=4):
    """n-grams with and without contexts and padding; labels in any order, sometimes with one more label."""
    known = tuple(draw(st.permutations([*labels, *(["e"] if draw(st.booleans()) else [])])))
    n, pad = draw(st.integers(1, max_n)), draw(st.booleans())
    n = max(n, 2) if pad else n
    if draw(st.booleans()):
        return NgramContext(known, CONTEXTS, n, pad=pad)
    return NgramLabels(known, n, pad)


@st.composite
def learned(draw, feature):
    """A constraint of one network or two, small ones or `networks` of lcons_core.testing; from strict to
    lenient."""
    d, parts = feature.space.d, []
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.integers(0, 4)) == 4 and d <= 12:
            parts.append(draw(networks(max_K=2, d=d)))
        else:
            rng, K = draw(generators), draw(st.integers(1, 3))
            W, b = rng.integers(-32, 33, (K, d)) / 16, rng.integers(-32, 33, K) / 16
            parts.append(RectifierNetwork(W, b - draw(st.sampled_from([1.0, 0.0, 2.0]))))
    return LearnedConstraint(Conjunction(tuple(parts)), feature.space, feature)


soft_weights = st.integers(0, 20).map(lambda quarters: quarters / 4)


@st.composite
def softened(draw, constraint, name):
    """The constraint as a preference of any weight and cost; some record the violations of training."""
    cost, scale = draw(st.sampled_from(COSTS)), draw(st.sampled_from([None, 0.5, 2.0]))
    provenance = {} if scale is None else {"violation": scale}
    return Soft(replace(constraint, provenance=provenance), draw(soft_weights), name, cost)


@st.composite
def local_uses(draw, labels, min_size=1, max_size=3, max_n=4, kinds=("hard", "soft")):
    """Local constraints, hard and soft, of different n."""
    uses = []
    for i in range(draw(st.integers(min_size, max_size))):
        hard = draw(st.sampled_from(kinds)) == "hard"
        constraint = draw(learned(draw(sequence_features(labels, max_n))))
        if hard:
            uses.append(Hard(constraint, f"c{i}"))
        else:
            uses.append(draw(softened(constraint, f"c{i}")))
    return uses


@st.composite
def global_uses(draw, labels, kinds=("hard", "soft")):
    """One constraint on the labels that occur, or on their counts."""
    feature = draw(st.sampled_from([Existence(labels, 1), Existence(labels, 2), Counts(labels, high=8)]))
    constraint = draw(learned(feature))
    if draw(st.sampled_from(kinds)) == "hard":
        return Hard(constraint, "whole")
    return draw(softened(constraint, "whole"))


@st.composite
def problems(draw, kinds=("hard", "soft"), max_T=5, max_L=4, max_n=4, min_uses=1, max_uses=3, min_T=0):
    """(scores, constraints, x)."""
    scores = draw(chains(max_T, max_L, min_T))
    uses = draw(local_uses(scores.labels, min_uses, max_uses, max_n, kinds))
    return scores, uses, draw(columns(len(scores)))


hard_problems = problems(kinds=("hard",))


def is_soft(uses):
    """Whether scores include penalties, and are therefore rounded."""
    return any(isinstance(use, Soft) and use.weight for use in uses)


def agree(a, b, uses):
    """Whether scores are equal: exactly, or up to rounding if they include penalties."""
    return a == b or (is_soft(uses) and abs(a - b) <= TOLERANCE)


def window_psi(feature, y, x, t, T):
    """psi of the window that position t completes (T for STOP), by names; None if there is none."""
    if not T or (not feature.pad and (t < feature.n - 1 or t == T)):
        return None
    choice = {}
    for i in range(feature.n):
        at, suffix = t - feature.n + 1 + i, "" if feature.n == 1 else f" {i + 1}"
        choice[f"label{suffix}"] = START if at < 0 else STOP if at == T else y[at]
        if isinstance(feature, NgramContext):
            inside = 0 <= at < T and x["pos"][at] in feature.contexts
            choice[f"pos{suffix}"] = x["pos"][at] if inside else OTHER
    return feature.space.vector(choice)


class Windows:
    """The verdict of each constraint on each window, by its network, one psi at a time, cached."""

    def __init__(self, uses, x, T):
        self.x, self.T, self.known = x, T, {}
        self.local = [u for u in uses if isinstance(u.constraint.feature, NgramLabels | NgramContext)]
        self.whole = [u for u in uses if u not in self.local]

    def broken(self, y, t):
        """The hard violations of the windows that position t completes."""
        hard = (use for use in self.local if isinstance(use, Hard))
        return [Violation(use.name, t) for use in hard if not self._ask(use, y, t)[0]]

    def penalty(self, y, t):
        """The soft penalties of the windows that position t completes."""
        return sum(use.weight * self._ask(use, y, t)[1] for use in self.local if isinstance(use, Soft))

    def _ask(self, use, y, t):
        key = use.name, t, tuple(y[max(0, t - use.constraint.feature.n + 1) : t + 1])
        if key not in self.known:
            self.known[key] = _verdict(use, window_psi(use.constraint.feature, y, self.x, t, self.T))
        return self.known[key]


def _verdict(use, psi):
    """(accepted, penalty at weight 1); without a psi: accepted, at no cost."""
    if psi is None:
        return True, 0.0
    margin = float(use.constraint.margin(psi))
    penalty = {
        "sigmoid": lambda: -float(np.logaddexp(0.0, -margin)),
        "hinge": lambda: -max(0.0, -margin),
        "standard": lambda: -max(0.0, -margin) / use.constraint.provenance.get("violation", 1.0),
    }
    return use.constraint.accepts(psi), penalty[getattr(use, "cost", "sigmoid")]()


@dataclass(frozen=True)
class Enumerated:
    """A labelling with its exact score, its penalties, and its violations."""

    y: tuple
    base: Fraction | float
    penalty: float
    violations: tuple

    @property
    def score(self):
        return float(self.base) + self.penalty


def exact_score(scores, ids):
    """The score as a rational; -inf if an entry is."""
    if not len(ids):
        return Fraction(0)
    entries = [
        scores.start[ids[0]],
        *(scores.emission[t, c] for t, c in enumerate(ids)),
        scores.stop[ids[-1]],
    ]
    entries += [scores.transition[a, b] for a, b in pairwise(ids)]
    return -inf if -inf in entries else sum((Fraction(float(e)) for e in entries), Fraction(0))


def enumerated(scores, uses=(), x=None):
    """Every labelling of finite score in declared label order."""
    T, windows = len(scores), Windows(uses, x, len(scores))
    found = []
    for ids in product(range(scores.L), repeat=T):
        base, y = exact_score(scores, ids), tuple(scores.labels[c] for c in ids)
        if base == -inf:
            continue
        violations, penalty = [], 0.0
        for t in range(T + 1):
            violations += windows.broken(y, t)
            penalty += windows.penalty(y, t)
        for use in windows.whole:
            accepted, cost = _verdict(use, use.constraint.feature.psi(list(y)).dense()[0])
            if isinstance(use, Soft):
                penalty += use.weight * cost
            elif not accepted:
                violations.append(Violation(use.name, None))
        found.append(Enumerated(y, base, penalty, tuple(violations)))
    return found


def best_of(found):
    """(best, whether no other comes close): the fewest violations, then the score; ties go to the first."""
    least = min(len(each.violations) for each in found)
    rest = [each for each in found if len(each.violations) == least]
    best = max(rest, key=lambda each: each.score)
    return best, all(each is best or each.score < best.score - TOLERANCE for each in rest)


def dense_best(scores, uses, x=None):
    """(broken, score, y): the fewest broken windows and, among those, the best score and its first labelling,
    by a program over all states."""
    layout = lay_out(
        ChainBatch.of([scores]), ChainConstraints.of(uses, scores.labels), None if x is None else [x]
    )
    T, L = scores.emission.shape
    V, S = L + 1, (L + 1) ** layout.m
    states = np.arange(S)
    arcs = np.append(scores.transition, np.full((1, L), -inf), axis=0)[states % V]
    counts = broken(states * V + L, T, layout.lists)
    suffix = np.append(scores.stop, -inf)[states % V] + penalties(states * V + L, T, layout.units, V)
    choices = []
    for t in range(T - 1, -1, -1):
        grams = states[:, None] * V + np.arange(L)
        onward = np.where(states[:, None] == S - 1, scores.start, -inf) if t == 0 else arcs
        values = onward + (scores.emission[t] + suffix[grams % S]) + penalties(grams, t, layout.units, V)
        totals = counts[grams % S] + broken(grams, t, layout.lists)
        least = np.where(values > -inf, totals, np.iinfo(np.int64).max)
        values = np.where(least == least.min(1, keepdims=True), values, -inf)
        choices.append(values.argmax(1))
        suffix, counts = values.max(1), totals[states, choices[-1]]
    y, state = [], S - 1
    for choice in reversed(choices):
        y.append(choice[state])
        state = (state * V + choice[state]) % S
    return int(counts[S - 1]), float(suffix[S - 1]), scores.names(y)


@dataclass(frozen=True)
class ReferenceBeam:
    """The last beam, best first; `close`: whether rounding might change the order of candidates."""

    beam: tuple
    fallbacks: int
    close: bool


def reference_beam(scores, uses, x, width, rerank=False):
    """The beam of Sec. 5 and 6, candidate by candidate: filter before truncation and do not fill up; if no
    candidate passes, use the unfiltered ones."""
    T, windows = len(scores), Windows(uses, x, len(scores))
    index = {label: c for c, label in enumerate(scores.labels)}
    beam, fallbacks, close = [((), 0.0)], 0, False
    for t in range(T + 1 if T else 0):
        candidates = []
        for y, so_far in beam:
            for label in scores.labels if t < T else ("",):
                longer, total = y, so_far
                if t == T:
                    total += scores.stop[index[y[-1]]]
                else:
                    longer, c = (*y, label), index[label]  # type: ignore[assignment]
                    total += scores.emission[t, c]
                    total += scores.start[c] if t == 0 else scores.transition[index[y[-1]], c]
                candidates.append((longer, float(total + windows.penalty(longer, t))))
        candidates = sorted((c for c in candidates if c[1] > -inf), key=lambda c: -c[1])
        close |= any(a[1] - b[1] <= TOLERANCE for a, b in pairwise(candidates))
        satisfying = [c for c in candidates if not windows.broken(c[0], t)]
        others = [c for c in candidates if c not in satisfying]
        fallbacks += not satisfying
        if t == T and rerank:
            # STOP adds its score, but candidates that violate at the last token stay behind the others.
            satisfying = [c for c in satisfying if not windows.broken(c[0], T - 1)]
            others = [c for c in candidates if c not in satisfying]
        if not satisfying:
            satisfying, others = others, []
        beam = (satisfying + (others if rerank else []))[:width]
        if not beam:
            break
    return ReferenceBeam(tuple(beam), fallbacks, close)
