"""The paper's chunking table: token accuracy on the CoNLL-2000 test set, by training ratio.

Paper: Sec. 6.1, Table 4. BiLSTM-CRF with GloVe, beam 10, K = 10, mean of two seeds.
"""

from __future__ import annotations

RATIOS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)

ACCURACY: dict[str, tuple[float, ...]] = {
    "exact": (82.11, 88.70, 90.49, 92.57, 93.94, 94.75),
    "search": (81.29, 88.27, 90.62, 91.33, 92.51, 93.44),
    "existence-2 search": (81.28, 88.30, 89.73, 91.24, 90.40, 92.48),
    "existence-3 search": (80.98, 88.20, 90.58, 91.20, 92.37, 93.12),
    "pos-3 search": (86.52, 90.74, 91.80, 92.41, 93.07, 93.84),
    "pos-4 search": (84.21, 90.99, 92.17, 92.46, 93.08, 93.93),
}

# ELMo instead of GloVe, with 1% of the data and exact decoding; all parameters and trained ones of both.
ELMO = {"accuracy": 87.09, "in all": 94_000_000, "trained": 561_000}
GLOVE = {"in all": 3_000_000, "trained": 190_000}


def figure(row: str, ratio: float) -> float | None:
    """The paper's figure for a row; None if it has none."""
    if row not in ACCURACY or ratio not in RATIOS:
        return None
    return ACCURACY[row][RATIOS.index(ratio)]


def best(ratio: float) -> float | None:
    """The paper's best figure over all rows; None if it has none at this ratio."""
    return max(values[RATIOS.index(ratio)] for values in ACCURACY.values()) if ratio in RATIOS else None
