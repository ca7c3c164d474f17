"""Constraints as grammars for language models: `write_grammar(constraint, "lark")`.

| form | engine | of a constraint on labels | of tuples and records |
|---|---|---|---|
| lark | llguidance | one rule per state of the automaton | |
| regex | Outlines, and the others | the states removed one at a time | |
| json-schema | all | a string with the regex as its pattern | one object per box of accepted points |

A label sequence is written as its labels with a separator between two. Several constraints on the same labels
make one grammar: their intersection. A grammar has exactly the set of the constraints, and no dead ends:
every text that can be begun can be completed.

Not in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lcons_contrib.llm._automaton import Automaton, label_automaton
from lcons_contrib.llm._json_schema import record_schema
from lcons_contrib.llm._regex import Arcs, write_regex
from lcons_core import InvalidInput, LearnedConstraint, Unsupported
from lcons_core._constraint import as_constraint
from lcons_core.features import Tuples

FORMS = ("lark", "regex", "json-schema")


def write_grammar(
    constraints: LearnedConstraint | Sequence[LearnedConstraint],
    form: str = "lark",
    *,
    separator: str = " ",
    end: str = "",
    shortest: int = 1,
    longest: int | None = None,
) -> str:
    """The grammar of what satisfies all constraints.

    `separator` stands between two labels and `end` after the last; a sequence has from `shortest` to
    `longest` labels (None: any number). Outlines needs an `end`: its index loses texts that go on where
    another text is complete.

    >>> from lcons_core import iob2
    >>> write_grammar(iob2(["B", "I", "O"]), "regex")
    '(?:O|B(?: I)*)(?: O| B(?: I)*)*'
    """
    several = constraints if isinstance(constraints, Sequence) else [constraints]
    listed = [as_constraint(constraint, "a grammar", "its feature") for constraint in several]
    if form not in FORMS or not listed:
        raise InvalidInput(f"a grammar needs a constraint and a form of {', '.join(FORMS)}, found {form!r}.")
    if any(constraint.feature is None or isinstance(constraint.feature, Tuples) for constraint in listed):
        if form != "json-schema" or len(listed) > 1:
            raise Unsupported("tuples and records are written as json-schema, one constraint at a time.")
        return json.dumps(record_schema(listed[0]), ensure_ascii=False, indent=1)
    _check_texts(listed, separator, end)
    automaton = label_automaton(listed, listed[0].labels, shortest, longest)
    arcs, final = _texts(automaton, separator, end)
    if form == "lark":
        return _write_lark(arcs, final)
    pattern = write_regex(arcs, final)
    if form == "regex":
        return pattern
    return json.dumps({"type": "string", "pattern": f"^(?:{pattern})$"}, ensure_ascii=False)


def _texts(automaton: Automaton, separator: str, end: str) -> tuple[Arcs, list[bool]]:
    """The automaton as a graph of texts: state 0 is before the first label, s + 1 is state s after one."""
    rows = automaton.table.tolist()
    last = len(rows) + 1
    arcs = []
    for state, before in [(0, ""), *((state, separator) for state in range(len(rows)))]:
        following = zip(automaton.labels, rows[state], strict=True)
        arcs.append([(before + label, after + 1) for label, after in following if after >= 0])
        if end and automaton.final[state]:
            arcs[-1].append((end, last))
    final = [bool(automaton.final[0]), *automaton.final.tolist()]
    return (arcs, final) if not end else ([*arcs, []], [False] * last + [True])


def _write_lark(arcs: Arcs, final: Sequence[bool]) -> str:
    """One rule per state that can be reached: texts, each with the rule of what follows."""
    order, names, lines = [0], {0: "start"}, []
    for state in order:
        alternatives = ['""'] if final[state] else []
        for text, after in arcs[state]:
            literal = json.dumps(text, ensure_ascii=False)
            if arcs[after] and after not in names:
                names[after] = f"s{len(order)}"
                order.append(after)
            alternatives.append(f"{literal} {names[after]}" if arcs[after] else literal)
        lines.append(f"{names[state]}: {' | '.join(alternatives)}")
    return "\n".join(lines)


def _check_texts(constraints: Sequence[LearnedConstraint], separator: str, end: str) -> None:
    """Raises an error if texts would be ambiguous, or read differently by some engine."""
    labels = constraints[0].labels
    for other in constraints[1:]:
        if set(other.labels) != set(labels):
            strange = min(set(other.labels) ^ set(labels))
            raise InvalidInput(f"all constraints need the same labels, but not all have {strange!r}.")
    if not separator or any(separator in label for label in labels):
        raise InvalidInput(f"labels must not contain the separator {separator!r}; choose another one.")
    for text in (*labels, separator, end):
        if not all(character.isprintable() or character in "\n\t" for character in text):
            raise InvalidInput(f"{text!r} has a character that is not printable; rename it.")
