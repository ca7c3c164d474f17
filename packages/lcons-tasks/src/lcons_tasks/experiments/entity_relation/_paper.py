"""The paper's figures: micro F1 on 30% of Roth and Yih's sentences, by set of constraints.

Paper: Sec. 4.1, Table 1. Structured SVM, C = 2^-6, constraints in training and in prediction.
"""

from __future__ import annotations

F1 = {
    "designed": {"entity f1": 84.1, "relation f1": 41.5},
    "learned": {"entity f1": 83.1, "relation f1": 38.2},
}
C = 2.0**-6

# Systems of the same setting (candidates given, no pretrained encoder): entity and relation F1.
PUBLISHED = {
    "Miwa and Sasaki 2014": (92.3, 71.0),
    "Gupta et al. 2016": (92.4, 69.9),
    "Bekoulis et al. 2018, joint": (93.3, 67.0),
    "Bekoulis et al. 2018, adversarial training": (93.0, 68.0),
    "Nguyen and Verspoor 2019": (93.8, 69.6),
}
