"""lcons-tasks: read labelled data, train a tagger, constrain it, diagnose it, and run the experiments.

    data -> models -> own_data -> diagnosis -> apps -> report -> experiments

Each folder is a public subpackage; the names most people need are here too. A name is imported when it is
first used: spaCy, torch and numba take seconds to import.
"""

from typing import Any

import lazy_loader

_find, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        return _find(name)
    from importlib.metadata import version

    return version("lcons-tasks")


def __dir__() -> list[str]:
    return sorted(__all__)
