"""The component `lcons_decoder`, whose factory is in `spacy_decoder.py`."""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token

from lcons_core import InvalidInput, bilou, bioes, iob2
from lcons_core._types import Floats
from lcons_decode import ChainScores, Hard, Soft, decode_batch, load_constraints
from lcons_tasks.apps._component import Component
from lcons_tasks.apps._model_folder import FolderKind, described, uses_of
from lcons_tasks.data._tagged_text import spans as spans_of

FLOOR = 1e-6
# The letters of the first, inner and last token of a span, and of a span of one token.
LETTERS = {"iob2": "BIIB", "bioes": "BIES", "bilou": "BILU"}
RULES = {"iob2": iob2, "bioes": bioes, "bilou": bilou}
DECODER = FolderKind(noun="decoder", made_by="write the pipeline again")

Scores = Mapping[tuple[int, int, str], float]


class LconsDecoder(Component):
    """Decodes the spans of another component again. Constraint files are read on first use."""

    def __init__(
        self, nlp: Language, name: str, component: str, constraints: Sequence[str], beam_width: int
    ) -> None:
        super().__init__(name)
        self.nlp, self.component, self.beam_width = nlp, component, beam_width
        self.files = list(constraints)
        self._read: list[Hard | Soft] | None = None

    @property
    def constraints(self) -> list[Hard | Soft]:
        """The constraints of the files, without the rules of the label scheme."""
        if self._read is None:
            self._read = load_constraints(self.files)
        return self._read

    @property
    def scheme(self) -> str:
        """The label scheme of the constraints; "iob2" if there are none."""
        labels = sorted({label for use in self.constraints for label in use.constraint.labels or ()})
        used = {label.partition("-")[0] for label in labels}
        for scheme, letters in LETTERS.items():
            if used <= {*letters, "O"}:
                return scheme
        shown = ", ".join(labels[:5])
        raise InvalidInput(f"constraints of {self.name!r} need IOB2, BIOES or BILOU labels: got {shown}.")

    def check(self) -> str:
        """Reads the constraint files."""
        return self.scheme

    def span_scores(self, docs: Sequence[Doc]) -> list[dict[tuple[int, int, str], float]]:
        """For each doc, the score of each (first token, token after the last, label)."""
        other: Any = dict(self.nlp.pipeline).get(self.component)
        if hasattr(other, "beam_parse"):
            # A recogniser keeps the entities that a doc has, so it reads copies without any.
            copies = [doc.copy() for doc in docs]
            for doc in copies:
                doc.set_ents([], default="missing")
            return list(map(dict, other.scored_ents(other.beam_parse(copies, beam_width=self.beam_width))))
        if hasattr(other, "suggester"):
            return list(_suggested(other, docs))
        problem = f"{self.name!r} needs a component before it that scores spans, such as `ner` or `spancat`"
        raise InvalidInput(f"{problem}: got {self.component!r} of {', '.join(self.nlp.pipe_names)}.")

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Decodes the spans of the docs again."""
        letters, scored = LETTERS[self.scheme], self.span_scores(docs)
        other: Any = self.nlp.get_pipe(self.component)
        kinds = sorted({*other.labels, *(label for scores in scored for _, _, label in scores)})
        labels = ["O", *(f"{letter}-{kind}" for kind in kinds for letter in dict.fromkeys(letters))]
        uses = [*self.constraints, Hard(RULES[self.scheme](labels), "label scheme")]
        chains: list[ChainScores] = []
        sentences: list[tuple[int, list[Token]]] = []
        for number, (doc, scores) in enumerate(zip(docs, scored, strict=True)):
            probability = token_probabilities(len(doc), scores, labels, letters)
            for tokens in self.sentences(doc):
                emission = np.log(np.maximum(probability[[token.i for token in tokens]], FLOOR))
                chains.append(ChainScores(emission, labels=labels))
                sentences.append((number, tokens))
        xs = [{"word": [t.text for t in tokens], "pos": [t.tag_ for t in tokens]} for _, tokens in sentences]
        decoded: list[list[Span]] = [[] for _ in docs]
        for (number, tokens), answer in zip(sentences, decode_batch(chains, uses, xs), strict=True):
            for kind, first, after in spans_of(answer.y):
                decoded[number].append(
                    Span(docs[number], tokens[first].i, tokens[after - 1].i + 1, label=kind)
                )
        for doc, spans in zip(docs, decoded, strict=True):
            if hasattr(other, "suggester"):
                doc.spans[other.key] = SpanGroup(doc, name=other.key, spans=spans)
            else:
                doc.ents = spans

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Writes the constraints into a folder."""
        DECODER.write(path, None, list(map(described, self.constraints)))

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> "LconsDecoder":
        """Reads the constraints in that folder."""
        self._read = uses_of(Path(path), DECODER.read(Path(path)))
        return self


def token_probabilities(length: int, scores: Scores, labels: Sequence[str], letters: str) -> Floats:
    """(length, labels) the probability of each label at each token, given those of spans.

    >>> token_probabilities(3, {(0, 2, "X"): 0.75}, ["O", "B-X", "I-X"], "BIIB")
    array([[0.25, 0.75, 0.  ],
           [0.25, 0.  , 0.75],
           [1.  , 0.  , 0.  ]])
    """
    place = {label: i for i, label in enumerate(labels)}
    first, inner, last, single = tuple(letters)
    probability = np.zeros((length, len(labels)))
    for (start, end, kind), score in scores.items():
        span = [single] if end - start == 1 else [first, *inner * (end - start - 2), last]
        columns = [place[f"{letter}-{kind}"] for letter in span]
        np.add.at(probability, (range(start, end), columns), score)
    total = probability.sum(axis=1, keepdims=True)
    probability /= np.maximum(total, 1.0)
    probability[:, place["O"]] = np.maximum(1.0 - total[:, 0], 0.0)
    return probability


def _suggested(spancat: Any, docs: Sequence[Doc]) -> Iterator[dict[tuple[int, int, str], float]]:
    """The probability of each label of each suggested span."""
    indices, scores = spancat.predict(docs)
    rows = iter(scores)
    for number in range(len(docs)):
        yield {
            (int(start), int(end), label): float(score)
            for start, end in indices[number].dataXd
            for label, score in zip(spancat.labels, next(rows), strict=True)
        }
