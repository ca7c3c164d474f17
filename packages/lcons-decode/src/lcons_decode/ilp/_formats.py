"""Programs as LP and MPS files: complete models that keep the names.

Both formats restrict names. In the model, variables are x0, x1, ..., rows r0, r1, ... and the equations of
decisions o0, o1, ... Comment lines hold the real names as JSON; other programs skip them, and `read_program`
reads them. With `readable`, the part of the real name that the formats allow is appended, for a solver's
output: x3_relation_Kill. Numbers are read back as the same floats; only the order of a row's terms is lost in
MPS.

Names consist of strings, numbers, truth values, None and tuples of these. To export learned constraints, too,
write `with_constraints(program, constraints, form)`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import DamagedFile, InvalidInput
from lcons_core.storage import replacing
from lcons_decode.ilp._linear_model import Column, Model, read_lp, read_mps, write_lp, write_mps
from lcons_decode.ilp._program import Name, Program, Row, Type, Variable

_VERSION = 1
_TITLE = "lcons program"
_GOES_ON = "lcons goes on"
_LONGEST_COMMENT = 500
_LONGEST_NAME = 40  # readers limit the length of names and lines


def write_program(program: Program, path: str | os.PathLike[str]) -> None:
    """Writes a complete model; the ending .lp or .mps selects the format. If this fails, an existing file
    stays unchanged."""
    lines = program_lines(program, path)
    with replacing(path) as file:
        file.write("\n".join([*lines, ""]).encode("utf-8"))


def program_lines(program: Program, path: str | os.PathLike[str], readable: bool = False) -> list[str]:
    """The lines of the file that `write_program` writes; `readable` appends readable names.

    >>> from lcons_decode.ilp._program import graph_program
    >>> program = graph_program({"city": {"Location": 2.0, "Person": 1.0}})
    >>> program_lines(program, "program.lp", readable=True)[-10:-6]
    ['Maximize', ' obj: + 2 x0_city_Location + 1 x1_city_Person', 'Subject To',
     ' o0_city: + 1 x0_city_Location + 1 x1_city_Person = 1']
    """
    comment, write, _ = _format_of(Path(path))
    if not program.variables:
        raise InvalidInput("expected a program with variables, found none; there is nothing to solve.")
    short = _ShortNames.of(program, readable)
    comments = [line for entry in _names(program, short) for line in _comments(comment, json.dumps(entry))]
    return [*comments, *write(_model(program, short))]


def read_program(path: str | os.PathLike[str]) -> Program:
    """The program that `write_program` wrote, with its names."""
    file = Path(path)
    comment, _, read = _format_of(file)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        entries = [json.loads(text) for text in _joined(comment, lines)]
        if not entries or entries[0]["version"] != _VERSION:
            raise ValueError(f"its comment lines have no names of version {_VERSION}")
        return _restored(entries[1:], read([line for line in lines if not line.startswith(comment)]))
    except (OSError, KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise DamagedFile(
            f"{file} is not a file of write_program ({type(error).__name__}: {error}); write it again."
        ) from None


def _comments(comment: str, text: str) -> Iterator[str]:
    """A text as comment lines of limited length: CBC reads the rest of a longer line as part of the model."""
    for first in range(0, len(text), _LONGEST_COMMENT):
        yield f"{comment} {_GOES_ON if first else _TITLE} {text[first : first + _LONGEST_COMMENT]}"


def _joined(comment: str, lines: Sequence[str]) -> list[str]:
    """The texts that `_comments` split into lines."""
    texts: list[str] = []
    for line in lines:
        if line.startswith(f"{comment} {_TITLE} "):
            texts.append(line.removeprefix(f"{comment} {_TITLE} "))
        elif line.startswith(f"{comment} {_GOES_ON} "):
            texts[-1] += line.removeprefix(f"{comment} {_GOES_ON} ")
    return texts


@dataclass(frozen=True)
class _ShortNames:
    """The names of variables, decisions and rows in a model."""

    variables: dict[Name, str]
    decisions: list[str]
    rows: list[str]

    @classmethod
    def of(cls, program: Program, readable: bool) -> _ShortNames:
        def short(letter: str, i: int, name: Name) -> str:
            return f"{letter}{i}{_readable(name) if readable else ''}"

        return cls(
            {name: short("x", i, name) for i, name in enumerate(program.variables)},
            [short("o", i, decision) for i, decision in enumerate(program.decisions)],
            [short("r", i, row.name) for i, row in enumerate(program.rows)],
        )


def _readable(name: Name) -> str:
    """The part of a name that the formats allow, to be appended to a short one."""
    words = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    allowed = re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_")
    return f"_{allowed[:_LONGEST_NAME]}".rstrip("_")


def _model(program: Program, short: _ShortNames) -> Model:
    """The model under short names."""
    whole = (Type.BINARY, Type.INTEGER)
    columns = {
        short.variables[v.name]: Column(v.objective, v.low, v.high, v.type in whole)
        for v in program.variables.values()
    }
    rows = {}
    for name, row in zip([*short.decisions, *short.rows], program.all_rows(), strict=True):
        # A row without terms is kept: it may make the program infeasible.
        terms = {short.variables[x]: c for x, c in row.terms} or {next(iter(columns)): 0.0}
        rows[name] = (terms, row.sense, row.rhs)
    return Model(columns, rows)


def _names(program: Program, short: _ShortNames) -> Iterator[dict[str, Any]]:
    """The real names behind the short names, in the order of the model."""
    yield {"version": _VERSION}
    for v in program.variables.values():
        yield {"variable": short.variables[v.name], "name": _to_plain(v.name), "type": str(v.type)}
    for own, (decision, labels) in zip(short.decisions, program.decisions.items(), strict=True):
        indicators = {label: short.variables[name] for label, name in labels.items()}
        yield {"decision": own, "name": _to_plain(decision), "labels": indicators}
    for own, row in zip(short.rows, program.rows, strict=True):
        group = {} if row.group is None else {"group": row.group}
        yield {"row": own, "name": _to_plain(row.name), **group}


def _restored(entries: Sequence[dict[str, Any]], model: Model) -> Program:
    """The program with its real names."""
    variables: dict[Name, Variable] = {}
    full: dict[str, Name] = {}
    decisions, rows = {}, []
    for entry in entries:
        name = _from_plain(entry["name"])
        if "variable" in entry:
            column = model.columns[entry["variable"]]
            full[entry["variable"]] = name
            type_ = Type(entry["type"])
            variables[name] = Variable(name, column.objective, column.low, column.high, type_)
        elif "decision" in entry:
            decisions[name] = {label: full[x] for label, x in entry["labels"].items()}
        else:
            terms, sense, rhs = model.rows[entry["row"]]
            kept = tuple((full[x], c) for x, c in terms.items() if c)
            rows.append(Row(name, kept, sense, rhs, entry.get("group")))
    return Program(variables, decisions, tuple(rows))


_Format = tuple[str, Callable[[Model], Iterator[str]], Callable[[Sequence[str]], Model]]
_FORMATS: dict[str, _Format] = {
    ".lp": ("\\", write_lp, read_lp),
    ".mps": ("*", write_mps, read_mps),
}


def _format_of(file: Path) -> _Format:
    found = _FORMATS.get(file.suffix.lower())
    if found is None:
        raise InvalidInput(
            f"the file name of a program must end with {' or '.join(_FORMATS)}, found {file.name!r}; rename"
            " it."
        )
    return found


def _to_plain(name: Any) -> Any:
    if isinstance(name, tuple):
        return [_to_plain(part) for part in name]
    if name is None or isinstance(name, str | int | float):
        return name
    raise InvalidInput(
        f"names in files must consist of strings, numbers and tuples, found {type(name).__name__} {name!r};"
        " rename it."
    )


def _from_plain(name: Any) -> Name:
    return tuple(_from_plain(part) for part in name) if isinstance(name, list) else name
