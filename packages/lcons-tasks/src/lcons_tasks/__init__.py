"""lcons-tasks: read labelled data, train a tagger, constrain it, diagnose it, and run the experiments.

    data -> models -> own_data -> diagnosis -> apps -> report -> experiments

Each folder is a public subpackage; the names most people need are here too. A name is imported when it is
first used: spaCy, torch and numba take seconds to import.
"""

from typing import Any

import lazy_loader

from lcons_core import forward_modules

_find, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["__version__", *_names]


# As 0.1.0 had them.
_MOVED = {
    "corpus": ("lcons_tasks.data",),
    "labelled": ("lcons_tasks.own_data", "lcons_core.learn"),
    "metrics": ("lcons_tasks", "lcons_tasks.stats"),
    "parsing": ("lcons_tasks.apps.references",),
    "tagging": ("lcons_tasks.apps",),
    "text": ("lcons_tasks.data.text",),
}
forward_modules({f"lcons_tasks.{old}": homes for old, homes in _MOVED.items()}, until="0.3")


def __getattr__(name: str) -> Any:
    if name != "__version__":
        return _find(name)
    from importlib.metadata import version

    return version("lcons-tasks")


def __dir__() -> list[str]:
    return sorted(__all__)
