"""What the spaCy components of lcons share: docs in batches, sentences, and bytes without pickle.

A component writes and reads a folder (`to_disk`, `from_disk`); its bytes are the files of that folder.
"""

# No postponed annotations here: spaCy reads the annotations to check configurations.
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import srsly  # type: ignore[import-untyped]
from spacy.language import Language
from spacy.pipeline import Pipe, Sentencizer
from spacy.tokens import Doc, Token
from spacy.util import minibatch

from lcons_core import DamagedFile
from lcons_tasks.data.text._tokens import BLANK_LINE

_FILE = re.compile(r"(constraints/)?[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


class Component(Pipe):
    """A component that annotates batches of docs by the files that it reads on first use.

    `annotate` annotates docs; `check` reads the files; `to_disk` and `from_disk` write and read a folder.
    """

    annotate: Callable[[Sequence[Doc]], None]
    check: Callable[[], Any]
    to_disk: Callable[..., None]
    from_disk: Callable[..., Self]

    def __init__(self, name: str) -> None:
        self.name = name
        self._sentencizer = Sentencizer()

    def __call__(self, doc: Doc) -> Doc:
        """The annotated doc."""
        self.annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The annotated docs, in batches."""
        batches: Iterator[list[Doc]] = minibatch(stream, batch_size)  # type: ignore[no-untyped-call]
        for batch in batches:
            try:
                self.annotate(batch)
            except Exception as error:  # the error handler of the pipeline decides
                self.get_error_handler()(self.name, self, batch, error)
            else:
                yield from batch

    def initialize(
        self, get_examples: Callable[[], Iterable[Any]], *, nlp: Language | None = None, **settings: Any
    ) -> None:
        """Reads the files, so that a wrong one is an error at once."""
        self.check()

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of `to_disk` by name, as MessagePack."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "component"
            self.to_disk(root)
            files = sorted(root.rglob("*.*"))
            content = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
        return bytes(srsly.msgpack_dumps(content))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Reads the bytes that `to_bytes` returned."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                for name, content in srsly.msgpack_loads(bytes_data).items():
                    if not _FILE.fullmatch(name):
                        raise ValueError(f"the file {name!r:.60} does not belong to it")
                    target = Path(folder) / name
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content)
            except (ValueError, TypeError, AttributeError) as error:
                raise DamagedFile(f"these are not the bytes of {self.name!r}: {error}.") from None
            return self.from_disk(folder)

    def sentences(self, doc: Doc) -> Iterator[list[Token]]:
        """The tokens that are not white space, one list per sentence, none empty: the sentences of the doc,
        or those that `lcons tag` finds in raw text."""
        known = doc.has_annotation("SENT_START")
        starts = [t.is_sent_start for t in doc] if known else self._sentencizer.predict([doc])[0]
        sentence: list[Token] = []
        for token, is_start in zip(doc, starts, strict=True):
            blank = not known and token.is_space and BLANK_LINE.search(token.text)
            if sentence and (is_start or blank):
                yield sentence
                sentence = []
            if not token.is_space:
                sentence.append(token)
        if sentence:
            yield sentence
