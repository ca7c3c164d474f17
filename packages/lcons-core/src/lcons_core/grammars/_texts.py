"""Sets of texts, read character by character, and the shortest text that two of them disagree on.

A set of texts is a graph: an arc from node p to node q has a text, which may be empty, and a text belongs
to the set iff it is spelled by a path from the start to a final node. Grammars that are read back, regular
expressions and automata all are such graphs, and nodes may be found on demand.

`difference` walks both graphs at once. A configuration is the set of all places that the characters read so
far can lead to: nodes, and arcs of which a part has been read. Two graphs have the same texts iff no pair
of configurations that can be reached has a text that ends in one but not in the other: this is the product
of both deterministic automata, in both directions, and it is exact. The walk is breadth first, so a
difference is a shortest one.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lcons_core._errors import TooLarge
from lcons_core.grammars._automaton import Automaton

MAX_PAIRS = 2**21


class Texts(Protocol):
    """A graph of texts."""

    @property
    def start(self) -> Hashable: ...
    def arcs(self, node: Any) -> Iterable[tuple[str, Hashable]]:
        """The texts of the arcs of a node, with the nodes that they lead to."""
        ...

    def final(self, node: Any) -> bool:
        """Whether a text may end there."""
        ...


@dataclass(frozen=True)
class TextGraph:
    """A graph whose nodes are numbered, from the start 0; `edges[p]` are the arcs of p, `ends` the final
    nodes."""

    edges: tuple[tuple[tuple[str, int], ...], ...]
    ends: frozenset[int]

    @property
    def start(self) -> int:
        """Node 0."""
        return 0

    def arcs(self, node: int) -> tuple[tuple[str, int], ...]:
        """The arcs of a node."""
        return self.edges[node]

    def final(self, node: int) -> bool:
        """Whether a text may end there."""
        return node in self.ends

    @property
    def size(self) -> int:
        """The number of arcs."""
        return sum(map(len, self.edges))


def spell(automaton: Automaton, separator: str, end: str = "") -> TextGraph:
    """The accepted words as texts: their symbols, with the separator between two, and the end after them.

    >>> spell(Automaton(("a", "b"), [[0, -1]], [True]), " ").edges
    ((('a', 1),), ((' a', 1),))
    """
    rows = automaton.table.tolist()

    last = len(rows) + 1

    def arcs(state: int, before: str) -> tuple[tuple[str, int], ...]:
        pairs = zip(automaton.symbols, rows[state], strict=True)
        found = [(before + symbol, after + 1) for symbol, after in pairs if after >= 0]
        return (*found, *([(end, last)] if end and automaton.final[state] else []))

    edges = (arcs(0, ""), *(arcs(state, separator) for state in range(len(rows))), ())
    ends = {state + 1 for state in automaton.final.nonzero()[0].tolist()}
    ends |= {0} if automaton.final[0] else set()
    return numbered(TextGraph(edges, frozenset({last} if end else ends)))


def numbered(texts: Texts) -> TextGraph:
    """The nodes that can be reached, numbered in the order in which they are reached."""
    number: dict[Any, int] = {texts.start: 0}
    order = [texts.start]
    edges = []
    for node in order:
        own = []
        for text, after in texts.arcs(node):
            if after not in number:
                number[after] = len(order)
                order.append(after)
            own.append((text, number[after]))
        edges.append(tuple(own))
    return TextGraph(tuple(edges), frozenset(i for i, node in enumerate(order) if texts.final(node)))


@dataclass(frozen=True)
class Agreement:
    """Whether two sets of texts are equal. If not, `text` is a shortest one that only the first or only the
    second has (`only_first`); `pairs` is the number of pairs of configurations that were compared."""

    pairs: int
    text: str | None = None
    only_first: bool = False

    @property
    def equal(self) -> bool:
        """Whether no text was found."""
        return self.text is None


def difference(first: Texts, second: Texts, most: int = MAX_PAIRS) -> Agreement:
    """The comparison of two sets of texts; raises `TooLarge` above `most` pairs of configurations.

    >>> ab, a = (TextGraph((((text, 1),), ()), frozenset({1})) for text in ("ab", "a"))
    >>> difference(ab, a)
    Agreement(pairs=2, text='a', only_first=False)
    """
    sides = _Configurations(first), _Configurations(second)
    pair = sides[0].start, sides[1].start
    came: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {pair: None}
    order = [pair]
    for at, pair in enumerate(order):
        ends = sides[0].ends[pair[0]], sides[1].ends[pair[1]]
        if ends[0] != ends[1]:
            return Agreement(at + 1, _spelled(came, pair), ends[0])
        steps = sides[0].following(pair[0]), sides[1].following(pair[1])
        for character in sorted({*steps[0], *steps[1]}):
            after = steps[0].get(character, 0), steps[1].get(character, 0)
            if after not in came:
                if len(order) == most:
                    raise TooLarge(
                        f"the check of the grammar needs more than {most:,} pairs of states, the limit; use"
                        " fewer labels or a simpler constraint."
                    )
                came[after] = pair, character
                order.append(after)
    return Agreement(len(order))


def _spelled(came: dict[Any, Any], pair: Any) -> str:
    characters: list[str] = []
    while came[pair] is not None:
        pair, character = came[pair]
        characters.append(character)
    return "".join(reversed(characters))


class _Configurations:
    """The configurations of a graph, numbered as they are found; 0 is the empty one, from which nothing
    goes on.

    A place is (rest of the text of an arc, node after it); the places of a node are those of its arcs,
    through empty ones.
    """

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.numbers: dict[tuple[bool, frozenset[Any]], int] = {}
        self.places: list[frozenset[Any]] = []
        self.ends: list[bool] = []
        self._steps: dict[int, dict[str, int]] = {}
        self._opened: dict[Any, tuple[bool, tuple[Any, ...]]] = {}
        self._number(False, frozenset())
        self.start = self._number(*self._open([texts.start]))

    def following(self, configuration: int) -> dict[str, int]:
        """The next configuration by character."""
        found = self._steps.get(configuration)
        if found is None:
            by_character: dict[str, tuple[list[Any], list[Any]]] = {}
            for text, node in self.places[configuration]:
                inside, reached = by_character.setdefault(text[0], ([], []))
                if len(text) > 1:
                    inside.append((text[1:], node))
                else:
                    reached.append(node)
            found = {}
            for character, (inside, reached) in by_character.items():
                end, places = self._open(reached)
                found[character] = self._number(end, places.union(inside))
            self._steps[configuration] = found
        return found

    def _number(self, end: bool, places: frozenset[Any]) -> int:
        key = end, places
        if key not in self.numbers:
            self.numbers[key] = len(self.places)
            self.places.append(places)
            self.ends.append(end)
        return self.numbers[key]

    def _open(self, nodes: Sequence[Any]) -> tuple[bool, frozenset[Any]]:
        """Whether a text may end at one of the nodes, and the places that they lead to."""
        end = False
        places: set[Any] = set()
        for node in nodes:
            if node not in self._opened:
                self._opened[node] = self._opened_node(node)
            own_end, own = self._opened[node]
            end |= own_end
            places.update(own)
        return end, frozenset(places)

    def _opened_node(self, node: Any) -> tuple[bool, tuple[Any, ...]]:
        end, places, order, seen = False, [], [node], {node}
        for own in order:
            end |= self.texts.final(own)
            for text, after in self.texts.arcs(own):
                if text:
                    places.append((text, after))
                elif after not in seen:
                    seen.add(after)
                    order.append(after)
        return end, tuple(places)
