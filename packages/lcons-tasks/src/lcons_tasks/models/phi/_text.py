"""phi of a token of running text, as strings: word, affixes, shape, neighbours and context columns.

These are the features of the base model, not constraint features.
"""

from __future__ import annotations

from collections.abc import Sequence

from lcons_core import WORD
from lcons_tasks.models.phi._tokens import Columns, shape

AFFIXES = (1, 2, 3)
AROUND = (-2, -1, 1, 2)


def text_features(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The attributes of each token.

    >>> text_features({"word": ["Go", "on"]})[1][:4]
    ['bias', 'w=on', 'shape=x', 'suffix=n']
    """
    words = [word.lower() for word in x[WORD]]
    rows = []
    for t, word in enumerate(words):
        row = ["bias", f"w={word}", f"shape={shape(x[WORD][t])}"]
        row += [f"suffix={word[-k:]}" for k in AFFIXES] + [f"prefix={word[:k]}" for k in AFFIXES]
        for k in AROUND:
            if 0 <= t + k < len(words):
                row += [f"w{k:+}={words[t + k]}", f"suffix{k:+}={words[t + k][-3:]}"]
        for before, after in ((-1, 0), (0, 1)):
            if t + before >= 0 and t + after < len(words):
                row.append(f"w{before:+},{after:+}={words[t + before]} {words[t + after]}")
        for name in columns:
            values = x[name]
            row.append(f"{name}={values[t]}")
            row += [f"{name}{k:+}={values[t + k]}" for k in AROUND if 0 <= t + k < len(words)]
        row += ["first"] * (t == 0) + ["last"] * (t == len(words) - 1)
        rows.append(row)
    return rows
