"""A token-classification pipeline that decodes exactly under constraints instead of token by token.

The stock pipeline labels each token, or each word, with its most probable label. Here the labels of a text
are

    argmax_y sum_t log p_t(y_t) + soft penalties,  under the hard constraints

over its units: tokens for the aggregation strategies `none` and `simple`, words for the others. A word has
the probabilities p_t that the stock pipeline gives it: those of its first token (`first`), their mean over
its tokens (`average`), or those of the token with the largest one (`max`). The words of text are those of the
stock pipeline; with `is_split_into_words`, they are the given words (`word_ids`).

A long text is cut into overlapping chunks (`stride`) for the model alone. A token that is in several chunks
has the scores of the chunk in which it is farthest from a cut, and the text is decoded as a whole, so
constraints also hold where chunks meet.

The answers have the format of the stock pipeline. The score of a token is its marginal probability under the
constraints. The score of a span is the probability that these are its labels and that no label after them
continues it (`confidence="span"`); with `confidence="mean"`, it is the mean of the marginals, which without
constraints is the score of the stock pipeline. Global constraints are decoded under, but do not change
scores.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from transformers import TokenClassificationPipeline
from transformers.pipelines.token_classification import AggregationStrategy

from lcons_core import InvalidInput, Unsupported
from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_decode._adapters import label_names
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft
from lcons_decode._result import Decoding
from lcons_decode._scores import ChainScores, Floats
from lcons_decode.chains._marginals import marginals, window_probabilities
from lcons_decode.chains._viterbi import constrained_viterbi, decode_global
from lcons_decode.chains._windows import ChainConstraints

SPAN, MEAN = "span", "mean"
# By letter of a span scheme, whether a span starts or continues.
_LETTERS = {"B": "B", "S": "B", "U": "B", "I": "I", "E": "I", "L": "I"}


class ConstrainedPipeline(TokenClassificationPipeline):  # type: ignore[misc]
    """The pipeline of a token classifier under constraints.

    constraints: what decoders accept; they may read the column "word".
    confidence: "span" or "mean", what the score of a span is.

    All other arguments are those of `transformers.TokenClassificationPipeline`. Labels of BIOES and BILOU are
    grouped as such.
    """

    def __init__(
        self,
        *args: Any,
        constraints: Iterable[Constraint] = (),
        confidence: str = SPAN,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if confidence not in (SPAN, MEAN):
            raise InvalidInput(f"`confidence` is {SPAN!r} or {MEAN!r}, found {confidence!r}; choose one.")
        self.labels: tuple[str, ...] = label_names(self.model.config.id2label)
        self.confidence = confidence
        uses = list(constraints)
        _check_columns(uses)
        self._all = ChainConstraints.of(uses, self.labels)
        named = self._all.named
        self._local = ChainConstraints.of([*named.hard, *named.soft], self.labels)
        letters = {label[:1] for label in self.labels if label != OUTSIDE}
        self._spans = letters <= set(_LETTERS) and all(
            label == OUTSIDE or label[1:2] == "-" for label in self.labels
        )

    def preprocess(
        self, sentence: Any, offset_mapping: Any = None, **params: Any
    ) -> Iterator[dict[str, Any]]:
        """The chunks of a text, each with the position of its first token in the text."""
        stride = params.get("tokenizer_params", {}).get("stride")
        if stride is not None and self.tokenizer.truncation_side != "right":
            raise Unsupported(
                "expected a tokenizer that truncates on the right, found truncation_side="
                f"{self.tokenizer.truncation_side!r}; set it to 'right', or leave out `stride`."
            )
        first = 0
        for chunk in super().preprocess(sentence, offset_mapping, **params):
            tokens = int((chunk["special_tokens_mask"][0] == 0).sum())
            yield {**chunk, "first_token": first}
            first += tokens - (stride or 0)

    def _forward(self, model_inputs: dict[str, Any]) -> dict[str, Any]:
        first = model_inputs.pop("first_token")
        return {**super()._forward(model_inputs), "first_token": first}

    def postprocess(
        self,
        all_outputs: list[dict[str, Any]],
        aggregation_strategy: AggregationStrategy = AggregationStrategy.NONE,
        ignore_labels: list[str] | None = None,
    ) -> list[dict[str, Any]]:
        """The entities of a text, from the outputs of the model for its chunks."""
        tokens = _merged([self._tokens(chunk, all_outputs[0], aggregation_strategy) for chunk in all_outputs])
        units = self._units(tokens, aggregation_strategy)
        if not units:
            return []
        emission = np.stack([unit.pop("scores") for unit in units])
        scores = ChainScores(emission, labels=self.labels)
        x = {WORD: [unit.pop("text") for unit in units]}
        decoding = self._decode(scores, x)
        probability = marginals(scores, self._local, x).probability
        for t, (unit, label) in enumerate(zip(units, decoding.y, strict=True)):
            unit.update(entity=label, score=float(probability[t, scores.labels.index(label)]))
        entities = units
        if aggregation_strategy != AggregationStrategy.NONE:
            entities = self.group_entities(units)
            self._score_spans(entities, scores, decoding.y, x)
        ignored = [OUTSIDE] if ignore_labels is None else ignore_labels
        return [
            entity
            for entity in entities
            if entity.get("entity") not in ignored and entity.get("entity_group") not in ignored
        ]

    def get_tag(self, entity_name: str) -> tuple[str, str]:
        """("B" or "I", type) of a label; E and L continue a span, S and U start one."""
        if not self._spans or entity_name == OUTSIDE:
            return super().get_tag(entity_name)
        return _LETTERS[entity_name[:1]], entity_name[2:]

    def group_sub_entities(self, entities: list[dict[str, Any]]) -> dict[str, Any]:
        """A span, with the number of its units."""
        span = super().group_sub_entities(entities)
        return {**span, "score": float(span["score"]), "units": len(entities)}

    def _tokens(
        self, chunk: Mapping[str, Any], first: Mapping[str, Any], strategy: AggregationStrategy
    ) -> tuple[int, list[dict[str, Any]]]:
        """(position of the first token, tokens with log probabilities) of a chunk."""
        word_ids = chunk.get("word_ids")
        offsets = chunk["offset_mapping"]
        tokens = self.gather_pre_entities(
            first["sentence"],
            chunk["input_ids"][0],
            _log_softmax(chunk["logits"][0].double().cpu().numpy()),
            None if offsets is None else offsets[0],
            chunk["special_tokens_mask"][0].numpy(),
            strategy,
            word_ids=word_ids,
            word_to_chars_map=first.get("word_to_chars_map"),
        )
        for token in tokens:
            start, end = token["start"], token["end"]
            token["text"] = token["word"] if start is None else first["sentence"][start:end]
            token["word_id"] = None if word_ids is None else word_ids[token["index"]]
        return chunk["first_token"], tokens

    def _units(self, tokens: list[dict[str, Any]], strategy: AggregationStrategy) -> list[dict[str, Any]]:
        """What is labelled: tokens, or words."""
        if strategy in (AggregationStrategy.NONE, AggregationStrategy.SIMPLE):
            members = ("scores", "text", "index", "word", "start", "end")
            return [
                {"entity": "", "score": 0.0} | {name: token[name] for name in members} for token in tokens
            ]
        words: list[list[dict[str, Any]]] = []
        for token in tokens:
            before = words[-1][-1] if words else None
            if before is None or not _same_word(before, token):
                words.append([])
            words[-1].append(token)
        return [self._word(word, strategy) for word in words]

    def _word(self, tokens: list[dict[str, Any]], strategy: AggregationStrategy) -> dict[str, Any]:
        start, end = tokens[0]["start"], tokens[-1]["end"]
        return {
            "entity": "",
            "score": 0.0,
            "word": self.tokenizer.convert_tokens_to_string([token["word"] for token in tokens]),
            "start": start,
            "end": end,
            "scores": _word_scores(np.stack([token["scores"] for token in tokens]), strategy),
            "text": "".join(token["text"] for token in tokens),
        }

    def _decode(self, scores: ChainScores, x: Mapping[str, list[str]]) -> Decoding:
        named = self._all.named
        if named.global_hard or named.global_soft:
            return decode_global(scores, self._all, x)
        return constrained_viterbi(scores, self._all, x)

    def _score_spans(
        self, spans: list[dict[str, Any]], scores: ChainScores, y: tuple[str, ...], x: Mapping[str, list[str]]
    ) -> None:
        """Replaces the scores of spans by their probability, if that is wanted."""
        windows: list[tuple[int, tuple[str, ...]]] = []
        owners: list[tuple[int, int]] = []
        first = 0
        for i, span in enumerate(spans):
            last = first + span.pop("units")
            windows.append((first, y[first:last]))
            owners.append((i, 1))
            if last < len(y):
                onward = [label for label in self.labels if self._continues(y[last - 1], label)]
                windows += [(first, (*y[first:last], label)) for label in onward]
                owners += [(i, -1)] * len(onward)
            first = last
        if self.confidence == MEAN:
            return
        total = np.zeros(len(spans))
        for (i, sign), p in zip(owners, window_probabilities(scores, windows, self._local, x), strict=True):
            total[i] += sign * p
        for span, p in zip(spans, np.clip(total, 0.0, 1.0).tolist(), strict=True):
            span["score"] = p

    def _continues(self, before: str, after: str) -> bool:
        """Whether a label after another one is of the same span."""
        letter, kind = self.get_tag(after)
        return letter != "B" and kind == self.get_tag(before)[1]


def _check_columns(constraints: list[Constraint]) -> None:
    named = ConstraintSet.of(constraints)
    uses: tuple[Hard | Soft, ...] = (*named.hard, *named.soft, *named.global_hard, *named.global_soft)
    for use in uses:
        column = use.constraint.feature.context_column if use.constraint.feature else None
        if column not in (None, WORD):
            raise Unsupported(
                f"the constraint {use.name!r} reads the column {column!r}, and a text has only words; use a"
                " constraint on labels or words."
            )


def _same_word(before: Mapping[str, Any], token: Mapping[str, Any]) -> bool:
    """Whether a token continues the word of the token before it."""
    if token["word_id"] is not None:
        return bool(token["word_id"] == before["word_id"])
    return bool(token["is_subword"])


def _word_scores(scores: Floats, strategy: AggregationStrategy) -> Floats:
    """(L,) the log probabilities of a word, from those of its tokens (tokens, L)."""
    if strategy == AggregationStrategy.FIRST:
        return np.asarray(scores[0])
    if strategy == AggregationStrategy.MAX:
        return np.asarray(scores[int(scores.max(1).argmax())])
    return np.logaddexp.reduce(scores, axis=0) - np.log(len(scores))


def _log_softmax(logits: Floats) -> Floats:
    shifted: Floats = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _merged(chunks: list[tuple[int, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """The tokens of a text, each from the first chunk in which it is farthest from a cut."""
    places: dict[int, tuple[int, dict[str, Any]]] = {}
    for number, (first, tokens) in enumerate(chunks):
        for i, token in enumerate(tokens):
            sides = [i] if number else []
            sides += [len(tokens) - 1 - i] if number < len(chunks) - 1 else []
            room = min(sides, default=0)
            known = places.get(first + i)
            if known is not None and (known[1]["start"], known[1]["end"]) != (token["start"], token["end"]):
                raise Unsupported(
                    f"expected token {first + i} of the text in two chunks, found different tokens there; use"
                    " a fast tokenizer whose chunks overlap by `stride` tokens."
                )
            if known is None or room > known[0]:
                places[first + i] = room, token
    return [token for _, (_, token) in sorted(places.items())]
