"""`lcons_tagger`, a spaCy component: the labels of a trained tagger under its constraints.

    nlp.add_pipe("lcons_tagger", config={"model": "runs/chunking/tagger"})

| where | what |
|---|---|
| `doc.spans["lcons"]` | one span per chunk (B-NP I-NP is one NP), or per run of a label if they are not IOB |
| its `attrs` | labels `changed` by the constraints, and sentences that had to be `relaxed` |
| `token._.lcons_label` | the label of the token; "" for white space, which taggers do not read |

Sentences and POS tags are those of the doc if it has them (put the component after those that set them); else
sentences end as in `lcons tag`, and POS tags, if the tagger reads them, are lcons's own. A pipeline on disk
or in bytes holds the complete tagger, without pickle; lcons's own POS tagger is not part of it.

After installation spaCy finds the component by its entry point: nothing has to be imported.
"""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token

from lcons_tasks.apps._component import Component

if TYPE_CHECKING:
    from lcons_decode import Decoding
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.data.text import PosTagger

NAME = "lcons_tagger"
LABEL = "lcons_label"
SPANS = "lcons"
WORD, POS = "word", "pos"

if not Token.has_extension(LABEL):
    Token.set_extension(LABEL, default="")


@Language.factory(
    NAME,
    assigns=["doc.spans", f"token._.{LABEL}"],
    default_config={"model": None, "spans_key": SPANS, "constraints": True},
)
def make_lcons_tagger(
    nlp: Language, name: str, model: str | None, spans_key: str, constraints: bool
) -> "LconsTagger":
    """The component; `model` is a tagger's folder, as `lcons fit` writes it, and `constraints` is
    whether to use its constraints."""
    return LconsTagger(name, model, spans_key=spans_key, constraints=constraints)


class LconsTagger(Component):
    """Tags docs. The tagger is read on first use, because a pipeline that is loaded brings its own."""

    def __init__(
        self,
        name: str = NAME,
        model: str | PathLike[str] | None = None,
        *,
        spans_key: str = SPANS,
        constraints: bool = True,
    ) -> None:
        super().__init__(name)
        self.model, self.spans_key, self.constraints = model, spans_key, constraints
        self._read: ConstrainedTagger | None = None
        self._pos: PosTagger | None = None

    @property
    def tagger(self) -> "ConstrainedTagger":
        """The tagger with its constraints."""
        if self._read is None:
            from lcons_core import InvalidInput

            if self.model is None:
                raise InvalidInput(
                    f"the spaCy component {self.name!r} needs the folder of a tagger: got none; pass it with"
                    f' nlp.add_pipe("{NAME}", config={{"model": FOLDER}}).'
                )
            self.from_disk(self.model)
        assert self._read is not None
        return self._read

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of tokens; empty if there is no tagger yet."""
        from lcons_core import LconsError

        try:
            return self.tagger.model.labels
        except LconsError:
            return ()

    def check(self) -> None:
        """Reads the tagger."""
        self.tagger  # noqa: B018

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Writes the tagger's folder, which `lcons tag` reads too."""
        self.tagger.save(path)

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> "LconsTagger":
        """Reads the tagger in that folder."""
        from lcons_tasks.apps import load_constrained_tagger

        self._read = load_constrained_tagger(path)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """The component for the processes of `nlp.pipe(..., n_process=2)`: the tagger as in `to_bytes`."""
        settings = {"spans_key": self.spans_key, "constraints": self.constraints}
        handler = getattr(self, "error_handler", None)
        return _restored, (self.name, self.model, settings, handler, self.to_bytes())

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Labels the docs."""
        tagger = self.tagger if self.constraints else self.tagger.alone
        numbered = [(i, sentence) for i, doc in enumerate(docs) for sentence in self.sentences(doc)]
        sentences = [sentence for _, sentence in numbered]
        xs: list[dict[str, Sequence[str]]] = [{WORD: [token.text for token in s]} for s in sentences]
        if POS in tagger.columns:
            for x, tags in zip(xs, self._tags(sentences), strict=True):
                x[POS] = tags
        answers: list[list[tuple[list[Token], Decoding]]] = [[] for _ in docs]
        for (i, sentence), answer in zip(numbered, tagger.tag_stream(xs), strict=True):
            answers[i].append((sentence, answer))
        for doc, answered in zip(docs, answers, strict=True):
            self._annotate(doc, answered)

    def _tags(self, sentences: Sequence[list[Token]]) -> list[Sequence[str]]:
        """One POS tag per token: the doc's; if a sentence lacks one, lcons's own for the whole sentence."""
        tags: list[Sequence[str]] = [[token.tag_ for token in sentence] for sentence in sentences]
        lacking = [i for i, tagged in enumerate(tags) if not all(tagged)]
        if lacking:
            if self._pos is None:
                from lcons_tasks.data.text._pos import find_pos_tagger

                self._pos = find_pos_tagger()
            words = ([token.text for token in sentences[i]] for i in lacking)
            # spaCy forgets new words of that pipeline after the block, so that memory does not grow.
            with self._pos.pipeline.memory_zone():
                for i, tagged in zip(lacking, self._pos.tags_many(words), strict=True):
                    tags[i] = tagged
        return tags

    def _annotate(self, doc: Doc, answers: "Sequence[tuple[list[Token], Decoding]]") -> None:
        from lcons_decode import Status
        from lcons_tasks.data._tagged_text import spans

        chunks: list[Span] = []
        for tokens, answer in answers:
            for token, label in zip(tokens, answer.y, strict=False):
                token._.set(LABEL, label)
            for kind, first, after in spans(answer.y):
                chunks.append(Span(doc, tokens[first].i, tokens[after - 1].i + 1, label=kind))
        attrs = {
            "changed": sum(answer.stats["changed"] for _, answer in answers),
            "relaxed": sum(answer.status is Status.RELAXED for _, answer in answers),
        }
        doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, attrs=attrs, spans=chunks)


def _restored(name: str, model: Any, settings: dict[str, Any], handler: Any, content: bytes) -> LconsTagger:
    component = LconsTagger(name, model, **settings).from_bytes(content)
    if handler is not None:
        component.set_error_handler(handler)
    return component
