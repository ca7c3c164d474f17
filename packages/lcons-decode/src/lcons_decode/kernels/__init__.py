"""The inner loops of the decoders, twice: compiled by numba, and in numpy. Both give the same answers.

`LCONS_DECODE_BACKEND` (numba or numpy) chooses by hand; numba is imported at the first use only.
"""

from __future__ import annotations

import os
from types import ModuleType

from lcons_core._errors import InvalidInput

BACKENDS = ("numba", "numpy")


def backend() -> ModuleType:
    """The module of kernels in use: numba's, or numpy's where numba is missing or not wanted."""
    chosen = os.environ.get("LCONS_DECODE_BACKEND", "")
    if chosen and chosen not in BACKENDS:
        raise InvalidInput(f"LCONS_DECODE_BACKEND must be one of {', '.join(BACKENDS)}, found {chosen!r}.")
    if chosen != "numpy":
        try:
            from lcons_decode.kernels import _compiled as compiled

            return compiled
        except ImportError:
            if chosen == "numba":
                raise
    from lcons_decode.kernels import _plain as plain

    return plain
