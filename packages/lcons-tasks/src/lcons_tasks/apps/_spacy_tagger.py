"""The component `lcons_tagger`, whose factory is in `spacy.py`."""

# No postponed annotations here: spaCy reads the annotations to check configurations.
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup, Token

from lcons_core import InvalidInput, LconsError
from lcons_decode import Status
from lcons_tasks.apps import ConstrainedTagger, load_constrained_tagger
from lcons_tasks.apps._component import Component
from lcons_tasks.apps.spacy import LABEL, NAME, SPANS
from lcons_tasks.data._tagged_text import spans
from lcons_tasks.data.text import _pos

WORD, POS = "word", "pos"

if not Token.has_extension(LABEL):
    Token.set_extension(LABEL, default="")


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
        self._pos: _pos.PosTagger | None = None

    @property
    def tagger(self) -> ConstrainedTagger:
        """The tagger with its constraints."""
        if self._read is None:
            if self.model is None:
                raise InvalidInput(
                    f"the component {self.name!r} needs the setting `model`, a tagger's folder."
                )
            self._read = load_constrained_tagger(self.model)
        return self._read

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of tokens; empty if there is no tagger yet."""
        try:
            return self.tagger.model.labels
        except LconsError:
            return ()

    def check(self) -> ConstrainedTagger:
        """Reads the tagger."""
        return self.tagger

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Writes the tagger's folder, which `lcons tag` reads too."""
        self.tagger.save(path)

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> "LconsTagger":
        """Reads the tagger in that folder."""
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
        sentences = [list(self.sentences(doc)) for doc in docs]
        tokens = [sentence for parts in sentences for sentence in parts]
        xs: list[dict[str, Sequence[str]]] = [{WORD: [token.text for token in s]} for s in tokens]
        if POS in tagger.columns:
            xs = [{**x, POS: tags} for x, tags in zip(xs, self._tags(tokens), strict=True)]
        answers = tagger.tag_stream(xs)
        for doc, parts in zip(docs, sentences, strict=True):
            chunks: list[Span] = []
            changed = relaxed = 0
            for sentence, answer in zip(parts, answers, strict=False):
                for token, label in zip(sentence, answer.y, strict=False):
                    token._.set(LABEL, label)
                for kind, first, after in spans(answer.y):
                    chunks.append(Span(doc, sentence[first].i, sentence[after - 1].i + 1, label=kind))
                changed += answer.stats["changed"]
                relaxed += answer.status is Status.RELAXED
            attrs = {"changed": changed, "relaxed": relaxed}
            doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, attrs=attrs, spans=chunks)

    def _tags(self, sentences: Sequence[list[Token]]) -> list[Sequence[str]]:
        """One POS tag per token: the doc's; if a sentence lacks one, lcons's own for the whole sentence."""
        tags: list[Sequence[str]] = [[token.tag_ for token in sentence] for sentence in sentences]
        if lacking := [i for i, tagged in enumerate(tags) if not all(tagged)]:
            self._pos = self._pos or _pos.find_pos_tagger()
            words = ([token.text for token in sentences[i]] for i in lacking)
            for i, tagged in zip(lacking, self._pos.tags_many(words), strict=True):
                tags[i] = tagged
        return tags


def _restored(name: str, model: Any, settings: dict[str, Any], handler: Any, content: bytes) -> LconsTagger:
    component = LconsTagger(name, model, **settings).from_bytes(content)
    if handler is not None:
        component.set_error_handler(handler)
    return component
