"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

Everything here needs numpy alone; learning needs torch (the extra `torch`). A name is imported when it is
first used, so that `import lcons_core` costs next to nothing.
"""

from typing import Any

from lcons_core._lazy import attach_stub

_find, _, _all = attach_stub(__name__, __file__)
__all__ = ["__version__", *_all]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        return _find(name)
    from importlib.metadata import version

    return version("lcons-core")


def __dir__() -> list[str]:
    return sorted(__all__)
