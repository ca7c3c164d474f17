"""What constraints, features and decoders mean, by definition: rationals and enumeration, nothing of lcons.

    network        accepts psi iff margin = 1 - sum_k ReLU(w_k . psi + b_k) >= 0; several networks: iff all do
    union          accepts psi iff one of its members does
    rows           1 - sum_{k in S} (w_k . psi + b_k) >= 0, for every non-empty S (Theorem 1)
    space          one value per one-hot block (or none, OTHER), 0/1 columns, bounded counts, requirements
    n-grams        one psi per window of n labels; with padding n - 1 START before and one STOP after
    chain          score(y) = start[y_1] + sum emission[t, y_t] + sum transition[y_t, y_t+1] + stop[y_T]
    decoding       the fewest broken hard parts, then the best score with the costs of soft parts, then the
                   first labelling in declared label order
    graph          one label per candidate, one relation per ordered pair, in the same order

Everything arrives as plain lists and dicts of floats and names, as the drawn cases (`draws.py`) hold them. A
float is the rational that it stores. psi is a dict from column to value, without zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

Psi = Mapping[int, Any]
Case = Mapping[str, Any]

OTHER, START, STOP = "(other)", "(start)", "(stop)"
NEVER = -math.inf


def common_scale(numbers: Iterable[float]) -> int:
    """The least integer that makes every number whole when multiplied with it."""
    return max((number.as_integer_ratio()[1] for number in numbers), default=1)


def whole(number: float, scale: int) -> int:
    """number * scale, which must be an integer."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (scale // denominator)


class Networks:
    """Networks `[[W, b], ...]`, as integers over one scale."""

    def __init__(self, parts: Sequence[Any]) -> None:
        floats = [
            [[float(w) for w in row] + [float(bias)] for row, bias in zip(*part, strict=True)]
            for part in parts
        ]
        self.scale = common_scale(x for part in floats for unit in part for x in unit)
        self.parts = [[[whole(x, self.scale) for x in unit] for unit in part] for part in floats]

    @property
    def units(self) -> list[list[int]]:
        """The units of all parts: w and b, times the scale."""
        return [unit for part in self.parts for unit in part]

    def activations(self, psi: Psi) -> list[list[Any]]:
        """w_k . psi + b_k times the scale, part by part."""
        items = list(psi.items())
        return [[unit[-1] + sum(unit[j] * v for j, v in items) for unit in part] for part in self.parts]

    def margin(self, psi: Psi) -> Fraction:
        """The least margin of the parts."""
        worst = max(sum(a for a in part if a > 0) for part in self.activations(psi))
        return Fraction(self.scale - worst) / self.scale

    def accepts(self, psi: Psi) -> bool:
        """Whether every part accepts."""
        return all(sum(a for a in part if a > 0) <= self.scale for part in self.activations(psi))

    def rows(self) -> list[tuple[tuple[int, ...], list[Fraction]]]:
        """(S, coefficients and bias) of every non-empty S of the units of a part, in binary counting."""
        found, first = [], 0
        for part in self.parts:
            for bits in range(1, 2 ** len(part)):
                S = [k for k in range(len(part)) if bits >> k & 1]
                *sums, b = (sum(column) for column in zip(*(part[k] for k in S), strict=True))
                row = [*(Fraction(-total, self.scale) for total in sums), 1 - Fraction(b, self.scale)]
                found.append((tuple(first + k for k in S), row))
            first += len(part)
        return found


class Union:
    """Several sets, of which one must accept."""

    def __init__(self, members: Sequence[Any]) -> None:
        self.members = [Networks(parts) for parts in members]

    @property
    def units(self) -> list[list[int]]:
        """The units of all members, each times the scale of its member."""
        return [unit for member in self.members for unit in member.units]

    @property
    def scale(self) -> int:
        """The least scale of the members."""
        return min(member.scale for member in self.members)

    def margin(self, psi: Psi) -> Fraction:
        """The largest margin of the members."""
        return max(member.margin(psi) for member in self.members)

    def accepts(self, psi: Psi) -> bool:
        """Whether some member accepts."""
        return any(member.accepts(psi) for member in self.members)


