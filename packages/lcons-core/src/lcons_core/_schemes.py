"""Ready-made validity constraints for span schemes: IOB2, BIOES and BILOU; and the spans that labels mark.

The constraints are designed (not learned) constraints on label pairs, with explicit START and STOP.

    IOB2:   I-X only after B-X or I-X
    BIOES:  I-X and E-X need B-X or I-X before them; B-X and I-X need I-X or E-X after them
    BILOU:  BIOES with the letters L and U for E and S

A label is O, or a letter and a type (`B-X`), or a letter alone (`B`) where spans have no types.

Labels that break a scheme mark spans, too, by the rules of conlleval and seqeval (`chunks`): a chunk of type
X starts at B-X and S-X, and at I-X and E-X where no chunk of type X goes on; it ends after E and S, and
before B, S, O or another type. L and U are read as E and S.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core.features._ngrams import NgramLabels
from lcons_core.reason._rules import Box, forbid_boxes

OUTSIDE = "O"
# The type of bare B and I.
UNTYPED = "_"
_PREFIXES = frozenset("BIESLU")


@dataclass(frozen=True)
class Scheme:
    """A span scheme: its letters, and those that one letter needs before or after it, for the same type."""

    name: str
    letters: str
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    def fits(self, label: str) -> bool:
        """Whether a label is O, a letter of the scheme, or such a letter and a type."""
        letter, dash, kind = label.partition("-")
        return label == OUTSIDE or (len(letter) == 1 and letter in self.letters and bool(dash) == bool(kind))

    def needed(self, label: str) -> tuple[set[str] | None, set[str] | None]:
        """The labels that may precede a label, and those that may follow it; None means any label."""
        letter, rest = label[:1], label[1:]
        before, after = (
            {other + rest for other in table[letter]} if label != OUTSIDE and letter in table else None
            for table in (self.before, self.after)
        )
        return before, after


def _closed(name: str, last: str, single: str) -> Scheme:
    """A scheme that marks the last token of a span, and spans of one token."""
    return Scheme(name, f"BI{last}{single}", {"I": "BI", last: "BI"}, {"B": f"I{last}", "I": f"I{last}"})


SCHEMES = {
    "iob2": Scheme("IOB2", "BI", {"I": "BI"}),
    "bioes": _closed("BIOES", "E", "S"),
    "bilou": _closed("BILOU", "L", "U"),
}


def iob2(labels: Iterable[str]) -> LearnedConstraint:
    """The constraint that a label sequence is valid IOB2.

    >>> constraint = iob2(["B-NP", "I-NP", "O"])
    >>> constraint.satisfied(["B-NP", "I-NP", "O"]), constraint.satisfied(["I-NP", "O"])
    (True, False)
    """
    return _constraint(SCHEMES["iob2"], labels)


def bioes(labels: Iterable[str]) -> LearnedConstraint:
    """The constraint that a label sequence is valid BIOES (also called IOBES).

    >>> constraint = bioes(["B-PER", "I-PER", "E-PER", "S-PER", "O"])
    >>> constraint.satisfied(["B-PER", "E-PER", "S-PER"]), constraint.satisfied(["B-PER"])
    (True, False)
    """
    return _constraint(SCHEMES["bioes"], labels)


def bilou(labels: Iterable[str]) -> LearnedConstraint:
    """The constraint that a label sequence is valid BILOU.

    >>> constraint = bilou(["B-PER", "I-PER", "L-PER", "U-PER", "O"])
    >>> constraint.satisfied(["B-PER", "L-PER", "O"]), constraint.satisfied(["B-PER"])
    (True, False)
    """
    return _constraint(SCHEMES["bilou"], labels)


def detect_scheme(sequences: Iterable[Sequence[str]]) -> str | None:
    """The scheme that all label sequences obey: "iob2", "bioes", "bilou", or None.

    Some label must not be O. Labels that fit several schemes, such as B-X and I-X alone, are of the first one
    that no sequence violates.

    >>> detect_scheme([["B-NP", "I-NP", "O"]]), detect_scheme([["S-NP", "O"]]), detect_scheme([["I-NP", "O"]])
    ('iob2', 'bioes', None)
    """
    labels: set[str] = set()
    pairs: set[tuple[str | None, str | None]] = set()
    for sequence in sequences:
        if isinstance(sequence, str) or not isinstance(sequence, Iterable):
            raise InvalidInput(f"expected lists of labels, got {sequence!r:.40}.")
        labels.update(sequence)
        pairs.update(pairwise([None, *sequence, None]))
    if labels <= {OUTSIDE}:
        return None
    return next((name for name, scheme in SCHEMES.items() if _obeyed(scheme, labels, pairs)), None)


def chunks(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, after the last) of each chunk.

    >>> list(chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-PP"]))
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5), ('PP', 5, 6)]
    >>> list(chunks(["B-NP", "E-NP", "E-NP", "S-NP"]))
    [('NP', 0, 2), ('NP', 2, 3), ('NP', 3, 4)]
    """
    kind, first = "", 0
    for t, label in enumerate([*labels, OUTSIDE]):
        prefix, _, name = label.partition("-")
        name = name or UNTYPED
        if kind and not (prefix in ("I", "E", "L") and name == kind):
            yield kind, first, t
            kind = ""
        if prefix not in _PREFIXES:
            continue
        if not kind:
            kind, first = name, t
        if prefix not in ("B", "I"):
            yield kind, first, t + 1
            kind = ""


def _obeyed(scheme: Scheme, labels: set[str], pairs: set[tuple[str | None, str | None]]) -> bool:
    if not all(scheme.fits(label) for label in labels):
        return False
    needed = {label: scheme.needed(label) for label in labels}
    for first, second in pairs:
        before = None if second is None else needed[second][0]
        after = None if first is None else needed[first][1]
        if (before is not None and first not in before) or (after is not None and second not in after):
            return False
    return True


def _constraint(scheme: Scheme, labels: Iterable[str]) -> LearnedConstraint:
    feature = NgramLabels(labels, n=2, pad=True)  # type: ignore[arg-type]
    first, second = feature.space.blocks
    boxes = []
    for label in feature.labels:
        if not scheme.fits(label):
            raise InvalidInput(f"expected {scheme.name} labels such as {scheme.letters[0]}-X, got {label!r}.")
        for allowed, block, other in zip(scheme.needed(label), (second, first), (first, second), strict=True):
            if allowed is not None:
                rest = [value for value in other.values if value not in allowed]
                boxes.append(Box.of(feature.space, {block.name: label, other.name: rest}))
    network = forbid_boxes(feature.space, boxes)
    return LearnedConstraint(network, feature.space, feature, {"designed": scheme.name})
