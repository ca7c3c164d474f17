"""`lcons_decoder`, a spaCy component: the spans of another component, decoded again under constraint files.

    nlp.add_pipe("lcons_decoder", config={"component": "ner", "constraints": ["rules.json", "soft.json:0.5"]})

It stands after the component whose scores it reads:

| component | spans and their scores | result |
|---|---|---|
| `ner`, `beam_ner` | the analyses of a beam, each weighted by its probability | `doc.ents` |
| `spancat`, `spancat_singlelabel` | all suggested spans, each label with its probability | `doc.spans[key]` |

A span (i, j, X) with score s adds s to the probability of B-X at token i and of I-X at the tokens after it,
in the letters of the constraints (IOB2, BIOES or BILOU). With p_t(y) the probability of label y at token t,
and what is left for O, the labels of a sentence are those that

    maximise    sum_t log max(p_t(y_t), FLOOR)  -  the costs of the soft constraints
    subject to  the hard constraints and the rules of the label scheme,

decoded exactly. So the result has spans that do not overlap, obeys the constraints, and contains no span that
the component gave no probability unless a constraint asks for it. Overlapping spans of a spancat share the
probability of their tokens: if p_t sums to more than 1, it is divided by its sum.

Entities that a ruler set before the recogniser are not kept: put the ruler after this component.

Constraint files are part of a pipeline on disk or in bytes. Words are the column `word` of constraints, and
the doc's fine-grained tags the column `pos`.
"""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token

from lcons_tasks.apps._component import Component

if TYPE_CHECKING:
    from lcons_decode import Hard, Soft

NAME = "lcons_decoder"
FLOOR = 1e-6
# The letters of the first, inner and last token of a span, and of a span of one token.
LETTERS = {"iob2": "BIIB", "bioes": "BIES", "bilou": "BILU"}
_KIND = {"noun": "decoder", "made_by": "write the pipeline again"}

Scores = Mapping[tuple[int, int, str], float]


@Language.factory(
    NAME,
    assigns=["doc.ents", "doc.spans"],
    default_config={"component": "ner", "constraints": [], "beam_width": 16},
)
def make_lcons_decoder(
    nlp: Language, name: str, component: str, constraints: list[str], beam_width: int
) -> "LconsDecoder":
    """The component; `component` is the name of the one to decode again, `constraints` are files, hard or
    with a weight (`FILE:0.5`), and `beam_width` is that of a named entity recogniser."""
    return LconsDecoder(nlp, name, component=component, constraints=constraints, beam_width=beam_width)


