r"""Regular expressions of the dialect that all engines share: literals, `(?:...)`, `|`, `*`, `?`.

The states of a graph of texts are removed one at a time, the cheapest first: where p -> x -> q was a path,

    p -> q  gets  (p -> x) (x -> x)* (x -> q)  as one more alternative

Before that, if a state x has all arcs of another state y (and is final if y is), these arcs become one empty
arc x -> y. In IOB2 every inside has the arcs of the outside, which makes the expression linear in the types
instead of exponential. The language does not change; the size does, and it can be exponential in the number
of states, so it is limited.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core import TooLarge

MAX_STATES = 2**7
MAX_CHARACTERS = 2**18
_ESCAPES = {"\n": r"\n", "\t": r"\t", **{special: f"\\{special}" for special in "\\.+*?()|[]{}^$"}}

Arcs = Sequence[Sequence[tuple[str, int]]]
_Paths = dict[int, dict[int, dict[str, None]]]  # from, to, and the expressions of the ways between them


def write_regex(arcs: Arcs, final: Sequence[bool]) -> str:
    """The expression of the texts that lead from state 0 to a final one; `arcs[p]` has (text, next state).

    >>> write_regex([[("a", 1)], [("b", 1)]], [False, True])
    'ab*'
    """
    first, last = len(arcs), len(arcs) + 1
    if len(arcs) > MAX_STATES:
        raise _too_large(f"{len(arcs):,} states, above the limit of {MAX_STATES:,}")
    paths: _Paths = {first: {0: {"": None}}, last: {}}
    for state, texts in enumerate(arcs):
        paths[state] = {}
        lesser = _lesser(arcs, final, state)
        rest = set(texts) - set(arcs[lesser] if lesser is not None else ())
        if lesser is not None:
            paths[state][lesser] = {"": None}
        for text, after in sorted(rest):
            escaped = "".join(_ESCAPES.get(character, character) for character in text)
            paths[state].setdefault(after, {})[escaped] = None
        if final[state] and (lesser is None or not final[lesser]):
            paths[state][last] = {"": None}
    for _ in arcs:
        _remove_cheapest(paths, first, last)
    return _either(paths[first][last])


def _lesser(arcs: Arcs, final: Sequence[bool], state: int) -> int | None:
    """The state with the most arcs, at least two, that are all arcs of `state`, too; None without one."""
    fitting = [
        other
        for other, texts in enumerate(arcs)
        if len(texts) > 1 and set(texts) <= set(arcs[state]) and final[other] <= final[state]
        if (len(texts), final[other]) < (len(arcs[state]), final[state])
    ]
    return max(fitting, key=lambda other: (len(arcs[other]), final[other]), default=None)


def _remove_cheapest(paths: _Paths, first: int, last: int) -> None:
    """Replaces the state whose removal copies the fewest characters by ways past it."""
    into: dict[int, list[int]] = {x: [] for x in paths if x not in (first, last)}
    for p, following in paths.items():
        for x in following.keys() - {p, last}:
            into[x].append(p)
    chosen = min(into, key=lambda x: (_growth(paths, into[x], x), x))
    after = paths.pop(chosen)
    loop = _either(after.pop(chosen, {}), "*")
    for p in into[chosen]:
        before = _either(paths[p].pop(chosen))
        for q, ways in after.items():
            expression = before + loop + _either(ways)
            if len(expression) > MAX_CHARACTERS:
                raise _too_large(f"more than {MAX_CHARACTERS:,} characters, the limit")
            paths[p].setdefault(q, {})[expression] = None


def _growth(paths: _Paths, into: Sequence[int], x: int) -> int:
    """The number of characters that removing x would add."""
    lengths = {q: sum(len(way) + 1 for way in ways) for q, ways in paths[x].items()}
    loop = lengths.pop(x, 0)
    before = [sum(len(way) + 1 for way in paths[p][x]) for p in into]
    copied = sum(b + loop + a for b in before for a in lengths.values())
    return copied - sum(before) - sum(lengths.values()) - loop


def _either(ways: dict[str, None], mark: str = "") -> str:
    """One of the ways; an empty one makes the others optional."""
    some = [way for way in ways if way]
    mark = mark or ("?" if "" in ways else "")
    text = "|".join(some)
    whole = len(text.removeprefix("\\")) == 1 or (len(some) == 1 and not mark)
    return (text if whole else f"(?:{text})") + mark if some else ""


def _too_large(size: str) -> TooLarge:
    return TooLarge(f"the regular expression has {size}; write lark, whose size is that of the automaton.")