def judge_of(parts: Any) -> Networks | Union:
    """The judge of networks `[[W, b], ...]`, which must all accept, or of `{"union": [networks, ...]}`."""
    return Union(parts["union"]) if isinstance(parts, dict) else Networks(parts)


def members_of(parts: Any) -> list[Any]:
    """The members of a union; of anything else, only itself."""
    return list(parts["union"]) if isinstance(parts, dict) else [parts]


def value_at(row: Sequence[Any], psi: Psi) -> Any:
    """Coefficients and bias at psi."""
    return row[-1] + sum(row[j] * v for j, v in psi.items())


@dataclass(frozen=True)
class Point:
    """A point of a space: psi, its value per axis, and its names per block."""

    psi: dict[int, int]
    axes: dict[str, str]
    names: dict[str, Any]

    def inside(self, box: Mapping[str, Iterable[str]]) -> bool:
        """Whether it has one of the values of each axis of a box."""
        return all(self.axes[axis] in values for axis, values in box.items())


def axes_of(space: Case) -> list[tuple[str, Case, list[tuple[str, dict[int, int]]]]]:
    """(name, block, [(value, its psi)]) of every axis: one per one-hot block, one per column of others."""
    found: list[tuple[str, Case, list[tuple[str, dict[int, int]]]]] = []
    column = 0
    for block in space["blocks"]:
        values, kind = block["values"], block["kind"]
        if kind == "one-hot":
            choices: list[tuple[str, dict[int, int]]] = [(v, {column + i: 1}) for i, v in enumerate(values)]
            found.append((block["name"], block, choices + ([(OTHER, {})] if block.get("other") else [])))
        else:
            low, high = (block["low"], block["high"]) if kind == "count" else (0, 1)
            for i, value in enumerate(values):
                numbers = [(str(n), {column + i: n} if n else {}) for n in range(low, high + 1)]
                found.append((f"{block['name']} {value}", block, numbers))
        column += len(values)
    return found


def points_of(space: Case) -> list[Point]:
    """Every point of a space, the last axis fastest, without those that its requirements exclude."""
    axes, found = axes_of(space), []
    for choice in product(*(choices for _, _, choices in axes)):
        chosen = {name: value for (name, _, _), (value, _) in zip(axes, choice, strict=True)}
        if any(chosen[b] == v and chosen[n] not in some for b, v, n, some in space.get("requires", ())):
            continue
        psi: dict[int, int] = {}
        names: dict[str, Any] = {}
        for (name, block, _), (value, own) in zip(axes, choice, strict=True):
            psi |= own
            if block["kind"] == "one-hot":
                names[name] = value
            elif block["kind"] == "count":
                names.setdefault(block["name"], {})[name[len(block["name"]) + 1 :]] = int(value)
            else:
                held = names.setdefault(block["name"], [])
                held += [name[len(block["name"]) + 1 :]] if value == "1" else []
        found.append(Point(psi, chosen, names))
    return found


def ngram_space(feature: Case) -> dict[str, Any]:
    """The space of an n-gram feature: n blocks of contexts, if any, then n of labels."""
    n, labels = feature["n"], feature["labels"]

    def names(name: str) -> list[str]:
        return [name] if n == 1 else [f"{name} {i + 1}" for i in range(n)]

    blocks, requires, own = [], [], names("label")
    if feature["kind"] == "context":
        blocks += [
            {"name": name, "kind": "one-hot", "values": feature["contexts"], "other": True}
            for name in names(feature["column"])
        ]
    for i, name in enumerate(own):
        extra = [STOP if i == n - 1 else START] if feature["pad"] else []
        blocks.append({"name": name, "kind": "one-hot", "values": [*labels, *extra]})
    if feature["pad"]:
        requires += [[own[i], START, own[i - 1], [START]] for i in range(1, n - 1)]
        requires.append([own[-1], STOP, own[-2], list(labels)])
        if feature["kind"] == "context":
            for i, (context, label) in enumerate(zip(names(feature["column"]), own, strict=True)):
                requires.append([label, STOP if i == n - 1 else START, context, [OTHER]])
    return {"blocks": blocks, "requires": requires}


