"""Lark grammars as llguidance reads them: one rule per state, and a parameter for what was seen.

    start: "A" s1 | ""                                        one rule per state, as in `_ebnf.py`

    start: q0::0                                              with registers (`_registers.py`)
    q0::_: "A" s1::incr([0:2]) | "" %if ge([0:2], 1)
    s1::_: " A" s1::incr([0:2]) %if le([0:2], 1) | ""

A rule may have a 64-bit parameter, `_` in its own body. A reference changes it: `_` (unchanged),
`incr([x:y])` (one more in bits x .. y - 1) or `bit_or(v)`. An alternative may have a condition on it. A
change of several fields goes through rules that change one each.

The reader knows these forms alone. It finds the pairs of a rule and a parameter on demand.

Not in the paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lcons_core._errors import InvalidInput
from lcons_core.grammars._ebnf import graph_of_rules, quote, read_alternatives, right_linear
from lcons_core.grammars._registers import BITS, Arc, Registers
from lcons_core.grammars._texts import TextGraph, Texts

Condition = Callable[[int], bool]
_HEAD = re.compile(r"([a-z][a-z0-9_]*)(::_)?: ")
_TOKEN = re.compile(
    r'\s*(?:(?P<literal>"(?:[^"\\]|\\.)*")|(?P<rule>[a-z][a-z0-9_]*)::(?P<change>_|\d+|[a-z_]+\([^)]*\))'
    r"|(?P<mark>%if |\|))"
)
_INCREASE = re.compile(r"incr\(\[(\d+):(\d+)\]\)")
_SET = re.compile(r"bit_or\((0x[0-9a-f]+)\)")
_COMPARE = re.compile(r"(eq|le|ge)\(\[(\d+):(\d+)\], (\d+)\)")
_BIT = re.compile(r"bit_(set|clear)\((\d+)\)")


def write_lark(graph: TextGraph) -> Iterable[str]:
    """The lines of a grammar with one rule per node."""
    for name, alternatives in right_linear(graph, "start"):
        yield f"{name}: " + " | ".join(alternatives)


def write_counted(registers: Registers, separator: str, end: str = "") -> Iterable[str]:
    """The lines of a grammar with a parameter; `q0` has the first label, without a separator before it."""
    yield "start: q0::0"
    extra: dict[str, str] = {}
    names = registers.control.symbols
    for head, state, before in [
        ("q0", 0, ""),
        *((f"s{i}", i, separator) for i in range(len(registers.control))),
    ]:
        alternatives = [
            quote(before + names[arc.label]) + f" {_reference(arc, extra)}" + _if(arc.condition)
            for arc in registers.arcs(state)
        ]
        ends, condition = registers.ending(state)
        alternatives += [quote(end) + _if(condition)] if ends else []
        if alternatives:
            yield f"{head}::_: " + " | ".join(alternatives)
    for name, body in extra.items():
        yield f"{name}::_: {body}"


def _if(condition: str | None) -> str:
    return "" if condition is None else f" %if {condition}"


def _reference(arc: Arc, extra: dict[str, str]) -> str:
    """The reference to the next rule, through one rule per further change."""
    changes = [f"incr([{field.first}:{field.last}])" for field in arc.grown]
    changes += [f"bit_or({arc.bits:#x})"] if arc.bits else []
    name = f"s{arc.after}"
    for change in changes[:0:-1]:
        body = f"{name}::{change}"
        name += "_" + re.sub(r"\W+", "_", change).strip("_")
        extra[name] = body
    return f"{name}::{changes[0] if changes else '_'}"


def read_lark(text: str) -> Texts:
    """The texts of a grammar of these forms; raises `InvalidInput` for anything else."""
    bodies: dict[str, str] = {}
    heads = {}
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is None:
            raise InvalidInput(f"expected `name: alternatives`, found {line!r:.60}.")
        bodies[head[1]] = line[head.end() :]
        heads[head[1]] = bool(head[2])
    if not any(heads.values()):
        return graph_of_rules({name: read_alternatives(body) for name, body in bodies.items()}, "start")
    rules = {name: _read_body(body) for name, body in bodies.items()}
    for own in rules.values():
        for alternative in own:
            if alternative.rule is not None and not heads.get(alternative.rule):
                raise InvalidInput(
                    f"the grammar uses {alternative.rule!r}, which has no rule with a parameter."
                )
    if "start" not in rules:
        raise InvalidInput(f"expected a rule 'start', found {', '.join(list(rules)[:8])}.")
    return CountedTexts(rules)


@dataclass(frozen=True)
class _Alternative:
    literal: str
    rule: str | None
    change: Callable[[int], int]
    condition: Condition


@dataclass(frozen=True, eq=False)
class CountedTexts:
    """A node is (rule, parameter), or None at the end of a text."""

    rules: dict[str, list[_Alternative]]

    @property
    def start(self) -> Any:
        """The rule `start`."""
        return "start", 0

    def arcs(self, node: Any) -> list[tuple[str, Any]]:
        """The alternatives whose condition holds."""
        if node is None:
            return []
        name, value = node
        return [
            (own.literal, None if own.rule is None else (own.rule, own.change(value)))
            for own in self.rules[name]
            if own.condition(value)
        ]

    def final(self, node: Any) -> bool:
        """Whether a text may end there."""
        return node is None


def _read_body(body: str) -> list[_Alternative]:
    at = 0
    found: list[_Alternative] = []
    literal, seen = "", False
    rule: str | None = None
    change: Callable[[int], int] = _unchanged
    condition: Condition = _always
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None:
            raise InvalidInput(f"expected a literal, a rule or a condition, found {body[at : at + 40]!r}.")
        at = match.end()
        if match["literal"] is not None:
            literal, seen = json.loads(match["literal"]), True
        elif match["rule"] is not None:
            rule, change, seen = match["rule"], _read_change(match["change"]), True
        elif match["mark"] == "%if ":
            condition, at = _read_condition(body, at)
        else:
            found.append(_Alternative(literal, rule, change, condition))
            literal, rule, change, condition, seen = "", None, _unchanged, _always, False
    if not seen:
        raise InvalidInput(f"expected an alternative after '|', found the end of {body[-40:]!r}.")
    return [*found, _Alternative(literal, rule, change, condition)]


def _unchanged(value: int) -> int:
    return value


def _always(value: int) -> bool:
    return True


def _read_change(text: str) -> Callable[[int], int]:
    """The parameter after a reference; 64 bits, and increments stop at the largest number of their field."""
    if text == "_":
        return _unchanged
    if text.isdigit():
        return lambda value: int(text)
    if bits := _SET.fullmatch(text):
        mask = int(bits[1], 16)
        return lambda value: value | mask
    if grown := _INCREASE.fullmatch(text):
        first, last = _checked(grown[1], grown[2])
        full = (1 << last - first) - 1
        return lambda value: value if value >> first & full == full else value + (1 << first)
    raise InvalidInput(f"expected `_`, a number, incr([x:y]) or bit_or(0x...), found {text!r:.40}.")


def _checked(first: str, last: str) -> tuple[int, int]:
    a, b = int(first), int(last)
    if not 0 <= a < b <= BITS:
        raise InvalidInput(f"expected bits [x:y] with 0 <= x < y <= {BITS}, found [{a}:{b}].")
    return a, b


def _read_condition(text: str, at: int) -> tuple[Condition, int]:
    """The condition that begins at `at`, and where it ends."""
    for operation in ("and(", "or("):
        if text.startswith(operation, at):
            left, at = _read_condition(text, at + len(operation))
            right, at = _read_condition(text, _after(text, at, ", "))
            return _combined(operation, left, right), _after(text, at, ")")
    if text.startswith("not(", at):
        inner, at = _read_condition(text, at + 4)
        return (lambda value: not inner(value)), _after(text, at, ")")
    if text.startswith("true", at):
        return _always, at + 4
    if bit := _BIT.match(text, at):
        place, wanted = int(bit[2]), bit[1] == "set"
        return (lambda value: bool(value >> place & 1) == wanted), bit.end()
    if compared := _COMPARE.match(text, at):
        first, last = _checked(compared[2], compared[3])
        full, number = (1 << last - first) - 1, int(compared[4])
        return _comparison(compared[1], first, full, number), compared.end()
    raise InvalidInput(f"expected a condition, found {text[at : at + 40]!r}.")


def _combined(operation: str, left: Condition, right: Condition) -> Condition:
    if operation == "and(":
        return lambda value: left(value) and right(value)
    return lambda value: left(value) or right(value)


def _comparison(operation: str, first: int, full: int, number: int) -> Condition:
    if operation == "eq":
        return lambda value: value >> first & full == number
    if operation == "le":
        return lambda value: value >> first & full <= number
    return lambda value: value >> first & full >= number


def _after(text: str, at: int, expected: str) -> int:
    if not text.startswith(expected, at):
        raise InvalidInput(f"expected {expected!r}, found {text[at : at + 40]!r}.")
    return at + len(expected)
