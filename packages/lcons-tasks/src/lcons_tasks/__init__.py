"""Experiments on learned constraints: corpora, models, constraint features, metrics, reports."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("lcons-tasks")
