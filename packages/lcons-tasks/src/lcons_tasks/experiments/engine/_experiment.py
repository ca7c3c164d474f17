"""An experiment: which cells there are, how one is filled, and what a run has to say.

    options -> cells -> fill, on several cores -> Record -> Document -> report.md, report.html, results.json

What is not said here, an experiment need not have: its options become those of `lcons run NAME`, stages are
kept by content (`_kept.py`), tables, gains and claims are functions of its record (`_blocks.py`), and
`_run.py` runs it and writes what it found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from lcons_core import InvalidInput
from lcons_tasks.data import find

if TYPE_CHECKING:
    from pathlib import Path

    from lcons_tasks.experiments.engine._jobs import OnEvent, Phase, Tell
    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.engine._record import Record
    from lcons_tasks.report._document import Document

O = TypeVar("O", bound="RunOptions")  # noqa: E741
C = TypeVar("C")


@dataclass(frozen=True)
class Flag:
    """How an option is spelled; its help; its default there, which the help shows; the least value; the type
    of what is given, and how a value of the field is written with it."""

    names: tuple[str, ...]
    help: str
    default: Any = None
    least: int | None = None
    kind: type | None = None
    form: str = "{}"


def flag(name: str, help: str, *more: str, **rest: Any) -> Flag:
    """A flag by its name and help, and its other names."""
    return Flag((name, *more), help, **rest)


def option(default: Any, *flags: Flag) -> Any:
    """A field of options, and the flags that fill it."""
    return field(default=default, metadata={"flags": flags})


@dataclass(frozen=True)
class RunOptions:
    """What to run. A field that is made by `option` is an option of the command."""

    needed: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.needed:
            if not getattr(self, name):
                raise InvalidInput(f"at least one of {name} is needed, found none; name one.")
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, tuple):
                # The same cell twice would only make the spread look small.
                object.__setattr__(self, one.name, tuple(dict.fromkeys(value)))
        self.check()

    def check(self) -> None:
        """Raises `InvalidInput` where the options make no sense."""

    @classmethod
    def start(cls: type[O], full: bool, corpus: str = "auto") -> O:
        """The options of a quick look, or of the whole table of the paper, on a corpus."""
        return cls()

    @classmethod
    def chosen(cls: type[O], given: Mapping[str, Any], full: bool = False) -> O:
        """The options to start from, with what was given in their place."""
        start = cls.start(full, given.get("corpus", "auto"))
        return replace(start, **{name: value for name, value in given.items() if name != "corpus"})


def corpus_named(name: str, papers: str) -> str:
    """The name of a corpus; `auto` is the paper's where it is found, else the bundled one."""
    return (papers if find(papers) else "bundled") if name == "auto" else name


class Experiment(Protocol[O, C]):
    """What an experiment says of itself; a subclass need not define what has a body here.

    `phase` is what filling the cells is called, `leaves` are the folders that `leave` writes. The docstring
    of the class is the help of the command.
    """

    name: str
    options: type[O]
    phase: str = "filling"
    leaves: tuple[str, ...] = ()

    def cells(self, options: O) -> Sequence[C]:
        """The cells to fill, each with a name for people as its string."""
        ...

    def fill(self, cell: C, kept: Stages, tell: Tell) -> Record:
        """The results of a cell."""
        ...

    def document(self, options: O, record: Record) -> Document:
        """What a run has to say."""
        ...

    def seconds(self, options: O) -> float:
        """Processor seconds of a run that finds nothing kept from earlier ones; a rough guess."""
        return 0.0

    def before(self, options: O) -> Sequence[Phase]:
        """Work that several cells need, the longest first."""
        return ()

    def cost(self, cell: C) -> float:
        """How long a cell takes beside others; the longest is filled first."""
        return 0.0

    def leave(self, folder: Path, options: O, record: Record, kept: Stages) -> None:
        """Writes what a run leaves behind beside its report."""

    def instead(
        self, options: O, folder: Path, kept: Stages, jobs: int | None, progress: OnEvent | None
    ) -> str | None:
        """What is done instead of the run, and printed; None for a run."""
        return None
