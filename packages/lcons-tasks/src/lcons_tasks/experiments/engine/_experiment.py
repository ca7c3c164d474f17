"""The protocol of an experiment: its cells, how a cell is filled, and the document of a run.

    options -> cells -> fill, on several cores -> Record -> Document -> report.md, report.html, results.json

The fields of its options become the options of `lcons run NAME`, stages are kept by content (`_kept.py`), the
document is a template (`_template.py`), and `_run.py` runs it and writes its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from lcons_tasks.data import find

if TYPE_CHECKING:
    from pathlib import Path

    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.engine._record import Record
    from lcons_tasks.report._document import Document

O = TypeVar("O", bound="RunOptions")  # noqa: E741
C = TypeVar("C")


@dataclass(frozen=True)
class Flag:
    """The option of the command that sets a field: its names, help, default (which the help shows), and the
    least and the largest value, or the choices."""

    names: tuple[str, ...]
    help: str
    default: Any = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()


def option(value: Any, name: str, help: str, *more: str, **rest: Any) -> Any:
    """A field of options, and the flag that sets it."""
    return field(default=value, metadata={"flag": Flag((name, *more), help, **rest)})


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. A field that `option` makes is an option of the command, too."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, tuple):
                # A repeated cell would make the spread look smaller than it is.
                object.__setattr__(self, one.name, tuple(dict.fromkeys(value)))

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Self:
        """The options of a quick run, or with `full` of the paper's whole table, on a corpus."""
        return cls()

    @classmethod
    def chosen(cls, given: Mapping[str, Any], full: bool = False) -> Self:
        """The options of `start`, with the given values in their place."""
        start = cls.start(full, given.get("corpus", "auto"))
        return replace(start, **{name: value for name, value in given.items() if name != "corpus"})


def corpus_named(name: str, papers: str) -> str:
    """The name of a corpus; `auto` is the paper's corpus if it is found, otherwise the bundled one."""
    return (papers if find(papers) else "bundled") if name == "auto" else name


class Experiment(Protocol[O, C]):
    """An experiment; a subclass may leave out the members that have a default here.

    `leaves` are the folders that `leave` writes. The docstring of the class is the help of the command.
    """

    name: str
    options: type[O]
    leaves: tuple[str, ...] = ()

    def cells(self, options: O) -> Sequence[C]:
        """The cells to fill; `str(cell)` is a readable name."""
        ...

    def fill(self, cell: C, kept: Stages) -> Record:
        """The results of a cell."""
        ...

    def document(self, options: O, record: Record) -> Document:
        """The document of a run."""
        ...

    def shared(self, options: O, kept: Stages) -> Sequence[tuple[str, Callable[[], object]]]:
        """Work that several cells need, each piece with a readable name, the longest first."""
        return ()

    def cost(self, cell: C) -> float:
        """A rough estimate of the processor seconds that a cell takes without kept stages; the cell with the
        highest cost is filled first."""
        return 0.0

    def leave(self, folder: Path, options: O, record: Record, kept: Stages) -> None:
        """Writes the files of a run other than its report."""
