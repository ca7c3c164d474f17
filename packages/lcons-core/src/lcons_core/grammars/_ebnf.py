"""EBNF as XGrammar reads it (`root ::= "a" s1 | ""`), with one rule per node of a graph.

    s1 ::= "" | " B" s1 | " A" s2

A node without arcs is not named: its arcs are the literal alone.

Not in the paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from lcons_core._errors import InvalidInput
from lcons_core.grammars._texts import TextGraph

_ALTERNATIVE = re.compile(r'\s*("(?:[^"\\]|\\.)*")?\s*([a-z][a-z0-9_]*)?\s*')


def write_ebnf(graph: TextGraph) -> Iterable[str]:
    """The lines of the grammar."""
    for name, alternatives in right_linear(graph, "root"):
        yield f"{name} ::= " + " | ".join(alternatives)


def right_linear(graph: TextGraph, start: str) -> Iterable[tuple[str, list[str]]]:
    """Each rule by name, with its alternatives: a literal, and the name of the rule that follows, if any."""
    closing = {node for node, arcs in enumerate(graph.edges) if not arcs and node in graph.ends}
    for node, arcs in enumerate(graph.edges):
        if node in closing and node:
            continue
        alternatives = ['""'] if node in graph.ends else []
        alternatives += [
            quote(text) + ("" if after in closing else f" {rule_name(after, start)}") for text, after in arcs
        ]
        yield rule_name(node, start), alternatives


def rule_name(node: int, start: str) -> str:
    """The name of the rule of a node."""
    return f"s{node}" if node else start


def quote(text: str) -> str:
    """A literal, quoted as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def read_ebnf(text: str) -> TextGraph:
    """The graph of a grammar that has only rules as above; raises `InvalidInput` for anything else."""
    rules = {}
    for line in text.splitlines():
        name, mark, body = line.partition(" ::= ")
        if not mark:
            raise InvalidInput(f"expected `name ::= alternatives`, found {line!r:.60}.")
        rules[name] = read_alternatives(body)
    return graph_of_rules(rules, "root")


def graph_of_rules(rules: dict[str, list[tuple[str, str | None]]], start: str) -> TextGraph:
    """The graph of right-linear rules; an alternative without a following rule ends the text."""
    if start not in rules:
        raise InvalidInput(f"expected a rule {start!r}, found {', '.join(list(rules)[:8]) or 'none'}.")
    names = [start, *(name for name in rules if name != start)]
    number: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    number[None] = len(names)
    unknown = sorted({after or "" for own in rules.values() for _, after in own if after not in number})
    if unknown:
        raise InvalidInput(f"the grammar uses {unknown[0]!r}, which has no rule.")
    edges: Sequence[tuple[tuple[str, int], ...]] = [
        tuple((literal, number[after]) for literal, after in rules[name]) for name in names
    ]
    return TextGraph((*edges, ()), frozenset({len(names)}))


def read_alternatives(body: str) -> list[tuple[str, str | None]]:
    """The alternatives of a rule: each a literal and the rule that follows, if any."""
    found: list[tuple[str, str | None]] = []
    at = 0
    while True:
        match = _ALTERNATIVE.match(body, at)
        if match is None or (match[1] is None and match[2] is None):
            raise InvalidInput(f"expected a literal or a rule, found {body[at : at + 40]!r}.")
        found.append((json.loads(match[1]) if match[1] else "", match[2]))
        at = match.end()
        if at == len(body):
            return found
        if body[at] != "|":
            raise InvalidInput(f"expected '|' between alternatives, found {body[at : at + 40]!r}.")
        at += 1
