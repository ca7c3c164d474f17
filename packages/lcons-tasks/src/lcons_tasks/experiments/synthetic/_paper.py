"""The paper's figures by number of hidden units, in percent, and those of a solver without constraints.

Paper: Appendix B, Table 5.
"""

from __future__ import annotations

HIDDEN = (2, 3, 4, 5, 6, 7, 8, 9, 10)
FIGURES = {
    "network": (85.1, 87.3, 92.1, 90.3, 95.0, 94.3, 94.1, 97.7, 98.0),
    "bits": (81.1, 80.9, 81.9, 80.2, 81.0, 82.3, 81.1, 83.2, 83.5),
    "hidden": (70.3, 69.8, 72.7, 70.4, 70.1, 71.1, 71.4, 74.4, 74.3),
    "gold": (95.6, 98.6, 98.7, 99.1, 97.4, 98.9, 99.9, 99.1, 99.4),
}
BASELINE = {"bits": 56.8, "hidden": 55.3}