def windows(feature: Case, T: int) -> range:
    """The positions that complete a window; T is STOP."""
    return range(T + 1 if T else 0) if feature["pad"] else range(feature["n"] - 1, T)


def window_psi(
    feature: Case, y: Sequence[str], x: Mapping[str, Sequence[str]], t: int
) -> dict[int, int] | None:
    """psi of the window that position t completes; None if it has a label that the feature does not know."""
    n, labels, psi, column = feature["n"], feature["labels"], {}, 0
    places = range(t - n + 1, t + 1)
    if feature["kind"] == "context":
        for at in places:
            context = x[feature["column"]][at] if 0 <= at < len(y) else None
            if context in feature["contexts"]:
                psi[column + feature["contexts"].index(context)] = 1
            column += len(feature["contexts"])
    for at in places:
        if 0 <= at < len(y):
            if y[at] not in labels:
                return None
            psi[column + labels.index(y[at])] = 1
        else:
            psi[column + len(labels)] = 1
        column += len(labels) + bool(feature["pad"])
    return psi


def whole_psi(feature: Case, y: Sequence[str]) -> dict[int, int] | None:
    """psi of a whole labelling: which n-grams exist, or how often each label occurs, as tokens or as runs."""
    labels = feature["labels"]
    if any(label not in labels for label in y):
        return None
    if feature["kind"] == "existence":
        n, psi = feature["n"], {}
        for t in range(len(y) - n + 1):
            code = 0
            for label in y[t : t + n]:
                code = code * len(labels) + labels.index(label)
            psi[code] = 1
        return psi
    seen = [label for t, label in enumerate(y) if not feature["spans"] or t == 0 or y[t - 1] != label]
    return {j: seen.count(label) for j, label in enumerate(labels) if label in seen}


def is_local(use: Case) -> bool:
    """Whether the parts of a constraint are windows."""
    return use["feature"]["kind"] in ("ngram", "context")


def exact_costs(uses: Iterable[Case]) -> bool:
    """Whether floats add the costs of the soft constraints without rounding."""
    return not any(use["weight"] and (use["cost"] == "sigmoid" or use["rounded"]) for use in uses)


@dataclass(frozen=True)
class Labelling:
    """A labelling of finite score: the exact part of its score with the local and with all soft costs, the
    inexact parts of both, and the names and positions of the hard parts that it breaks."""

    y: tuple[str, ...]
    base: Fraction
    local: tuple[Fraction, float]
    all: tuple[Fraction, float]
    broken: tuple[tuple[str, int | None], ...]
    broken_whole: tuple[tuple[str, int | None], ...]

    @property
    def total(self) -> float:
        """The score with all costs."""
        return float(self.all[0]) + self.all[1]

    @property
    def local_total(self) -> float:
        """The score with the costs of local constraints."""
        return float(self.local[0]) + self.local[1]

    @property
    def violations(self) -> set[tuple[str, int | None]]:
        """All hard parts that it breaks."""
        return {*self.broken, *self.broken_whole}


