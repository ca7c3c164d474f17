"""An extension of griffe: examples in docstrings are code."""

from __future__ import annotations

import re
from typing import Any

import griffe  # type: ignore[import-not-found]

# From `>>>` to the next empty line.
EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)


class Doctests(griffe.Extension):  # type: ignore[misc]
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Called with each module, class, function and attribute that was read."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
