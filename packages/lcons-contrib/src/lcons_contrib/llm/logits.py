"""A logits processor for `transformers`: a causal language model writes labels under constraints.

The text is a template: for each token of a sequence, fixed ids (a word, or nothing), then one label, and at
the end the end-of-sequence token. Where the template has fixed ids they are copied. Where it has a label,
only ids of labels after which a valid labelling is still possible keep their scores (`LabelLattice`), so the
output always satisfies the hard constraints, also those on whole sequences. A soft constraint adds its
penalty to the score of the label that completes a window; a label of several ids gets the best penalty
among the labels that begin with the ids so far, so that the sum over its ids is its own penalty.

Which distribution: greedy and beam search maximise the model's scores plus penalties over valid outputs (a
beam is not exact). Sampling renormalises at every step, which is *not* the conditional distribution of the
model under the constraints: it ignores how much of it lies behind each label.

The processor reads tensors by their own methods, so neither transformers nor torch is imported here.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_contrib.llm._lattice import LabelLattice, State
from lcons_core import InvalidInput
from lcons_decode import ChainConstraints
from lcons_decode._constraints import Constraint
from lcons_decode._scores import X


class LabelLogitsProcessor:
    """For `model.generate(..., logits_processor=[LabelLogitsProcessor(...)])`.

    labels: the token ids of each label, by name; no label may begin with another.
    words: for each sequence of the batch, the ids that are copied before each label; one list per token.
    prompt_length: the number of ids of the (padded) prompt, `input_ids.shape[1]`.
    xs: the columns of each sequence, for constraints that read the input.
    Beams and several answers per sequence are recognised by the number of rows.
    """

    def __init__(
        self,
        labels: Mapping[str, int | Sequence[int]],
        words: Sequence[Sequence[Sequence[int]]],
        constraints: Iterable[Constraint] | ChainConstraints = (),
        *,
        eos_token_id: int,
        prompt_length: int,
        xs: Sequence[X] | None = None,
    ) -> None:
        self.labels = tuple(labels)
        self.ids = [(ids,) if isinstance(ids, int) else tuple(ids) for ids in labels.values()]
        for i, ids in enumerate(self.ids):
            if not ids or any(other[: len(ids)] == ids for other in self.ids[:i] + self.ids[i + 1 :]):
                raise InvalidInput(f"the ids of label {self.labels[i]!r} are empty or begin another label.")
        if not words or (xs is not None and len(xs) != len(words)):
            raise InvalidInput("expected words, and with `xs` one x, for each sequence of the batch.")
        self.words = [[tuple(word) for word in sequence] for sequence in words]
        self.eos_token_id, self.prompt_length = eos_token_id, prompt_length
        compiled = ChainConstraints.of(constraints, self.labels)
        self.lattices = [
            LabelLattice.of(len(sequence), compiled, None if xs is None else xs[i])
            for i, sequence in enumerate(self.words)
        ]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores (rows, vocabulary) of allowed ids, with penalties; -inf for all others."""
        rows = input_ids[:, self.prompt_length :].tolist()
        if len(rows) % len(self.words):
            raise InvalidInput(f"expected a multiple of {len(self.words)} rows, found {len(rows)}.")
        processed = scores.new_full(scores.shape, -np.inf)
        for row, written in enumerate(rows):
            for token, gain in self._following(row * len(self.words) // len(rows), written).items():
                processed[row, token] = scores[row, token] + gain
        return processed

    def read(self, sequence: int, written: Sequence[int]) -> tuple[str, ...]:
        """The labels in the ids that were written for a sequence, without the prompt."""
        return tuple(self.labels[label] for label in self._read(sequence, written)[0])

    def _following(self, sequence: int, written: Sequence[int]) -> dict[int, float]:
        """The ids that may come next, with what is added to their scores."""
        y, state, rest = self._read(sequence, written)
        if len(y) == len(self.words[sequence]):
            return {self.eos_token_id: 0.0}
        word = self.words[sequence][len(y)]
        if len(rest) < len(word):
            return {word[len(rest)]: 0.0}
        begun = rest[len(word) :]
        penalties = {
            ids: penalty
            for label, penalty in self.lattices[sequence].following(state).items()
            if (ids := self.ids[label])[: len(begun)] == begun
        }
        before = max(penalties.values()) if begun else 0.0
        following: dict[int, float] = {}
        for ids, penalty in penalties.items():
            token = ids[len(begun)]
            following[token] = max(following.get(token, -np.inf), penalty - before)
        return following

    def _read(self, sequence: int, written: Sequence[int]) -> tuple[list[int], State, tuple[int, ...]]:
        """(labels that are complete, the state after them, the ids since then); stops at what it cannot
        read."""
        y: list[int] = []
        state, at = self.lattices[sequence].start, 0
        for word in self.words[sequence]:
            rest = tuple(written[at + len(word) :])
            label = next((i for i, ids in enumerate(self.ids) if rest[: len(ids)] == ids), None)
            if label is None:
                break
            y.append(label)
            state = self.lattices[sequence].step(state, label)
            at += len(word) + len(self.ids[label])
        return y, state, tuple(written[at:])