class Chain:
    """A sequence under constraints: the verdict of each part, asked once."""

    def __init__(self, model: Case, sequence: Case, uses: Sequence[Case]) -> None:
        self.labels, self.emission, self.x = model["labels"], sequence["emission"], sequence["x"]
        self.model, self.uses, self.T = model, uses, len(sequence["emission"])
        self.networks = [judge_of(use["parts"]) for use in uses]
        self._known: dict[Any, tuple[bool, Fraction, float]] = {}

    def labellings(self) -> list[Labelling]:
        """Every labelling of finite score, in declared label order."""
        found = []
        ids = range(len(self.labels))
        for choice in product(ids, repeat=self.T):
            base = self.score(choice)
            if base is not None:
                found.append(self.judged(tuple(self.labels[c] for c in choice), base))
        return found

    def score(self, ids: Sequence[int]) -> Fraction | None:
        """The score of a labelling; None if it is -inf."""
        if not ids:
            return Fraction(0)
        terms = [self.model["start"][ids[0]], self.model["stop"][ids[-1]]]
        terms += [row[c] for row, c in zip(self.emission, ids, strict=True)]
        terms += [self.model["transition"][a][b] for a, b in pairwise(ids)]
        if NEVER in terms:
            return None
        scale = common_scale(terms)
        return Fraction(sum(whole(term, scale) for term in terms), scale)

    def judged(self, y: tuple[str, ...], base: Fraction) -> Labelling:
        """The labelling with its costs and broken parts."""
        broken: list[tuple[str, int | None]] = []
        broken_whole: list[tuple[str, int | None]] = []
        exact, rounded = [Fraction(0), Fraction(0)], [0.0, 0.0]  # of local, of all soft constraints
        for i, use in enumerate(self.uses):
            for t in windows(use["feature"], self.T) if is_local(use) else [None]:
                accepted, exact_cost, rounded_cost = self.verdict(i, y, t)
                if use["weight"] is not None:
                    for own in (1,) if t is None else (0, 1):
                        exact[own] += exact_cost
                        rounded[own] += rounded_cost
                elif not accepted:
                    (broken_whole if t is None else broken).append((use["name"], t))
        local, every = (base + exact[0], rounded[0]), (base + exact[1], rounded[1])
        return Labelling(y, base, local, every, tuple(broken), tuple(broken_whole))

    def verdict(self, i: int, y: Sequence[str], t: int | None) -> tuple[bool, Fraction, float]:
        """Whether constraint i accepts a part, and what it costs: as a rational, or rounded."""
        use = self.uses[i]
        key = i, t, tuple(y if t is None else y[max(0, t - use["feature"]["n"] + 1) : t + 1])
        if key not in self._known:
            psi = whole_psi(use["feature"], y) if t is None else window_psi(use["feature"], y, self.x, t)
            margin = Fraction(1) if psi is None else self.networks[i].margin(psi)
            self._known[key] = margin >= 0, *cost_of(use, margin)
        return self._known[key]


def cost_of(use: Case, margin: Fraction) -> tuple[Fraction, float]:
    """weight * cost(margin), at most 0: min(0, m), min(0, m / s) as a rational, log sigmoid(m) rounded."""
    if not use["weight"]:
        return Fraction(0), 0.0
    if use["cost"] == "sigmoid":
        m = float(margin)
        log = -math.log1p(math.exp(-m)) if m >= 0 else m - math.log1p(math.exp(m))
        return Fraction(0), use["weight"] * log
    scale = Fraction(use["scale"] or 1) if use["cost"] == "standard" else Fraction(1)
    return Fraction(use["weight"]) / scale * min(margin, Fraction(0)), 0.0


def best_of(found: Sequence[Labelling], key: Callable[[Labelling], Any]) -> Labelling:
    """The first with the largest key."""
    best, largest = found[0], key(found[0])
    for each in found[1:]:
        own = key(each)
        if own > largest:
            best, largest = each, own
    return best


@dataclass(frozen=True)
class Beam:
    """The last beam, best first, as (labels, score); the steps at which none passed; whether the order of
    two candidates was a tie."""

    members: list[tuple[tuple[str, ...], float]]
    fallbacks: int
    tied: bool


