"""Token classifiers trained by `transformers.Trainer`: expected violations in the loss, decoded metrics.

    loss = mean cross-entropy of the labelled words + weight * expected penalty per word

The expected penalty (`lcons_core.torch.expected_penalty`) is that of all sentences of a batch under the
model's independent labels of words; it needs no gold labels. The labels of a batch mark its words:

| label of a token | it is |
|---|---|
| -100 | no word: a special token, padding, or a token of a word after its first |
| -101 (`UNLABELLED`) | the first token of a word whose label is not known |
| 0, 1, ... | the first token of a word with this label |

So labelled and unlabelled sentences, and partly labelled ones, share datasets and batches, and
`DataCollatorForTokenClassification` and all else stay as they are.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import Trainer

from lcons_core import InvalidInput, LearnedConstraint, Unsupported
from lcons_core._schemes import chunks
from lcons_core.torch import LabelChain, expected_penalty
from lcons_decode._adapters import label_names
from lcons_decode._constraints import Constraint
from lcons_decode._scores import ChainScores
from lcons_decode._stream import decode_batch

IGNORED, UNLABELLED = -100, -101


class ExpectedPenaltyMixin:
    """Adds the expected violation of constraints to the loss of a `Trainer`, which comes after it in the
    bases.

    constraints: learned or designed constraints on windows of labels.
    penalty_weight: the weight of the expected penalty per word.
    penalty: "hinge" or "log_sigmoid".
    """

    # The loss is a mean over the batch, so the Trainer divides it by the steps of gradient accumulation.
    loss_is_scaled_for_ga = False

    def __init__(
        self,
        *args: Any,
        constraints: Iterable[LearnedConstraint] = (),
        penalty_weight: float = 1.0,
        penalty: str = "hinge",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False
        self.penalty_weight, self.penalty = penalty_weight, penalty
        self.constraints = list(constraints)
        self.labels = label_names(self.model.config.id2label)  # type: ignore[attr-defined]
        if not penalty_weight >= 0:
            raise InvalidInput(f"`penalty_weight` must be at least 0, found {penalty_weight!r}.")
        for constraint in self.constraints:
            column = constraint.feature.context_column if constraint.feature else None
            if column is not None:
                raise Unsupported(
                    f"a constraint reads the column {column!r}, which batches do not have; use constraints on"
                    " labels alone."
                )

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of a batch, with the outputs of the model if they are wanted."""
        batch = dict(inputs)
        labels = batch.pop("labels", None)
        if labels is None:
            raise InvalidInput(
                f"expected `labels` in each batch, found none; mark the words of unlabelled sentences by"
                f" {UNLABELLED} and all other tokens by {IGNORED}."
            )
        outputs = model(**batch)
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs[0]
        loss = self._cross_entropy(logits, labels) + self.penalty_weight * self.expected_penalty(
            logits, labels
        )
        return (loss, outputs) if return_outputs else loss

    def expected_penalty(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The expected penalty per word of a batch: logits (B, T, L), labels (B, T)."""
        words = labels != IGNORED
        lengths = words.sum(1)
        total = logits.new_zeros(())
        if not self.constraints or not int(lengths.sum()):
            return total
        # The first tokens of the words of each sentence, one after another.
        order = torch.argsort((~words).int(), dim=1, stable=True)[:, : int(lengths.max())]
        rows = logits.gather(1, order[..., None].expand(-1, -1, logits.shape[-1]))
        chain = LabelChain.independent(rows.float().softmax(-1), lengths)
        for constraint in self.constraints:
            total = total + expected_penalty(constraint, chain, self.labels, penalty=self.penalty).sum()
        return total / lengths.sum()

    def _cross_entropy(self, logits: Tensor, labels: Tensor) -> Tensor:
        known = labels >= 0
        if not bool(known.any()):
            return logits.sum() * 0.0
        return torch.nn.functional.cross_entropy(logits[known].float(), labels[known])


class ConstrainedTrainer(ExpectedPenaltyMixin, Trainer):  # type: ignore[misc]
    """A `Trainer` with the expected violation of constraints in its loss; see `ExpectedPenaltyMixin`."""


def decoded_metrics(
    labels: Sequence[str] | dict[int, str], constraints: Iterable[Constraint] = ()
) -> Callable[[Any], dict[str, float]]:
    """The `compute_metrics` of a `Trainer`: figures of labels that are decoded under constraints.

    labels: the names of the columns of the logits, or the model's `config.id2label`.

    The figures are `accuracy` of words and `precision`, `recall` and `f1` of spans, and the same of the most
    probable label of each word, `argmax_accuracy`, ...
    """
    names = label_names(labels)
    uses = list(constraints)

    def compute_metrics(prediction: Any) -> dict[str, float]:
        logits, ids = prediction.predictions, prediction.label_ids
        if isinstance(logits, tuple):
            logits = logits[0]
        sentences, gold = [], []
        for rows, codes in zip(logits, ids, strict=True):
            known = codes >= 0
            if known.any():
                sentences.append(ChainScores(np.asarray(rows[known], dtype=np.float64), labels=names))
                gold.append([names[i] for i in codes[known]])
        decoded = [list(answer.y) for answer in decode_batch(sentences, uses)]
        alone = [[names[i] for i in sentence.emission.argmax(1)] for sentence in sentences]
        single = {f"argmax_{name}": value for name, value in _figures(gold, alone).items()}
        return {**_figures(gold, decoded), **single}

    return compute_metrics


def _figures(gold: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    right = wanted = claimed = same = words = 0
    for y, z in zip(gold, predicted, strict=True):
        there, mine = set(chunks(y)), set(chunks(z))
        right, wanted, claimed = right + len(there & mine), wanted + len(there), claimed + len(mine)
        same, words = same + sum(a == b for a, b in zip(y, z, strict=True)), words + len(y)
    return {
        "accuracy": same / max(1, words),
        "precision": right / max(1, claimed),
        "recall": right / max(1, wanted),
        "f1": 2 * right / max(1, wanted + claimed),
    }
