"""Programs as LP and MPS files: complete models, with names that survive.

Both formats restrict names, so variables are x0, x1, ..., rows r0, r1, ... and the equations of decisions
o0, o1, ... in the model; comment lines hold the real names as JSON, one object a line, which other programs
skip and `read_program` reads. Numbers are written so that they read back as the same floats; only the order
of a row's terms is not kept in MPS.

Names are made of strings, numbers, truth values, None and tuples of these. To export learned constraints too,
write `with_constraints(program, constraints, form)`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lcons_core.errors import DamagedFile, InvalidInput
from lcons_decode.ilp import lp, mps
from lcons_decode.ilp.model import Column, Model
from lcons_decode.ilp.program import Name, Program, Row, Type, Variable

_VERSION = 1
_TITLE = "lcons program"


def write_program(program: Program, path: str | os.PathLike[str]) -> None:
    """Writes a complete model; the ending .lp or .mps says which format."""
    file = Path(path)
    comment, write, _ = _format_of(file)
    if not program.variables:
        raise InvalidInput("a program without variables cannot be written; there is nothing to solve.")
    names = [f"{comment} {_TITLE} {json.dumps(entry)}" for entry in _names(program)]
    file.write_text("\n".join([*names, *write(_short(program)), ""]), encoding="utf-8")


def read_program(path: str | os.PathLike[str]) -> Program:
    """The program that `write_program` wrote, names and all."""
    file = Path(path)
    comment, _, read = _format_of(file)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        prefix = f"{comment} {_TITLE} "
        entries = [json.loads(line[len(prefix) :]) for line in lines if line.startswith(prefix)]
        if not entries or entries[0]["version"] != _VERSION:
            raise ValueError(f"it has no names of version {_VERSION}")
        return _restored(entries[1:], read([line for line in lines if not line.startswith(comment)]))
    except (OSError, KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise DamagedFile(
            f"{file} is not a program as write_program writes it ({type(error).__name__}: {error}); write it"
            " again."
        ) from None


def _short(program: Program) -> Model:
    """The model under short names."""
    short = {name: f"x{i}" for i, name in enumerate(program.variables)}
    whole = (Type.BINARY, Type.INTEGER)
    columns = {
        short[v.name]: Column(v.objective, v.low, v.high, v.type in whole) for v in program.variables.values()
    }
    names = [*(f"o{i}" for i in range(len(program.decisions))), *(f"r{i}" for i in range(len(program.rows)))]
    rows = {}
    for name, row in zip(names, program.all_rows(), strict=True):
        # A row without terms is kept: it may be what makes the program infeasible.
        terms = {short[x]: c for x, c in row.terms} or {"x0": 0.0}
        rows[name] = (terms, row.sense, row.rhs)
    return Model(columns, rows)


def _names(program: Program) -> Iterator[dict[str, Any]]:
    """What the short names stand for, in the order of the model."""
    yield {"version": _VERSION}
    for i, v in enumerate(program.variables.values()):
        yield {"variable": f"x{i}", "name": _to_plain(v.name), "type": str(v.type)}
    short = {name: f"x{i}" for i, name in enumerate(program.variables)}
    for i, (decision, labels) in enumerate(program.decisions.items()):
        indicators = {label: short[name] for label, name in labels.items()}
        yield {"decision": f"o{i}", "name": _to_plain(decision), "labels": indicators}
    for i, row in enumerate(program.rows):
        group = {} if row.group is None else {"group": row.group}
        yield {"row": f"r{i}", "name": _to_plain(row.name), **group}


def _restored(entries: Sequence[dict[str, Any]], model: Model) -> Program:
    """The program under its own names."""
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
    ".lp": (lp.COMMENT, lp.write_lp, lp.read_lp),
    ".mps": (mps.COMMENT, mps.write_mps, mps.read_mps),
}


def _format_of(file: Path) -> _Format:
    found = _FORMATS.get(file.suffix.lower())
    if found is None:
        raise InvalidInput(
            f"a program's file ends with {' or '.join(_FORMATS)}, found {file.name!r}; rename it."
        )
    return found


def _to_plain(name: Any) -> Any:
    if isinstance(name, tuple):
        return [_to_plain(part) for part in name]
    if name is None or isinstance(name, str | int | float):
        return name
    raise InvalidInput(
        f"names in files are made of strings, numbers and tuples, found {type(name).__name__} {name!r};"
        " rename it."
    )


def _from_plain(name: Any) -> Name:
    return tuple(_from_plain(part) for part in name) if isinstance(name, list) else name
