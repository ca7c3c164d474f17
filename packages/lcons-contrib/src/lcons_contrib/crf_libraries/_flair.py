"""The transitions of a flair `SequenceTagger`, from arrays that were saved where flair is installed.

    np.savez("tagger.npz", transitions=tagger.crf.transitions.detach().cpu().numpy(),
             tags=np.array(tagger.label_dictionary.get_items()))

| array | shape | is |
|---|---|---|
| transitions | (L + 2, L + 2) | scores of transitions, **[to, from]**: row i has those that lead to tag i |
| tags | (L + 2,) | the names of rows and columns, with `<START>` and `<STOP>` |

A labelling y of T tokens has the score

    transitions[y_1, <START>] + sum_t transitions[y_{t+1}, y_t] + transitions[<STOP>, y_T]
                                                                + sum_t emission[t, y_t]

so that transition here, which is [from, to], is the transpose without the two, start is the column of
`<START>`, and stop the row of `<STOP>`. Emissions are what the layer before the CRF returns, (T, L + 2) in
the order of `tags` (up to flair 0.10, `tagger.transitions` and `tagger.tag_dictionary`, in the same order).
flair is not imported.

Not in the paper.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from lcons_core import InvalidInput, LconsError
from lcons_core.storage._archive import opened_archive
from lcons_decode import ChainScores
from lcons_decode._scores import read_scores

FIRST, LAST = "<START>", "<STOP>"


class FlairScores:
    """Scores sequences as a flair tagger does: `transitions` is [to, from], `tags` name both.

    >>> transitions = [[0.0, 1.0, 5.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0] * 4, [0.0, 3.0, 0.0, 0.0]]
    >>> scores = FlairScores(transitions, ["O", "S-X", "<START>", "<STOP>"]).scores(np.zeros((2, 4)))
    >>> scores.labels, scores.score(["O", "S-X"])         # 5 from <START>, 2 from O to S-X, 3 to <STOP>
    (('O', 'S-X'), 10.0)
    """

    def __init__(self, transitions: Any, tags: Sequence[str]) -> None:
        names, array = tuple(map(str, tags)), read_scores(transitions, "transitions", 2)
        if array.shape != (len(names),) * 2 or names.count(FIRST) != 1 or names.count(LAST) != 1:
            raise InvalidInput(
                f"expected transitions of shape {(len(names),) * 2}, and {FIRST} and {LAST} once among the"
                f" tags, found {array.shape} and {', '.join(names[:8])}; save all items of the dictionary."
            )
        first, last = names.index(FIRST), names.index(LAST)
        self._columns = [i for i in range(len(names)) if i not in (first, last)]
        self._tags = len(names)
        self.labels: tuple[str, ...] = tuple(names[i] for i in self._columns)
        self.transition = array.T[np.ix_(self._columns, self._columns)]
        self.start = array[self._columns, first]
        self.stop = array[last, self._columns]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FlairScores:
        """The transitions in an npz file with the arrays `transitions` and `tags`."""
        try:
            with opened_archive(path) as archive:
                return cls(archive.array("transitions"), archive.array("tags").tolist())
        except (LconsError, OSError) as error:
            raise InvalidInput(f"{os.fspath(path)!r} has no transitions of a flair tagger: {error}") from None

    def scores(self, emission: Any) -> ChainScores:
        """The scores of one sequence from its emissions (T, L + 2), in the order of the tags."""
        rows = read_scores(emission, "emission", 2)
        if rows.shape[1] != self._tags:
            raise InvalidInput(f"expected emission of shape (T, {self._tags}), found {rows.shape}.")
        return ChainScores(rows[:, self._columns], self.transition, self.start, self.stop, labels=self.labels)
