"""Constraints as grammars that guide language models, each checked to have exactly the constraint's set.

| form | engine | texts |
|---|---|---|
| lark | llguidance | label sequences, tuples, records |
| ebnf | XGrammar | the same |
| regex | Outlines, and the others | the same |
| json-schema | all | tuples, records |

A label sequence is written as its labels with a separator between two, a list of tuples as a JSON array of
objects, a record (a constraint without a feature, on a space of named fields) as a JSON object. Several
constraints on the same labels make one grammar: their intersection.

    constraints -> machines -> minimal automaton -> text -> read back -> compared, both ways

The automaton is made by the exact forms of the constraints. A grammar has no dead ends: every text that can
be begun can be completed. Sizes are limited, and `estimate_states` gives the bound before anything is made.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcons_core._coercion import as_constraint
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, LconsError, TooLarge, Unsupported
from lcons_core.features._tuples import Tuples
from lcons_core.grammars._automaton import MAX_STATES, Automaton, Machine, explore
from lcons_core.grammars._ebnf import read_ebnf, write_ebnf
from lcons_core.grammars._json_schema import read_json_schema, write_json_schema
from lcons_core.grammars._label_machines import LengthMachine, label_machine
from lcons_core.grammars._lark import read_lark, write_counted, write_lark
from lcons_core.grammars._records import Records
from lcons_core.grammars._regex import read_regex, write_regex
from lcons_core.grammars._registers import Registers
from lcons_core.grammars._texts import Agreement, TextGraph, Texts, difference, spell

FORMS = ("lark", "ebnf", "regex", "json-schema")
MAX_ARCS = 2**17
_READERS: dict[str, Callable[[str], Texts]] = {"lark": read_lark, "ebnf": read_ebnf, "regex": read_regex}
Given = LearnedConstraint | Sequence[LearnedConstraint]


@dataclass(frozen=True)
class Grammar:
    """The `text` of a grammar in a `form`; `states` of the minimal automaton, `compared` pairs in the
    check."""

    text: str
    form: str
    states: int
    compared: int


def write_grammar(
    constraints: Given,
    form: str = "lark",
    *,
    separator: str = " ",
    end: str = "",
    shortest: int = 0,
    longest: int | None = None,
    most: int = MAX_STATES,
) -> Grammar:
    """The grammar of what satisfies all constraints, after a check that it has exactly this language.

    `separator` stands between two labels and `end` after the last; a sequence has from `shortest` to
    `longest` labels (None: any number). The automaton may have `most` states. Outlines needs an `end`: its
    index loses texts that go on where another text is complete.

    >>> from lcons_core import iob2
    >>> print(write_grammar(iob2(["B", "I", "O"]), "regex", shortest=1).text)
    (?:O|B(?: I)*)(?: O| B(?: I)*)*
    """
    language = _language(constraints, separator, end, shortest, longest, most)
    text = language.written(_known_form(form))
    agreement = language.compared(text, form)
    if not agreement.equal:
        raise LconsError(
            f"the grammar {'has' if agreement.only_first else 'lacks'} the text {agreement.text!r}, which the"
            f" constraint {'rejects' if agreement.only_first else 'accepts'}; please report this as a bug."
        )
    return Grammar(text, form, language.states, agreement.pairs)


def compare_grammar(
    text: str,
    constraints: Given,
    form: str = "lark",
    *,
    separator: str = " ",
    end: str = "",
    shortest: int = 0,
    longest: int | None = None,
    most: int = MAX_STATES,
) -> Agreement:
    """Whether a grammar in a form that `write_grammar` writes has exactly the set of the constraints.

    If not, the answer has a shortest text that only the grammar (`only_first`) or only the constraints
    accept.

    >>> from lcons_core import iob2
    >>> compare_grammar("(?:B|I|O)?", iob2(["B", "I", "O"]), "regex", longest=1).text
    'I'
    """
    return _language(constraints, separator, end, shortest, longest, most).compared(text, _known_form(form))


def label_automaton(
    constraints: Given,
    labels: Sequence[str] | None = None,
    *,
    shortest: int = 0,
    longest: int | None = None,
    within: int | None = None,
    most: int = MAX_STATES,
) -> Automaton:
    """The minimal automaton of the label sequences that satisfy all constraints; labels as in the first
    one.

    With `within`, it need be right only for sequences of at most so many labels, and has fewer states.
    Other `labels` may be given: a constraint on whole sequences allows every sequence with a label it does
    not know.

    >>> from lcons_core import iob2
    >>> automaton = label_automaton(iob2(["B", "I", "O"]))
    >>> len(automaton), automaton.accepts(["B", "I"]), automaton.accepts(["O", "I"])
    (2, True, False)
    """
    given = _listed(constraints)
    names = tuple(labels or given[0].labels)
    machines = _machines(given, names, shortest, longest, within, same=labels is None)
    return explore(machines, names, most, within).minimal()


def estimate_states(constraints: Given, *, shortest: int = 0, longest: int | None = None) -> int:
    """A bound on the states that are looked at; for tuples and records, the number of points."""
    given = _listed(constraints)
    if _of_records(given):
        return given[0].space.size
    return math.prod(machine.bound for machine in _machines(given, given[0].labels, shortest, longest))


@dataclass(frozen=True, eq=False)
class _LabelLanguage:
    """Sequences of labels."""

    machines: tuple[Machine, ...]
    labels: tuple[str, ...]
    separator: str
    end: str
    most: int

    @cached_property
    def automaton(self) -> Automaton:
        return explore(self.machines, self.labels, self.most).minimal()

    @property
    def states(self) -> int:
        return len(self.automaton)

    def written(self, form: str) -> str:
        _check_sequence_form(form)
        if self.automaton.empty:
            raise InvalidInput("no sequence satisfies the constraints, so there is no grammar; check them.")
        graph = spell(self.automaton, self.separator, self.end)
        counted = self._counted() if form == "lark" else None
        if counted is not None and graph.size > MAX_ARCS:
            return counted
        plain = _written(graph, form)
        return plain if counted is None else min(counted, plain, key=len)

    def _counted(self) -> str | None:
        """The grammar with a parameter; None if there is nothing to count, or too much for one parameter."""
        try:
            registers = Registers.of(self.machines, self.labels)
            return None if registers is None else _joined(write_counted(registers, self.separator, self.end))
        except TooLarge:
            return None

    def compared(self, text: str, form: str) -> Agreement:
        _check_sequence_form(form)
        return difference(_READERS[form](text), spell(self.automaton, self.separator, self.end))


@dataclass(frozen=True, eq=False)
class _RecordLanguage:
    """Lists of tuples, or records of fields."""

    records: Records

    @property
    def states(self) -> int:
        return sum(map(len, self.records.diagram.levels)) + 1

    def written(self, form: str) -> str:
        if not self.records.listed and self.records.diagram.root < 0:
            raise InvalidInput("no record satisfies the constraint, so there is no grammar; check it.")
        if form == "json-schema":
            return write_json_schema(self.records)
        return _written(self.records.graph(), form)

    def compared(self, text: str, form: str) -> Agreement:
        if form != "json-schema":
            return difference(_READERS[form](text), self.records.graph())
        allowed = read_json_schema(text, self.records.space, self.records.listed)
        accepted = self.records.verdicts
        wrong = np.argwhere(allowed != accepted)
        if not len(wrong):
            return Agreement(accepted.size)
        at = tuple(wrong[0].tolist())
        record = "".join(piece[value] for piece, value in zip(self.records.pieces, at, strict=True))
        return Agreement(accepted.size, f"[{record}]" if self.records.listed else record, bool(allowed[at]))


def _language(
    constraints: Given, separator: str, end: str, shortest: int, longest: int | None, most: int
) -> _LabelLanguage | _RecordLanguage:
    given = _listed(constraints)
    if _of_records(given):
        if len(given) > 1:
            raise Unsupported(
                "only constraints on label sequences can share a grammar; join these with `a & b`."
            )
        if shortest or longest is not None:
            raise InvalidInput(
                "`shortest` and `longest` are for label sequences; leave them out for records."
            )
        [one] = given
        _check_text(
            [block.name for block in one.space.blocks] + [v for b in one.space.blocks for v in b.values]
        )
        return _RecordLanguage(Records(one.space, one.network, one.feature is not None))
    labels = given[0].labels
    machines = _machines(given, labels, shortest, longest)
    _check_text([*labels, separator, end])
    if not separator:
        raise InvalidInput("`separator` must not be empty, because labels could then run together.")
    clash = [label for label in labels if separator in label]
    if clash:
        raise InvalidInput(
            f"the label {clash[0]!r} contains the separator {separator!r}; choose another one."
        )
    return _LabelLanguage(tuple(machines), labels, separator, end, most)


def _listed(constraints: Given) -> list[LearnedConstraint]:
    given = [constraints] if isinstance(constraints, LearnedConstraint) else list(constraints)
    if not given:
        raise InvalidInput("a grammar needs at least one constraint, found none.")
    return [as_constraint(one, "a grammar", "its feature") for one in given]


def _of_records(given: Sequence[LearnedConstraint]) -> bool:
    return any(one.feature is None or isinstance(one.feature, Tuples) for one in given)


def _machines(
    given: Sequence[LearnedConstraint],
    labels: Sequence[str],
    shortest: int,
    longest: int | None,
    within: int | None = None,
    same: bool = True,
) -> list[Machine]:
    machines = []
    lengths = [length for length in (longest, within) if length is not None]
    for i, one in enumerate(given):
        name = f"constraint {i + 1}" if len(given) > 1 else ""
        machines.append(label_machine(one, labels, name, min(lengths, default=None)))
        if same and set(one.labels) != set(labels):
            strange = min(set(one.labels) ^ set(labels))
            raise InvalidInput(
                f"all constraints of a grammar need the same labels, but not all have {strange!r}; learn them"
                " from the same data."
            )
    if shortest < 0 or (longest is not None and longest < shortest):
        raise InvalidInput(f"lengths must be 0 <= shortest <= longest, found {shortest} and {longest}.")
    if shortest or longest is not None:
        machines.append(LengthMachine(shortest, longest))
    return machines


def _known_form(form: str) -> str:
    if form not in FORMS:
        raise InvalidInput(f"the form of a grammar is one of {', '.join(FORMS)}, found {form!r}.")
    return form


def _check_sequence_form(form: str) -> None:
    if form == "json-schema":
        raise Unsupported(
            "a JSON schema cannot relate the labels of a sequence to each other; write a constraint on label"
            " sequences as lark, ebnf or regex."
        )


def _check_text(names: Sequence[str]) -> None:
    """Raises an error for a character that not all engines read the same way."""
    for name in names:
        strange = [c for c in name if not (c.isprintable() or c in "\n\t")]
        if strange:
            raise InvalidInput(
                f"{name!r} has the character {strange[0]!r}, which is not printable; rename it."
            )


def _written(graph: TextGraph, form: str) -> str:
    if graph.size > MAX_ARCS:
        raise TooLarge(
            f"the grammar has {graph.size:,} arcs, above the limit of {MAX_ARCS:,}; use fewer labels, a"
            " shorter n or lower bounds of counts."
        )
    if form == "regex":
        return write_regex(graph)
    return _joined({"lark": write_lark, "ebnf": write_ebnf}[form](graph))


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
