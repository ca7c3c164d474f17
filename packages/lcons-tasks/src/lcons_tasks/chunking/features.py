"""The constraints of the chunking experiment.

Paper: Appendix E: n-gram label existence with one flipped bit, n-gram POS with one label changed at random;
K = 10. Differs from the paper: one learning rate and one start for all, at most 100 epochs.

Not in the paper: networks of their own for soft use.
"""

from __future__ import annotations

from lcons_tasks.experiment.recipes import Recipe

# Soft constraints: small windows with every label change, larger ones with some.
SOFT = (
    Recipe("pos", 1, many="all", by_frequency=True),
    Recipe("pos", 2, many="all", by_frequency=True),
    Recipe("pos", 3, hidden=30, many=8, by_frequency=True, epochs=40),
)
