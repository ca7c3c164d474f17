r"""Regular expressions of the dialect that all engines share: literals, `(?:...)`, `|`, `*`, `?`.

Writing removes the nodes of a graph one at a time: where p -> x -> q was a path,

    p -> q  gets  (p -> x) (x -> x)* (x -> q)  as one more alternative

the cheapest node first. Before that, if a node x has all arcs of another node y (and is final if y is),
these arcs become one empty arc x -> y. In IOB2 every inside has the arcs of the outside, which makes the
expression linear in the types instead of exponential. The language does not change, whatever the order; the
size does, and it can be exponential in the number of nodes, so it is limited.

Reading makes a graph again, with one node per place in the expression.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcons_core._errors import InvalidInput, TooLarge
from lcons_core.grammars._texts import TextGraph

MAX_NODES = 2**9
MAX_CHARACTERS = 2**18
_SPECIAL = frozenset("\\.+*?()|[]{}^$")
_ESCAPED = {"\n": "\\n", "\t": "\\t"}
_CONTROL = {"n": "\n", "t": "\t"}
_ALTERNATIVES, _SERIES, _ATOM = range(3)


@dataclass(frozen=True)
class _Piece:
    """An expression and how tightly it holds together; `skips` if it matches the empty text as an option."""

    text: str
    hold: int

    def at(self, hold: int) -> str:
        """The text, in a group if it holds less tightly than needed."""
        return self.text if self.hold >= hold else f"(?:{self.text})"


def write_regex(graph: TextGraph) -> str:
    """A regular expression of the texts of a graph."""
    if len(graph.edges) > MAX_NODES:
        raise TooLarge(
            f"the automaton has {len(graph.edges):,} states, above the limit of {MAX_NODES:,} for a regular"
            " expression; use lark or ebnf, whose size is the number of arcs of the automaton."
        )
    first, last = len(graph.edges), len(graph.edges) + 1
    out: dict[int, dict[int, dict[str, _Piece]]] = {node: {} for node in range(last + 1)}

    def add(p: int, q: int, piece: _Piece) -> None:
        out[p].setdefault(q, {})[piece.text] = piece

    add(first, 0, _literal(""))
    for node, arcs in enumerate(graph.edges):
        lesser = _lesser(graph, node)
        kept = set(arcs) if lesser is None else set(arcs) - set(graph.edges[lesser])
        if lesser is not None:
            add(node, lesser, _literal(""))
        for text, after in sorted(kept):
            add(node, after, _literal(text))
        if node in graph.ends and (lesser is None or lesser not in graph.ends):
            add(node, last, _literal(""))
    remaining = set(range(len(graph.edges)))
    while remaining:
        into = {x: [p for p in out if p != x and x in out[p]] for x in remaining}
        chosen = min(remaining, key=lambda x: (_growth(out, into[x], x), x))
        loop = out[chosen].pop(chosen, None)
        middle = _star(_either(loop)) if loop else _literal("")
        for p in into[chosen]:
            before = _either(out[p].pop(chosen))
            for q, pieces in out[chosen].items():
                piece = _series(before, middle, _either(pieces))
                if len(piece.text) > MAX_CHARACTERS:
                    raise TooLarge(
                        f"the regular expression has more than {MAX_CHARACTERS:,} characters, the limit; use"
                        " lark or ebnf, whose size is the number of arcs of the automaton."
                    )
                add(p, q, piece)
        del out[chosen]
        remaining.discard(chosen)
    return _either(out[first][last]).text


def _lesser(graph: TextGraph, node: int) -> int | None:
    """The node with the most arcs that are all arcs of `node` too, if that saves something."""
    own = set(graph.edges[node])
    best = None
    for other, arcs in enumerate(graph.edges):
        smaller = len(arcs) < len(own) or (other not in graph.ends and node in graph.ends)
        fits = other != node and smaller and len(arcs) > 1 and set(arcs) <= own
        if fits and (other not in graph.ends or node in graph.ends):
            size = len(arcs), other in graph.ends
            if best is None or size > best[0]:
                best = size, other
    return None if best is None else best[1]


def _growth(out: dict[int, dict[int, dict[str, _Piece]]], into: list[int], x: int) -> int:
    """The number of characters that removing x would copy."""
    loop = _length(out[x].get(x, {}))
    before = [_length(out[p][x]) for p in into]
    after = [_length(pieces) for q, pieces in out[x].items() if q != x]
    return sum(b + loop + a for b in before for a in after) - sum(before) - sum(after) - loop


def _length(pieces: dict[str, _Piece]) -> int:
    return sum(len(text) + 1 for text in pieces)


def _literal(text: str) -> _Piece:
    escaped = "".join(_ESCAPED.get(c, f"\\{c}" if c in _SPECIAL else c) for c in text)
    return _Piece(escaped, _ATOM if len(text) == 1 else _SERIES)


def _either(pieces: dict[str, _Piece]) -> _Piece:
    """One of the pieces; an empty one makes the others an option."""
    some = [piece for piece in pieces.values() if piece.text]
    if not some:
        return _literal("")
    joined = some[0] if len(some) == 1 else _Piece("|".join(piece.text for piece in some), _ALTERNATIVES)
    return _Piece(f"{joined.at(_ATOM)}?", _SERIES) if "" in pieces else joined


def _star(piece: _Piece) -> _Piece:
    return _Piece(f"{piece.at(_ATOM)}*", _SERIES) if piece.text else piece


def _series(*pieces: _Piece) -> _Piece:
    some = [piece for piece in pieces if piece.text]
    if len(some) == 1:
        return some[0]
    return _Piece("".join(piece.at(_SERIES) for piece in some), _SERIES)


def read_regex(text: str) -> TextGraph:
    """The graph of a regular expression of this dialect; raises `InvalidInput` for anything else.

    >>> read_regex("a(?:b|c)*").final(read_regex("a(?:b|c)*").start)
    False
    """
    reader = _Reader(text.removesuffix("\n"))
    first, last = reader.alternatives()
    if reader.at < len(reader.text):
        raise reader.wrong("the end")
    edges = [[("", first)], *reader.edges]
    return TextGraph(tuple(map(tuple, edges)), frozenset({last}))


class _Reader:
    """Recursive descent; each method returns the first and the last node of what it read. Node 0 is kept
    free."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.edges: list[list[tuple[str, int]]] = []

    def wrong(self, expected: str) -> InvalidInput:
        """An error at this place."""
        found = self.text[self.at : self.at + 12] or "the end"
        return InvalidInput(
            f"expected {expected} at character {self.at} of the regular expression, found {found!r}."
        )

    def alternatives(self) -> tuple[int, int]:
        first, last = self._node(), self._node()
        while True:
            a, b = self.series()
            self._arc(first, "", a)
            self._arc(b, "", last)
            if self.text[self.at : self.at + 1] != "|":
                return first, last
            self.at += 1

    def series(self) -> tuple[int, int]:
        first = last = self._node()
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            a, b = self.repeated()
            self._arc(last, "", a)
            last = b
        return first, last

    def repeated(self) -> tuple[int, int]:
        a, b = self.atom()
        if self.text[self.at : self.at + 1] not in ("*", "?"):
            return a, b
        first, last = self._node(), self._node()
        self._arc(first, "", a)
        self._arc(first, "", last)
        self._arc(b, "", first if self.text[self.at] == "*" else last)
        self.at += 1
        return first, last

    def atom(self) -> tuple[int, int]:
        if self.text.startswith("(?:", self.at):
            self.at += 3
            inner = self.alternatives()
            if self.text[self.at : self.at + 1] != ")":
                raise self.wrong("')'")
            self.at += 1
            return inner
        character = self.text[self.at]
        if character == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            if escaped not in _SPECIAL and escaped not in _CONTROL:
                raise self.wrong("an escaped character")
            character = _CONTROL.get(escaped, escaped)
            self.at += 1
        elif character in _SPECIAL:
            raise self.wrong("a literal or a group")
        self.at += 1
        a, b = self._node(), self._node()
        self._arc(a, character, b)
        return a, b

    def _node(self) -> int:
        self.edges.append([])
        return len(self.edges)

    def _arc(self, p: int, text: str, q: int) -> None:
        self.edges[p - 1].append((text, q))
