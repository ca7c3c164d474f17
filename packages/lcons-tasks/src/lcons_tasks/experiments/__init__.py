"""The experiments: the four of the paper, each a folder.

A task is a folder with its corpus, model, constraints, experiment and paper, and a line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """Where the experiment of a task is, and what it is about, in a line; importing it is left for later."""

    module: str
    about: str

    def load(self) -> Any:
        """The experiment."""
        return import_module(f"lcons_tasks.experiments.{self.module}").EXPERIMENT


EXPERIMENTS = {
    "chunking": Entry("chunking._experiment", "Chunks, with few labelled sentences."),
    "citation": Entry("citation._experiment", "Fields of bibliographic references."),
    "er": Entry("entity_relation._experiment", "Entities and relations."),
    "synthetic": Entry("synthetic._experiment", "Hidden constraints of integer programs."),
}

__all__ = ["EXPERIMENTS", "Entry"]
