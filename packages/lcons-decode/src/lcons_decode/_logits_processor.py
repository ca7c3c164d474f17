"""A logits processor for `transformers`: a causal language model writes labels under constraints.

The text is a template: for each token of a sequence, given ids (a word, or nothing), then one label, and at
the end the end-of-sequence token. Where the template has given ids they are copied. Where it has a label,
only ids of labels after which a valid labelling is still possible keep their scores (`LabelLattice`), so the
output always satisfies the hard constraints, also those on whole sequences. A soft constraint adds its
penalty to the score of the label that completes a window; a label of several ids gets the best penalty
among the labels that begin with the ids so far, so that the sum over its ids is its own penalty.

Which distribution: greedy and beam search maximise the model's scores plus penalties over valid outputs (a
beam is not exact). Sampling renormalises at every step, which is *not* the conditional distribution of the
model given the constraints; `AutoregressiveSampler` draws from that one.

The processor reads tensors by their own methods, so neither transformers nor torch is imported here.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainScores, Floats, X
from lcons_decode.chains._label_lattice import LabelLattice, State
from lcons_decode.chains._windows import ChainConstraints


class LabelLogitsProcessor:
    """For `model.generate(..., logits_processor=[LabelLogitsProcessor(...)])`.

    labels: the token ids of each label, by name; no label may begin with another.
    words: for each sequence of the batch, the ids that are copied before each label; one list per token.
    prompt_length: the number of ids of the (padded) prompt, `input_ids.shape[1]`.
    xs: the columns of each sequence, for constraints that read the input.
    Beams and several answers per sequence are found by the number of rows.
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
        self.ids = [(own,) if isinstance(own, int) else tuple(own) for own in labels.values()]
        _check_ids(self.labels, self.ids)
        if not words or (xs is not None and len(xs) != len(words)):
            raise InvalidInput(
                f"expected words, and one x, for each sequence of the batch, found {len(words)} sequences and"
                f" {'none' if xs is None else len(xs)}."
            )
        self.eos_token_id, self.prompt_length = eos_token_id, prompt_length
        compiled = ChainConstraints.of(constraints, self.labels)
        self.texts = [
            _Template(self, [tuple(word) for word in own], compiled, None if xs is None else xs[i], i)
            for i, own in enumerate(words)
        ]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores (rows, vocabulary) of allowed ids, with penalties; -inf for all others."""
        rows = input_ids[:, self.prompt_length :].tolist()
        if len(rows) % len(self.texts):
            raise InvalidInput(
                f"expected a multiple of {len(self.texts)} rows, one or more per sequence, found {len(rows)};"
                " pass the words of the whole batch."
            )
        found = scores.new_full(scores.shape, -np.inf)
        for row, written in enumerate(rows):
            text = self.texts[row * len(self.texts) // len(rows)]
            for token, gain in text.following(written).items():
                found[row, token] = scores[row, token] + gain
        return found

    def read(self, row: int, written: Sequence[int]) -> tuple[str, ...]:
        """The labels in the ids that were written for a sequence, without the prompt."""
        return tuple(self.labels[label] for label in self.texts[row].read(written)[0])


class _Template:
    """One sequence: what may follow the ids written so far."""

    def __init__(
        self,
        processor: LabelLogitsProcessor,
        words: list[tuple[int, ...]],
        constraints: ChainConstraints,
        x: X,
        number: int,
    ) -> None:
        self.processor, self.words = processor, words
        scores = ChainScores(np.zeros((len(words), len(processor.labels))), labels=processor.labels)
        self.lattice = LabelLattice.of(scores, constraints, x)
        if self.lattice.log_partition == -np.inf:
            raise InvalidInput(f"no labelling of sequence {number} satisfies the constraints; relax them.")

    def following(self, written: Sequence[int]) -> dict[int, float]:
        """The ids that may come next, with what is added to their scores."""
        done, state, inside = self.read(written)
        if len(done) == len(self.words):
            return {self.processor.eos_token_id: 0.0}
        word = self.words[len(done)]
        if len(inside) < len(word):
            return {word[len(inside)]: 0.0}
        begun = inside[len(word) :]
        gains = self._gains(state)
        before = max(gains[label] for label in self._labels(begun, gains)) if begun else 0.0
        found: dict[int, float] = {}
        for label in self._labels(begun, gains):
            token = self.processor.ids[label][len(begun)]
            found[token] = max(found.get(token, -np.inf), float(gains[label]) - before)
        return found

    def read(self, written: Sequence[int]) -> tuple[list[int], State, tuple[int, ...]]:
        """(labels that are complete, the state after them, the ids since then); stops at what it cannot
        read."""
        labels: list[int] = []
        state, at = self.lattice.start, 0
        while len(labels) < len(self.words):
            first = at + len(self.words[len(labels)])
            label = next(
                (i for i, ids in enumerate(self.processor.ids) if _begins(written, first, ids)), None
            )
            if label is None:
                break
            labels.append(label)
            state = self.lattice.step(state, label)
            at = first + len(self.processor.ids[label])
        return labels, state, tuple(written[at:])

    def _labels(self, begun: tuple[int, ...], gains: Floats) -> list[int]:
        """The allowed labels whose ids begin like this."""
        return [
            label
            for label, ids in enumerate(self.processor.ids)
            if gains[label] > -np.inf and ids[: len(begun)] == begun
        ]

    def _gains(self, state: State) -> Floats:
        """(L,) the penalty of each next label; after the last, that of the end as well."""
        gains = self.lattice.gain(state)
        if state[0] + 1 == len(self.lattice):
            for label in np.flatnonzero(gains > -np.inf).tolist():
                gains[label] += self.lattice.sums[self.lattice.step(state, label)]
        return gains


def _begins(written: Sequence[int], first: int, ids: tuple[int, ...]) -> bool:
    return tuple(written[first : first + len(ids)]) == ids


def _check_ids(labels: Sequence[str], ids: Sequence[tuple[int, ...]]) -> None:
    for label, own in zip(labels, ids, strict=True):
        if not own:
            raise InvalidInput(f"label {label!r} has no token ids; pass at least one.")
        for other, longer in zip(labels, ids, strict=True):
            if other != label and longer[: len(own)] == own:
                raise InvalidInput(
                    f"the ids of label {label!r} begin those of {other!r}, so where it ends is not known;"
                    " end each label with a separator."
                )
