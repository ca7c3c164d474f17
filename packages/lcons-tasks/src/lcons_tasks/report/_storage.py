"""document.json: writes a document as plain data, and reads it.

    {"format": 3, "title": ..., "sections": [{"title": ..., "blocks": [{"kind": "Table", ...}, ...]}, ...]}

Members are those of the types in `_document.py`. Other programs may have written the file, so pydantic checks
every member against its type, and an error is one sentence.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lcons_core import InvalidInput
from lcons_tasks.atomic import write_text
from lcons_tasks.report._document import Document

DOCUMENT = "document.json"
MAX_BYTES = 2**26


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)


def write_document(folder: Path, document: Document) -> None:
    """Writes document.json into a folder."""
    data = _adapter().dump_python(document, mode="json")
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(folder / DOCUMENT, text.encode("utf-8", "replace").decode("utf-8") + "\n")


def read_document(folder: Path) -> Document:
    """The document in a folder; raises `InvalidInput` if it is missing or malformed."""
    path = folder / DOCUMENT
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"a document has at most {MAX_BYTES:,} bytes: got more in {str(path)!r}.")
        return _adapter().validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror or error}.") from None
    except ValidationError as error:
        raise InvalidInput(f"{str(path)!r} is not a document: {first_error(error)}") from None


def first_error(error: ValidationError) -> str:
    """The first error of a validation in one line, with its place."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where:.80}{': ' * bool(where)}{first['msg']:.200}"
