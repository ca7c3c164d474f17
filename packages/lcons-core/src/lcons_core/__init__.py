"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

The package needs only numpy; learning needs torch (the extra `torch`). Each name is imported at its first
use, so `import lcons_core` takes almost no time.

Paper: Sec. 2 (representing constraints) and Sec. 3 (learning constraints).
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
