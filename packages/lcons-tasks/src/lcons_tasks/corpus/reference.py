"""A bibliographic reference: segments of text, each of a field or of none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Segment(NamedTuple):
    """Text of one field; None where it is outside any."""

    field: str | None
    text: str


@dataclass(frozen=True)
class Reference:
    """The segments in the order of the text, with single spaces between words."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The whole reference without its fields."""
        return " ".join(segment.text for segment in self.segments)


def squeezed(text: str) -> str:
    """`text` with single spaces between words and none around."""
    return " ".join(text.split())
