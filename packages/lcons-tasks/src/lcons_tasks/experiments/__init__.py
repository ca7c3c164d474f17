"""The four experiments of the paper, one folder each, and a suite of labelled sets for `fit`.

The folder of a task holds its corpus, model, constraints, experiment and paper; `EXPERIMENTS` has one line
per task.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """The module of a task's experiment and its description in one line; `load` imports the module."""

    module: str
    about: str

    def load(self) -> Any:
        """The experiment."""
        return import_module(f"lcons_tasks.experiments.{self.module}").EXPERIMENT


EXPERIMENTS = {
    "chunking": Entry("chunking._experiment", "Label chunks with few labelled sentences."),
    "citation": Entry("citation._experiment", "Label the fields of bibliographic references."),
    "er": Entry("entity_relation._experiment", "Label entities and relations."),
    "synthetic": Entry("synthetic._experiment", "Learn hidden constraints of integer programs."),
    "suite": Entry("suite._experiment", "Measure `fit` on many sets with few labels."),
}

__all__ = ["EXPERIMENTS"]