def beam(chain: Chain, width: int, tolerance: float) -> Beam:
    """The paper's beam (Sec. 5): candidates in order of score; those whose newest windows are accepted, up to
    the width; where there is none, the unfiltered best."""
    hard = [i for i, use in enumerate(chain.uses) if use["weight"] is None and is_local(use)]
    soft = [i for i, use in enumerate(chain.uses) if use["weight"] is not None and is_local(use)]
    members: list[tuple[tuple[int, ...], Fraction, float]] = [((), Fraction(0), 0.0)]
    fallbacks, tied, T, model = 0, False, chain.T, chain.model
    for t in range(T + 1 if T else 0):
        candidates = []
        for ids, so_far, rounded in members:
            for c in range(len(chain.labels)) if t < T else [-1]:
                longer = (*ids, c) if t < T else ids
                gain = [model["stop"][ids[-1]]] if t == T else [chain.emission[t][c]]
                if t < T:
                    gain.append(model["transition"][ids[-1]][c] if ids else model["start"][c])
                if NEVER in gain:
                    continue
                y = [chain.labels[one] for one in longer] + [""] * (T - len(longer))
                costs = [chain.verdict(i, y, t) for i in soft if t in windows(chain.uses[i]["feature"], T)]
                exact = sum((one[1] for one in costs), so_far) + sum(map(Fraction, gain))
                candidates.append((longer, exact, rounded + sum(one[2] for one in costs)))
        candidates.sort(key=lambda one: -(one[1] + Fraction(one[2])))
        sums = [float(one[1]) + one[2] for one in candidates]
        tied |= any(a - b <= tolerance for a, b in pairwise(sums))
        passing = []
        for one in candidates:
            y = [chain.labels[c] for c in one[0]] + [""] * (T - len(one[0]))
            if all(chain.verdict(i, y, t)[0] for i in hard if t in windows(chain.uses[i]["feature"], T)):
                passing.append(one)
        fallbacks += not passing
        members = (passing or candidates)[:width]
        if not members:
            break
    named = [(tuple(chain.labels[c] for c in ids), float(exact) + rounded) for ids, exact, rounded in members]
    return Beam(named, fallbacks, tied)


def marginals(found: Sequence[Labelling], labels: Sequence[str], T: int) -> tuple[list[list[float]], float]:
    """The probability of each label at each position, and the logarithm of the sum of exp(score)."""
    if not found:
        return [[0.0] * len(labels) for _ in range(T)], NEVER
    top = max(one.local_total for one in found)
    weights = [math.exp(one.local_total - top) for one in found]
    total = math.fsum(weights)
    table = [
        [
            math.fsum(w for w, one in zip(weights, found, strict=True) if one.y[t] == label) / total
            for label in labels
        ]
        for t in range(T)
    ]
    return table, math.log(total) + top


@dataclass(frozen=True)
class Graph:
    """Labels of the candidates and relations of the ordered pairs, with the score and the broken tuples."""

    entities: tuple[str, ...]
    relations: dict[tuple[int, int], str]
    score: Fraction
    broken: int


def graphs(case: Case) -> Iterator[Graph]:
    """Every labelled graph, in declared order: candidates, then the two relations of each pair i < j."""
    n = len(case["entities"])
    pairs = [(i, j) for i in range(n) for j in range(n) if i < j]
    E, R = case["entity_labels"], case["relation_labels"]
    judges = [(constraint["members"], judge_of(constraint["parts"])) for constraint in case["constraints"]]
    order = {"source": E, "target": E, "relation": R, "reverse": R}
    known: dict[Any, int] = {}

    def broken(own: Mapping[str, str]) -> int:
        key = tuple(own.values())
        if key not in known:
            known[key] = 0
            for members, networks in judges:
                psi, column = {}, 0
                for member in members:
                    psi[column + order[member].index(own[member])] = 1
                    column += len(order[member])
                known[key] += not networks.accepts(psi)
        return known[key]

    for entities in product(range(len(E)), repeat=n):
        first = sum((Fraction(case["entities"][i][e]) for i, e in enumerate(entities)), Fraction(0))
        for chosen in product(product(range(len(R)), repeat=2), repeat=len(pairs)):
            score, count, relations = first, 0, {}
            for (i, j), (there, back) in zip(pairs, chosen, strict=True):
                for a, b, forward, backward in ((i, j, there, back), (j, i, back, there)):
                    score += Fraction(case["relations"][a][b][forward])
                    relations[a, b] = R[forward]
                    own = {"source": E[entities[a]], "target": E[entities[b]]}
                    count += broken({**own, "relation": R[forward], "reverse": R[backward]})
            yield Graph(tuple(E[e] for e in entities), relations, score, count)
