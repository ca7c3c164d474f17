"""The paper's citation figures: token accuracy on 100 test references of Cora.

Paper: Sec. 5 and 5.1, Table 3, Appendix D. Structured SVM on raw text features, beam 50, K = 10.
"""

from __future__ import annotations

ACCURACY = {
    "exact": 86.2,
    "search": 87.3,
    "existence search": 88.0,
    "counts search": 87.7,
    "bigram search": 87.9,
    "trigram search": 88.1,
    "pos search": 89.8,
    "punctuation search": 90.2,
    "C1 search": 88.6,
    "C2 search": 90.1,
    "C3 search": 90.6,
}

# The model with POS features, without constraints and with them.
WITH_POS = {"exact": 91.8, "pos search": 92.6, "pos+punctuation search": 93.8}

# Chang et al. 2007.
HAND_CRAFTED = 92.5

# Punctuation with K hidden units.
BY_K = {5: 90.1, 8: 90.3, 10: 90.2}


def figure(base: str, row: str) -> float | None:
    """The paper's figure for a row of a base model; None if it has none."""
    if base == "words+pos":
        return WITH_POS.get(row)
    if base not in ("words", "words-brief"):
        return None
    if row == "designed search":
        return HAND_CRAFTED
    name, _, k = row.partition(" K=")
    if k:
        return BY_K.get(int(k)) if name == "punctuation search" else None
    return ACCURACY.get(row)