class LconsDecoder(Component):
    """Decodes the spans of another component again. Constraint files are read on first use."""

    def __init__(
        self,
        nlp: Language,
        name: str = NAME,
        *,
        component: str = "ner",
        constraints: Sequence[str] = (),
        beam_width: int = 16,
    ) -> None:
        super().__init__(name)
        self.nlp, self.component, self.beam_width = nlp, component, beam_width
        self.files = list(constraints)
        self._read: list[Hard | Soft] | None = None

    @property
    def constraints(self) -> "list[Hard | Soft]":
        """The constraints of the files, without the rules of the label scheme."""
        if self._read is None:
            from lcons_decode import load_constraints

            self._read = load_constraints(self.files)
        return self._read

    @property
    def scheme(self) -> str:
        """The label scheme of the constraints; "iob2" if there are none."""
        from lcons_core import InvalidInput

        labels = sorted({label for use in self.constraints for label in use.constraint.labels or ()})
        if not labels:
            return "iob2"
        letters = {label.partition("-")[0] for label in labels}
        for scheme, own in LETTERS.items():
            if letters <= {*own, "O"}:
                return scheme
        raise InvalidInput(
            f"the constraints of {self.name!r} need labels of IOB2, BIOES or BILOU, such as B-PER: got"
            f" {', '.join(labels[:5])}; learn them from labels of such a scheme."
        )

    def check(self) -> None:
        """Reads the constraint files."""
        self.scheme  # noqa: B018

    def span_scores(self, docs: Sequence[Doc]) -> list[dict[tuple[int, int, str], float]]:
        """For each doc, the score of each (first token, token after the last, label)."""
        from lcons_core import InvalidInput

        if self.component not in self.nlp.pipe_names:
            raise InvalidInput(
                f"the spaCy component {self.name!r} needs the component {self.component!r} before it: got a"
                f" pipeline of {', '.join(self.nlp.pipe_names)}; name one of these with `component`."
            )
        other: Any = self.nlp.get_pipe(self.component)
        if hasattr(other, "beam_parse"):
            # A recogniser keeps the entities that a doc has, so it reads copies without any.
            copies = [doc.copy() for doc in docs]
            for doc in copies:
                doc.set_ents([], default="missing")
            beams = other.beam_parse(copies, beam_width=self.beam_width)
            return [dict(found) for found in other.scored_ents(beams)]
        if hasattr(other, "suggester"):
            return list(_suggested(other, docs))
        raise InvalidInput(
            f"the spaCy component {self.name!r} reads scores of ner, beam_ner, spancat and"
            f" spancat_singlelabel: got {self.component!r}; name another with `component`."
        )

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Decodes the spans of the docs again."""
        from lcons_core import bilou, bioes, iob2
        from lcons_decode import ChainScores, Hard, decode_batch
        from lcons_tasks.data._tagged_text import spans as spans_of

        rules = {"iob2": iob2, "bioes": bioes, "bilou": bilou}[self.scheme]
        letters = LETTERS[self.scheme]
        other: Any = self.nlp.get_pipe(self.component) if self.component in self.nlp.pipe_names else None
        scored = self.span_scores(docs)
        kinds = sorted({*getattr(other, "labels", ()), *(label for own in scored for _, _, label in own)})
        labels = ["O", *(f"{letter}-{kind}" for kind in kinds for letter in dict.fromkeys(letters))]
        uses = [*self.constraints, Hard(rules(labels), "label scheme")]
        chains: list[ChainScores] = []
        xs: list[dict[str, Sequence[str]]] = []
        sentences: list[tuple[int, list[Token]]] = []
        for number, (doc, scores) in enumerate(zip(docs, scored, strict=True)):
            probability = token_probabilities(len(doc), scores, labels, letters)
            for sentence in self.sentences(doc):
                places = [token.i for token in sentence]
                chains.append(ChainScores(np.log(np.maximum(probability[places], FLOOR)), labels=labels))
                xs.append({"word": [token.text for token in sentence], "pos": [t.tag_ for t in sentence]})
                sentences.append((number, sentence))
        found: list[list[Span]] = [[] for _ in docs]
        for (number, tokens), answer in zip(sentences, decode_batch(chains, uses, xs), strict=True):
            for kind, first, after in spans_of(answer.y):
                found[number].append(Span(docs[number], tokens[first].i, tokens[after - 1].i + 1, label=kind))
        for doc, spans in zip(docs, found, strict=True):
            if hasattr(other, "suggester"):
                doc.spans[other.key] = SpanGroup(doc, name=other.key, spans=spans)
            else:
                doc.ents = spans

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Writes the constraints into a folder."""
        from lcons_tasks.apps._model_folder import FolderKind, described

        FolderKind(**_KIND).write(path, None, list(map(described, self.constraints)))

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> "LconsDecoder":
        """Reads the constraints in that folder."""
        from lcons_tasks.apps._model_folder import FolderKind, uses_of

        self._read = uses_of(Path(path), FolderKind(**_KIND).read(Path(path)))
        return self


def token_probabilities(
    length: int, scores: Scores, labels: Sequence[str], letters: str
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """(length, labels) the probability of each label at each token, given those of spans.

    >>> token_probabilities(3, {(0, 2, "X"): 0.75}, ["O", "B-X", "I-X"], "BIIB")
    array([[0.25, 0.75, 0.  ],
           [0.25, 0.  , 0.75],
           [1.  , 0.  , 0.  ]])
    """
    place = {label: i for i, label in enumerate(labels)}
    first, inner, last, single = tuple(letters)
    found = np.zeros((length, len(labels)))
    for (start, end, kind), score in scores.items():
        own = [single] if end - start == 1 else [first, *inner * (end - start - 2), last]
        for token, letter in enumerate(own, start=start):
            found[token, place[f"{letter}-{kind}"]] += score
    total = found.sum(axis=1, keepdims=True)
    found /= np.maximum(total, 1.0)
    found[:, place["O"]] = np.maximum(1.0 - total[:, 0], 0.0)
    return found


def _suggested(spancat: Any, docs: Sequence[Doc]) -> Iterator[dict[tuple[int, int, str], float]]:
    """The probability of each label of each suggested span."""
    indices, scores = spancat.predict(docs)
    offset = 0
    for number in range(len(docs)):
        own = indices[number].dataXd
        yield {
            (int(start), int(end), label): float(scores[offset + i, place])
            for i, (start, end) in enumerate(own)
            for place, label in enumerate(spancat.labels)
        }
        offset += len(own)
